package delimited

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// decode renders the rows of lines: URL, base, carried fields, fault.
func decode(t testing.TB, o Options, lines ...string) []string {
	t.Helper()
	f, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c := f.New()
	var b pipeline.Batch
	var rows []string
	for _, line := range lines {
		b.Reset()
		c.Prepare(&b)
		if !c.Decode(&b, []byte(line)) {
			continue
		}
		row := "null"
		if b.URLs.Valid[0] {
			row = string(b.URLs.At(0))
		}
		if f.HasBase() {
			row += fmt.Sprintf(" base=%s,%v", b.Bases.At(0), b.Bases.Valid[0])
		}
		for _, v := range b.Carried {
			if !v.Valid[0] {
				row += " -"
				continue
			}
			switch v.Field.Type {
			case pipeline.String:
				row += fmt.Sprintf(" %q", v.Text.At(0))
			case pipeline.Float64:
				row += fmt.Sprint(" ", v.Floats[0])
			case pipeline.Bool:
				row += fmt.Sprint(" ", v.Bools[0])
			default:
				row += fmt.Sprint(" ", v.Ints[0])
			}
		}
		for _, fault := range b.Faults {
			row += fmt.Sprint(" ", fault.Code, " ", fault.Pos)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestCSV(t *testing.T) {
	o := Options{URL: "u", Base: "b", Carry: []codec.CarriedColumn{
		{Name: "text", Column: "s"},
		{Name: "n", Column: "n", Type: pipeline.Int64},
		{Name: "f", Column: "f", Type: pipeline.Float64},
		{Name: "ok", Column: "ok", Type: pipeline.Bool},
		{Name: "at", Column: "at", Type: pipeline.Timestamp, Time: codec.EpochSeconds},
		{Name: "gone", Column: "gone"},
	}}
	got := decode(t, o,
		"\ufeff\"u\",s,n,f,ok,at,b\r",
		`http://a/,x,1,0.5,true,1.5,http://b/`,
		`"http://a/?q=1,2","say ""hi""",-7,-0.5,0,0,`+"\r",
		`http://a/`,
		``,
		`"",""`,
		`http://a/,x,one,1,1,1,y,beyond`,
		`http://a/,x,1,1,maybe`,
		`"http://a/`,
		`"http://a/"x,y`,
		"http://a/,\xff",
	)
	want := []string{
		`http://a/ base=http://b/,true "x" 1 0.5 true 1500000 -`,
		`http://a/?q=1,2 base=,false "say \"hi\"" -7 -0.5 false 0 -`,
		`http://a/ base=,false - - - - - -`,
		`null base=,false - - - - - - record-field-missing -1`,
		` base=,false "" - - - - -`,
		`http://a/ base=y,true "x" - 1 true 1000000 - field-type 12`,
		`http://a/ base=,false "x" 1 1 - - - field-type 16`,
		`null base=,false - - - - - - record-malformed 0`,
		`null base=,false - - - - - - record-malformed 11`,
		`http://a/ base=,false "` + "\ufffd" + `" - - - - -`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTSV(t *testing.T) {
	got := decode(t, Options{Separator: '\t', Columns: []string{"a", "url"}, URL: "url", Carry: []codec.CarriedColumn{{Name: "t", Column: "a", Type: pipeline.Timestamp}}},
		"2026-01-01T00:00:00Z\thttp://a/,b", "x\thttp://b/")
	want := []string{"http://a/,b 1767225600000000", "http://b/ - field-type 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := decode(t, Options{URL: "u"}, "a,b", "1,2"); got[0] != "null record-field-missing -1" {
		t.Errorf("a header without the URL: %v", got)
	}
	if got := decode(t, Options{URL: "u"}, `"u`, "1,2"); got[0] != "null record-field-missing -1" {
		t.Errorf("a broken header: %v", got)
	}
}

// TestObserve: a reading that begins in the middle has seen the header.
func TestObserve(t *testing.T) {
	f, err := New(Options{URL: "u"})
	if err != nil {
		t.Fatal(err)
	}
	c := f.New()
	c.(codec.Observer).Observe([]byte("x,u"))
	c.(codec.Observer).Observe([]byte("u,x"))
	var b pipeline.Batch
	c.Prepare(&b)
	if !c.Decode(&b, []byte("1,http://a/")) || string(b.URLs.At(0)) != "http://a/" {
		t.Errorf("%s", b.URLs.Data)
	}
	c.DecodeNull(&b)
	if len(b.Faults) != 1 || b.URLs.Len() != 2 {
		t.Errorf("%+v", b)
	}
}

func TestOptionErrors(t *testing.T) {
	for want, o := range map[string]Options{
		"url: empty":                     {},
		"separator: '\"'":                {URL: "u", Separator: '"'},
		"columns[1]: \"u\" is the name":  {URL: "u", Columns: []string{"u", "u"}},
		"url: there is no column \"v\"":  {URL: "v", Columns: []string{"u"}},
		"base: there is no column \"v\"": {URL: "u", Base: "v", Columns: []string{"u"}},
		"carry[0].name: empty":           {URL: "u", Carry: []codec.CarriedColumn{{Column: "x"}}},
		"carry[0].time: for timestamps":  {URL: "u", Carry: []codec.CarriedColumn{{Name: "x", Time: codec.EpochMillis}}},
		"carry[1].name: \"x\" is":        {URL: "u", Carry: []codec.CarriedColumn{{Name: "x", Column: "a"}, {Name: "x", Column: "b"}}},
		"carry[0].type: json is none of [string int64 float64 bool timestamp]": {URL: "u", Carry: []codec.CarriedColumn{{Name: "x", Column: "a", Type: pipeline.JSON}}},
		"carry[0].column: there is no column \"x\"":                            {URL: "u", Columns: []string{"u"}, Carry: []codec.CarriedColumn{{Name: "x"}}},
		"carry[0].column: there is no":                                         {URL: "u", Columns: []string{"u"}, Carry: []codec.CarriedColumn{{Name: "x", Column: "a"}}},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
}

// TestAgainstEncodingCSV compares with the standard library what its writer makes of any values without line breaks.
func TestAgainstEncodingCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.StringMatching(`[a," \té]{0,6}`), 2, 5).Draw(t, "values")
		var line strings.Builder
		w := csv.NewWriter(&line)
		if err := w.Write(values); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		c := lines{keep: maxColumns}
		c.factory = &factory{Options: Options{Separator: ','}}
		if at, ok := c.split([]byte(strings.TrimSuffix(line.String(), "\n"))); !ok || len(c.values) != len(values) {
			t.Fatalf("%q: %d values, stopped at %d", line.String(), len(c.values), at)
		}
		for i, v := range c.values {
			if got := string(c.plain(v)); got != values[i] {
				t.Fatalf("%q: value %d is %q, want %q", line.String(), i, got, values[i])
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add("u,s\nhttp://a/,\"x\"\"y\"")
	f.Fuzz(func(t *testing.T, text string) {
		factory, err := New(Options{URL: "u", Base: "s", Carry: []codec.CarriedColumn{{Name: "n", Column: "n", Type: pipeline.Int64}, {Name: "s", Column: "s"}}})
		if err != nil {
			t.Fatal(err)
		}
		c := factory.New()
		var b pipeline.Batch
		c.Prepare(&b)
		rows := 0
		for line := range strings.SplitSeq(text, "\n") {
			if c.Decode(&b, []byte(line)) {
				rows++
			}
		}
		if b.URLs.Len() != rows || b.Bases.Len() != rows || len(b.Carried[0].Ints) != rows || b.Carried[1].Text.Len() != rows {
			t.Fatalf("%d rows, %+v", rows, b)
		}
	})
}

func TestAllocatesNothing(t *testing.T) {
	f, err := New(Options{Columns: []string{"u", "s"}, URL: "u", Carry: []codec.CarriedColumn{{Name: "s", Column: "s"}}})
	if err != nil {
		t.Fatal(err)
	}
	c := f.New()
	var b pipeline.Batch
	line := []byte(`http://a/,"x ""y"" z"`)
	decode := func() {
		b.Reset()
		c.Prepare(&b)
		c.Decode(&b, line)
	}
	decode()
	if n := testing.AllocsPerRun(100, decode); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCSV(b *testing.B) {
	f, err := New(Options{Columns: []string{"t", "u", "n"}, URL: "u", Carry: []codec.CarriedColumn{{Name: "n", Column: "n", Type: pipeline.Int64}}})
	if err != nil {
		b.Fatal(err)
	}
	c := f.New()
	var batch pipeline.Batch
	line := []byte(`2026-01-01T00:00:00Z,"https://www.example.com/products?id=1,2",17`)
	b.SetBytes(int64(len(line)))
	for n := 0; b.Loop(); n++ {
		if n%1024 == 0 {
			batch.Reset()
			c.Prepare(&batch)
		}
		c.Decode(&batch, line)
	}
}

// TestCheckHeader checks what is said of columns that a header lacks.
func TestCheckHeader(t *testing.T) {
	f, err := New(Options{URL: "url", Base: "page", Carry: []codec.CarriedColumn{{Name: "a", Column: "id"}, {Name: "b", Column: "id"}, {Name: "c", Column: "page"}}})
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]string{
		"id,url,page,more":  "<nil>",
		"url,page,ID,\"x\"": `there is no column "id", and what would be in it is null; there are "url", "page", "ID", "x"`,
		"id\turl\tpage":     `there is no column "url", "page", "id", and what would be in it is null; there are "id\turl\tpage"`,
		`id,"url`:           "its quotes do not fit at byte 3, so that no column is known and every row has an error",
		"id" + strings.Repeat(",n", 60) + ",url": `there is no column "page", and what would be in it is null; there are "id"` +
			strings.Repeat(`, "n"`, 49) + ", ...",
	} {
		for _, observed := range []bool{false, true} {
			c := f.New()
			headed, ok := c.(codec.Headed)
			if !ok {
				t.Fatal("the codec does not check its header")
			}
			if err := headed.CheckHeader(); err != nil {
				t.Errorf("before the header: %v", err)
			}
			if observed {
				c.(codec.Observer).Observe([]byte(header)) //nolint:forcetypeassert // a test
			} else {
				var b pipeline.Batch
				c.Prepare(&b)
				c.Decode(&b, []byte(header))
			}
			if got := fmt.Sprint(headed.CheckHeader()); got != want {
				t.Errorf("%s: got %s, want %s", header, got, want)
			}
		}
	}
}
