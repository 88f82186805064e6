package codec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
)

func mustNDJSON(tb testing.TB, o NDJSONOptions) Factory {
	tb.Helper()
	f, err := NewNDJSON(o)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// decode runs one record through a fresh instance.
func decode(tb testing.TB, f Factory, record string) *pipeline.Batch {
	tb.Helper()
	c, b := f.New(), &pipeline.Batch{}
	c.Prepare(b)
	if !c.Decode(b, []byte(record)) {
		tb.Fatalf("%q is no row", record)
	}
	return b
}

// row renders row i: URL, base and fields, - for null, then the fault.
func row(b *pipeline.Batch, i int) string {
	var s strings.Builder
	bytes := func(c *pipeline.NullBytes) {
		if c.Valid[i] {
			fmt.Fprintf(&s, "%q ", c.At(i))
		} else {
			s.WriteString("- ")
		}
	}
	bytes(&b.URLs)
	if b.Bases.Len() > 0 {
		bytes(&b.Bases)
	}
	for k := range b.Carried {
		v := &b.Carried[k]
		switch {
		case !v.Valid[i]:
			s.WriteString("- ")
		case v.Field.Type == pipeline.String || v.Field.Type == pipeline.JSON:
			fmt.Fprintf(&s, "%q ", v.Text.At(i))
		case v.Field.Type == pipeline.Float64:
			fmt.Fprintf(&s, "%v ", v.Floats[i])
		case v.Field.Type == pipeline.Bool:
			fmt.Fprintf(&s, "%v ", v.Bools[i])
		default:
			fmt.Fprintf(&s, "%d ", v.Ints[i])
		}
	}
	for _, f := range b.Faults {
		if int(f.Row) == i {
			fmt.Fprintf(&s, "%s@%d", f.Code, f.Pos)
		}
	}
	return strings.TrimSpace(s.String())
}

func TestNDJSONURL(t *testing.T) {
	f := mustNDJSON(t, NDJSONOptions{URL: "/u/0", Base: "/base"})
	for _, test := range []struct{ record, want string }{
		{`{"u":["http://a/"]}`, `"http://a/" -`},
		{` {"base" : "http://b/" , "u" : [ "c" , 1 , {} ] } ` + "\r", `"c" "http://b/"`},
		{`{"u":{"0":"member named by digits"}}`, `"member named by digits" -`},
		{`{"u":["http:\/\/a\u002f\u00e9\n\b\f\r\t\"\\"]}`, `"http://a/é\n\b\f\r\t\"\\" -`},
		{`{"u":["\ud83d\ude00 \ud83d \ude00 \ud83dx \ud83d\u0041 \ud83d\ud83d\ude00"]}`, `"😀 � � �x �A �😀" -`},
		{`{"u":["\u0000"]}`, `"\x00" -`},
		{"{\"u\":[\"a\xff\xc3\"]}", `"a\xff\xc3" -`},
		{`{"u":[""]}`, `"" -`},
		{`{"u":["first"],"u":["second"]}`, `"second" -`},
		{`{"u":["first"],"u":[]}`, `- - record-field-missing@-1`},
		{`{"u":["first"],"u":7}`, `- - record-field-missing@-1`},
		{`{"\u0075":["escaped key"]}`, `"escaped key" -`},
		{`{}`, `- - record-field-missing@-1`},
		{`[]`, `- - record-field-missing@-1`},
		{`7`, `- - record-field-missing@-1`},
		{`{"U":["case counts"]}`, `- - record-field-missing@-1`},
		{`{"u":[null],"base":"b"}`, `- "b" record-field-missing@6`},
		{`{"u":[17]}`, `- - record-field-type@6`},
		{`{"u":[{"x":"y"}],"base":"b"}`, `- "b" record-field-type@6`},
		{`{"u":["a"],"base":[]}`, `"a" - record-field-type@18`},
		{`{"u":["a"],"base":null}`, `"a" -`},
		{``, `- - record-malformed@0`},
		{"  \t", `- - record-malformed@3`},
		{`{"u":["a"]`, `- - record-malformed@10`},
		{`{"u":["a"]}}`, `- - record-malformed@11`},
		{`{"u":["a"],}`, `- - record-malformed@11`},
		{`{u:["a"]}`, `- - record-malformed@1`},
		{`{"u" ["a"]}`, `- - record-malformed@5`},
		{`{"u":["a" "b"]}`, `- - record-malformed@10`},
		{`{"u":["a` + "\n" + `"]}`, `- - record-malformed@8`},
		{`{"u":["\x"]}`, `- - record-malformed@8`},
		{`{"u":["\u00g0"]}`, `- - record-malformed@11`},
		{`{"u":["\`, `- - record-malformed@8`},
		{`{"u":["\u00`, `- - record-malformed@11`},
		{`http://not.json/`, `- - record-malformed@0`},
		{"\ufeff{}", `- - record-malformed@0`},
		{strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), `- - record-field-missing@-1`},
		{strings.Repeat("[", maxDepth+1), `- - record-malformed@10000`},
	} {
		b := decode(t, f, test.record)
		if got := row(b, 0); got != test.want {
			t.Errorf("%.60q: %s, want %s", test.record, got, test.want)
		}
		if raw, ok := b.Raw(0); !ok || string(raw) != test.record {
			t.Errorf("%.60q: kept as %.60q", test.record, raw)
		}
	}
}

func TestNDJSONFields(t *testing.T) {
	for _, test := range []struct {
		typ         pipeline.FieldType
		value, want string
	}{
		{pipeline.String, `"a\u00e9"`, `"aé"`},
		{pipeline.String, "\"\xf0\x9fA\"", `"�A"`},
		{pipeline.String, "\"\\n\xf0\x80\"", `"\n��"`},
		{pipeline.String, `""`, `""`},
		{pipeline.String, `1`, `- field-type@16`},
		{pipeline.String, `null`, `-`},
		{pipeline.Int64, `-0`, `0`},
		{pipeline.Int64, `9223372036854775807`, `9223372036854775807`},
		{pipeline.Int64, `-9223372036854775808`, `-9223372036854775808`},
		{pipeline.Int64, `9223372036854775808`, `- field-type@16`},
		{pipeline.Int64, `-9223372036854775809`, `- field-type@16`},
		{pipeline.Int64, `99999999999999999999999`, `- field-type@16`},
		{pipeline.Int64, `3.0`, `3`},
		{pipeline.Int64, `-1.5e3`, `-1500`},
		{pipeline.Int64, `100000000000000000000000e-20`, `1000`},
		{pipeline.Int64, `3.5`, `- field-type@16`},
		{pipeline.Int64, `1e300`, `- field-type@16`},
		{pipeline.Int64, `1e999`, `- field-type@16`},
		{pipeline.Int64, `"3"`, `- field-type@16`},
		{pipeline.Int64, `null`, `-`},
		{pipeline.Float64, `1e3`, `1000`},
		{pipeline.Float64, `7`, `7`},
		{pipeline.Float64, `1e999`, `- field-type@16`},
		{pipeline.Float64, `true`, `- field-type@16`},
		{pipeline.Bool, `true`, `true`},
		{pipeline.Bool, `false`, `false`},
		{pipeline.Bool, `0`, `- field-type@16`},
		{pipeline.JSON, `{"k": [1,"x"]}`, `"{\"k\": [1,\"x\"]}"`},
		{pipeline.JSON, `"x\u0041"`, `"\"x\\u0041\""`},
		{pipeline.JSON, `null`, `"null"`},
		{pipeline.JSON, "\"\xff\"", `"\"�\""`},
		{pipeline.Timestamp, `"1970-01-01T00:00:00.000001Z"`, `1`},
		{pipeline.Timestamp, `"1970-01-01T00:00:01\u005a"`, `1000000`},
		{pipeline.Timestamp, `1700000000`, `- field-type@16`},
		{pipeline.Timestamp, `"yesterday"`, `- field-type@16`},
		{pipeline.Timestamp, `null`, `-`},
	} {
		f := mustNDJSON(t, NDJSONOptions{URL: "/url", Carry: []CarriedField{{Name: "f", Pointer: "/field", Type: test.typ}}})
		b := decode(t, f, `{"url":1,"field":`+test.value+`}`)
		// The wrong type of the URL is the first fault; without it the field's shows.
		if got := row(b, 0); !strings.HasSuffix(got, "record-field-type@7") {
			t.Errorf("%s: %s does not put the URL's fault first", test.value, got)
		}
		b = decode(t, f, `{"url":"","field":`+test.value+`}`)
		want := strings.Replace(test.want, "@16", "@18", 1)
		if got := strings.TrimPrefix(row(b, 0), `"" `); got != want {
			t.Errorf("%d %s: %s, want %s", test.typ, test.value, got, want)
		}
		if got := row(decode(t, f, `{"url":""}`), 0); got != `"" -` {
			t.Errorf("missing field: %s", got)
		}
	}
}

func TestNDJSONWholeRecord(t *testing.T) {
	f := mustNDJSON(t, NDJSONOptions{URL: "/url", Carry: []CarriedField{{Name: "record", Type: pipeline.JSON}}})
	if got := row(decode(t, f, ` {"url":"u"} `), 0); got != `"u" "{\"url\":\"u\"}"` {
		t.Error(got)
	}
}

func TestNDJSONTombstone(t *testing.T) {
	c, b := mustNDJSON(t, clickOptions()).New(), &pipeline.Batch{}
	c.Prepare(b)
	c.Decode(b, []byte(clickRecord))
	c.DecodeNull(b)
	c.Decode(b, []byte(clickRecord))
	if got := row(b, 1); got != "- - - - - - - - - record-null@-1" {
		t.Error(got)
	}
	if b.Records.Valid[1] || b.Records.Len() != 3 {
		t.Error("the tombstone's record is not null")
	}
	if row(b, 0) != row(b, 2) || !strings.Contains(row(b, 0), "1782909000250000 184467440737") {
		t.Error(row(b, 0))
	}
}

func TestNDJSONSkipEmpty(t *testing.T) {
	c, b := mustNDJSON(t, NDJSONOptions{URL: "/url", SkipEmpty: true}).New(), &pipeline.Batch{}
	c.Prepare(b)
	for _, record := range []string{"", " \t\r"} {
		if c.Decode(b, []byte(record)) {
			t.Errorf("%q is a row", record)
		}
	}
	if !c.Decode(b, []byte("{}")) || b.URLs.Len() != 1 || b.Records.Len() != 1 {
		t.Error("a record was not a row")
	}
}

func TestNDJSONValidate(t *testing.T) {
	err := NDJSONOptions{Base: "b", Carry: []CarriedField{
		{Name: "x", Pointer: "/a~2"},
		{Name: "x", Pointer: "/ok~"},
		{Pointer: "\xff"},
		{Name: "y", Type: 99, Time: 77},
		{Name: "z", Time: EpochMillis},
	}}.Validate()
	if err == nil {
		t.Fatal("no problem found")
	}
	problems := strings.Split(err.Error(), "\n")
	for i, want := range []string{
		"url: ", "base: ", "carry[1].name: ", "carry[2].name: ", "carry[3].type: ", "carry[3].time: ", "carry[4].time: ",
		"carry[0].pointer: ", "carry[1].pointer: ", "carry[2].pointer: ",
	} {
		if i >= len(problems) || !strings.HasPrefix(problems[i], want) {
			t.Fatalf("problem %d is not about %s: %v", i, want, problems)
		}
	}
	if _, err := NewNDJSON(NDJSONOptions{URL: "url"}); err == nil || !strings.Contains(err.Error(), "/url") {
		t.Errorf("no hint at the slash: %v", err)
	}
	if err := clickOptions().Validate(); err != nil {
		t.Error(err)
	}
}

func TestNDJSONFactory(t *testing.T) {
	f := mustNDJSON(t, clickOptions())
	if !f.HasBase() || !f.KeepsRecords() || len(f.Fields()) != 7 || f.Fields()[1] != (pipeline.Field{Name: "user_id", Type: pipeline.Int64}) {
		t.Errorf("%v %v %v", f.HasBase(), f.KeepsRecords(), f.Fields())
	}
	if mustNDJSON(t, NDJSONOptions{URL: "/url"}).HasBase() {
		t.Error("a base out of nothing")
	}
}

// TestNDJSONGiant sends a record with a megabyte of URL and one of escapes through, and sees to it that no
// memory of that size stays behind in the codec.
func TestNDJSONGiant(t *testing.T) {
	f := mustNDJSON(t, NDJSONOptions{URL: "/url", Carry: []CarriedField{{Name: "f", Pointer: "/f"}}})
	c, b := f.New().(*ndjson), &pipeline.Batch{}
	c.Prepare(b)
	url := "http://a/" + strings.Repeat("x", 1<<20)
	c.Decode(b, []byte(`{"`+strings.Repeat(`\u0041`, 1<<17)+`":0,"f":"`+strings.Repeat(`\n`, 1<<20)+`","url":"`+url+`"}`))
	if string(b.URLs.At(0)) != url || b.Carried[0].Text.Len() != 1 || len(b.Carried[0].Text.At(0)) != 1<<20 {
		t.Error("the giant record did not come through")
	}
	if c.data != nil || cap(c.scratch) > 1<<17 || cap(c.key) > 1<<17 {
		t.Error("the giant record is still there")
	}
}

func TestDecodeCut(t *testing.T) {
	nd := mustNDJSON(t, NDJSONOptions{URL: "/url", SkipEmpty: true})
	for _, test := range []struct {
		f            Factory
		record, want string
	}{
		{NewLines(LinesOptions{}), "http://a/b", `"http://a/b" record-too-large@10`},
		{NewLines(LinesOptions{Trim: true, SkipEmpty: true}), "   ", `- record-too-large@3`},
		{nd, `{"url":"a`, `- record-too-large@9`},
		{nd, ` `, `- record-too-large@1`},
		{nd, `{"url":"a"}`, `"a" record-too-large@11`},
	} {
		c, b := test.f.New(), &pipeline.Batch{}
		c.Prepare(b)
		c.DecodeNull(b)
		DecodeCut(c, b, []byte(test.record))
		if got := row(b, 1); got != test.want || len(b.Faults) != 2 {
			t.Errorf("%q: %s, want %s", test.record, got, test.want)
		}
	}
}

func TestAllocations(t *testing.T) {
	records := []string{
		clickRecord,
		`{"ts":"2026-07-01T12:30:00+02:00","user_id":1e3,"agent":{"v":1234567890.123456789012345678901234,"mobile":true}}`,
		`{"url":"\ud83d\ude00","s\u0065ssion":"\u00e9","referer":null`,
		`{"url":"\ud83d\ude00","s\u0065ssion":"\u00e9` + "\xff" + `","referer":null}`,
	}
	for name, f := range map[string]Factory{"ndjson": mustNDJSON(t, clickOptions()), "lines": NewLines(LinesOptions{Trim: true})} {
		c, b := f.New(), &pipeline.Batch{}
		raw := make([][]byte, len(records))
		for i, r := range records {
			raw[i] = []byte(r)
		}
		run := func() {
			b.Reset()
			c.Prepare(b)
			for _, r := range raw {
				c.Decode(b, r)
			}
			c.DecodeNull(b)
		}
		run()
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
