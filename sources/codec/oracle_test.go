package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/urlmill/urlmill/pipeline"
)

// oracleOptions has every type, places within places, and the same place twice.
func oracleOptions() NDJSONOptions {
	return NDJSONOptions{URL: "/url", Base: "/a/base", Carry: []CarriedField{
		{Name: "s", Pointer: "/s"},
		{Name: "i", Pointer: "/a/i", Type: pipeline.Int64},
		{Name: "f", Pointer: "/a/0", Type: pipeline.Float64},
		{Name: "b", Pointer: "/a/1/x~1y", Type: pipeline.Bool},
		{Name: "t", Pointer: "/t", Type: pipeline.Timestamp},
		{Name: "ms", Pointer: "/t", Type: pipeline.Timestamp, Time: EpochMillis},
		{Name: "j", Pointer: "/a", Type: pipeline.JSON},
		{Name: "all", Pointer: "", Type: pipeline.JSON},
	}}
}

// FuzzNDJSON compares the codec with encoding/json: which records are JSON, up to which byte those that are
// not could be, and the values that the pointers lead to.
func FuzzNDJSON(f *testing.F) {
	for _, seed := range []string{
		clickRecord,
		`{"url":"http:\/\/a\u002fb","s":"\ud83d\ude00\ud83d\ud83d\ude00\ude00","a":{"base":"x","i":-9223372036854775808,"0":1e3},"t":"2026-02-29T00:00:00Z"}`,
		`{"url":"a","url":"b","a":[1.5,{"x/y":true}],"a":[2],"t":1700000000123.75}`,
		`{"\u0075rl":null,"a":{"i":3.0,"1":{"x\/y":false}},"t":"2024-02-29t23:59:59.9999999-01:30"}`,
		` [ ] `, `{"url":1}`, `"x"`, `tru`, `{"a":[}`, `01`, `{"url":"` + "\xff" + `"}`, `{"s":"` + "\x01" + `"}`, "",
		`{"url":"x"} y`, `{"a":{"i":9223372036854775808}}`, `{"a":{"i":9007199254740993.0}}`, `-`, `1.`, `1e`, `{"url":"\u12g4"}`,
		strings.Repeat("[", 20) + strings.Repeat("]", 20),
	} {
		f.Add([]byte(seed))
	}
	factory, err := NewNDJSON(oracleOptions())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		c, b := factory.New(), &pipeline.Batch{}
		c.Prepare(b)
		if !c.Decode(b, record) {
			t.Fatal("record skipped")
		}
		checkShape(t, b)
		if raw, ok := b.Raw(0); !ok || !bytes.Equal(raw, record) {
			t.Fatalf("record kept as %q", raw)
		}
		if err := json.Unmarshal(record, new(any)); err != nil {
			checkMalformed(t, b, record, err)
			return
		}
		if len(b.Faults) > 0 && b.Faults[0].Code == pipeline.FaultMalformed {
			t.Fatalf("encoding/json reads %q, the codec stops at %d", record, b.Faults[0].Pos)
		}
		if utf8.Valid(record) { // encoding/json has another idea of how many U+FFFD to put
			checkValues(t, b, record)
		}
	})
}

// checkShape checks that every column has one entry and that text is UTF-8.
func checkShape(t *testing.T, b *pipeline.Batch) {
	t.Helper()
	if b.URLs.Len() != 1 || len(b.URLs.Valid) != 1 || b.Bases.Len() != 1 || b.Records.Len() != 1 || len(b.Faults) > 1 {
		t.Fatalf("URLs %d, Bases %d, Records %d, Faults %d", b.URLs.Len(), b.Bases.Len(), b.Records.Len(), len(b.Faults))
	}
	for i := range b.Carried {
		v := &b.Carried[i]
		if n := v.Text.Len() + len(v.Ints) + len(v.Floats) + len(v.Bools); n != 1 || len(v.Valid) != 1 {
			t.Fatalf("field %s: %d values, %d validities", v.Field.Name, n, len(v.Valid))
		}
		if !utf8.Valid(v.Text.Data) {
			t.Fatalf("field %s: %q is not UTF-8", v.Field.Name, v.Text.Data)
		}
	}
}

func checkMalformed(t *testing.T, b *pipeline.Batch, record []byte, err error) {
	t.Helper()
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("encoding/json fails otherwise: %v", err)
	}
	at, end := syntax.Offset-1, int64(len(record))
	if strings.HasPrefix(syntax.Error(), "unexpected end") {
		at = end
	}
	ok := len(b.Faults) > 0 && b.Faults[0].Code == pipeline.FaultMalformed
	// In the middle of a literal or a number encoding/json takes the end for a space in place of the last byte.
	if ok && b.Faults[0].Pos == end && strings.HasPrefix(syntax.Error(), "invalid character ' '") && syntax.Offset == end {
		at = end
	}
	// Of an escape that is none, the encoding/json of Go 1.27 names the end, and that of Go 1.26 the first wrong byte, as we do.
	if escape := int64(len(`\u12g4`)); ok && strings.HasPrefix(syntax.Error(), "invalid escape sequence") && at-escape < b.Faults[0].Pos && b.Faults[0].Pos < at {
		at = b.Faults[0].Pos
	}
	// Of a character of several bytes Go 1.27 names the last, and Go 1.26 the first, as we do.
	if ok && strings.HasPrefix(syntax.Error(), "invalid character") && at < end {
		for at > 0 && !utf8.RuneStart(record[at]) {
			at--
		}
	}
	if !ok || b.Faults[0].Pos != at {
		t.Fatalf("%q: faults %v, encoding/json says %v at %d", record, b.Faults, err, at)
	}
	if b.URLs.Valid[0] || b.Bases.Valid[0] || len(b.Carried) > 0 && b.Carried[0].Valid[0] {
		t.Fatal("a malformed record has values")
	}
}

// checkValues compares the values and the fault with what encoding/json makes of the record.
func checkValues(t *testing.T, b *pipeline.Batch, record []byte) {
	t.Helper()
	var doc any
	d := json.NewDecoder(bytes.NewReader(record))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	fault := pipeline.FaultCode(0)
	note := func(code pipeline.FaultCode) {
		if fault == 0 {
			fault = code
		}
	}
	o := oracleOptions()
	url, _ := lookup(doc, o.URL)
	if s, ok := url.(string); ok {
		equal(t, "url", b.URLs.At(0), s)
	} else if url == nil {
		note(pipeline.FaultFieldMissing)
	} else {
		note(pipeline.FaultFieldType)
	}
	base, _ := lookup(doc, o.Base)
	if s, ok := base.(string); ok {
		equal(t, "base", b.Bases.At(0), s)
	} else if base != nil {
		note(pipeline.FaultFieldType)
	}
	for i, f := range o.Carry {
		want, there := lookup(doc, f.Pointer)
		got := &b.Carried[i]
		if ok := expect(t, f, got, want, there); ok != got.Valid[0] {
			t.Fatalf("field %s: valid %v for %v", f.Name, got.Valid[0], want)
		} else if !ok && want != nil {
			note(pipeline.FaultCarried)
		}
	}
	if fault == 0 != (len(b.Faults) == 0) || fault != 0 && b.Faults[0].Code != fault {
		t.Fatalf("%q: faults %v, want %v", record, b.Faults, fault)
	}
}

// expect compares a field with the value in the document and returns whether it is to be valid.
func expect(t *testing.T, f CarriedField, got *pipeline.Values, want any, there bool) bool {
	t.Helper()
	n, isNumber := want.(json.Number)
	s, isString := want.(string)
	switch {
	case f.Type == pipeline.JSON:
		if there {
			var v any
			d := json.NewDecoder(bytes.NewReader(got.Text.At(0)))
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			a, _ := json.Marshal(v)
			b, _ := json.Marshal(want)
			equal(t, f.Name, a, string(b))
		}
		return there
	case f.Type == pipeline.String && isString:
		equal(t, f.Name, got.Text.At(0), s)
		return true
	case f.Type == pipeline.Int64 && isNumber:
		i, err := strconv.ParseInt(string(n), 10, 64)
		if fl, ferr := n.Float64(); err != nil && strings.ContainsAny(string(n), ".eE") && ferr == nil && fl == math.Trunc(fl) && math.Abs(fl) <= 1<<53 {
			i, err = int64(fl), nil
		}
		if err == nil && got.Ints[0] != i {
			t.Fatalf("field %s: %d, want %d", f.Name, got.Ints[0], i)
		}
		return err == nil
	case f.Type == pipeline.Float64 && isNumber:
		v, err := n.Float64()
		if err == nil && got.Floats[0] != v {
			t.Fatalf("field %s: %v, want %v", f.Name, got.Floats[0], v)
		}
		return err == nil
	case f.Type == pipeline.Bool:
		v, ok := want.(bool)
		if ok && got.Bools[0] != v {
			t.Fatalf("field %s: %v", f.Name, got.Bools[0])
		}
		return ok
	case f.Type == pipeline.Timestamp && f.Time == RFC3339 && isString:
		return expectTime(t, got, s)
	case f.Type == pipeline.Timestamp && f.Time == EpochMillis && isNumber:
		return got.Valid[0] // TestEpoch has the values
	}
	return false
}

// expectTime compares with the time package, which knows neither lower case, nor a space for the T, nor leap
// seconds, and takes a comma and hours of one digit.
func expectTime(t *testing.T, got *pipeline.Values, s string) bool {
	t.Helper()
	if v, err := time.Parse(time.RFC3339, s); err == nil && !strings.Contains(s, ",") && got.Valid[0] {
		if got.Ints[0] != v.UnixMicro() {
			t.Fatalf("%s: %d, want %d", s, got.Ints[0], v.UnixMicro())
		}
	}
	return got.Valid[0]
}

// lookup follows a pointer as RFC 6901 section 4 says.
func lookup(doc any, pointer string) (any, bool) {
	tokens, _ := ParsePointer(pointer)
	for _, token := range tokens {
		switch v := doc.(type) {
		case map[string]any:
			member, ok := v[token]
			if !ok {
				return nil, false
			}
			doc = member
		case []any:
			i := ArrayIndex(token)
			if i < 0 || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

func equal(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	if string(got) != want {
		t.Fatalf("%s: %q, want %q", what, got, want)
	}
}
