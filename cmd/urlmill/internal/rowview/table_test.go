package rowview

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/pipeline"
)

var testSchema = arrow.NewSchema([]arrow.Field{
	{Name: "host", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "port", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "nothing", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url_error", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "url_error_pos", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "url", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

// testRecord makes a record of JSON rows.
func testRecord(t *testing.T, rows string) arrow.Record {
	t.Helper()
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, testSchema, strings.NewReader("["+rows+"]"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// render shows records, one commit after each.
func render(t *testing.T, o Options, records ...arrow.Record) string {
	t.Helper()
	var out bytes.Buffer
	s := New(&out, o)
	ctx := context.Background()
	if err := s.Start(ctx, pipeline.Schemas{testSchema}); err != nil {
		t.Fatal(err)
	}
	w, next, err := s.Open(ctx, pipeline.LaneID{Stream: "x"})
	if err != nil || next != pipeline.Unknown {
		t.Fatal(next, err)
	}
	position := int64(0)
	for _, r := range records {
		span := pipeline.Span{First: position, Next: position + r.NumRows()}
		if err := w.Write(ctx, pipeline.Rows, r, span); err != nil {
			t.Fatal(err)
		}
		if got := w.Size().Rows; got != r.NumRows() {
			t.Errorf("Size %d", got)
		}
		position = span.Next
		if next, err := w.Commit(ctx); err != nil || next != position {
			t.Fatal(next, err)
		}
	}
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const rows = `{"host":"example.com","port":8080,"url":"u"},
	{"host":"a.example","port":null,"url":"u"},
	{"url_error":"host-missing","url_error_pos":8,"url":"https://"},
	{"url_error":"record-null"}`

func TestSink(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
		records []string
		want    string
	}{
		{"plain", Options{}, []string{rows}, `
HOST         PORT  NOTHING  URL_ERROR     URL_ERROR_POS  URL
example.com  8080                                        u
a.example                                                u
                            host-missing              8  https://
                            record-null
`},
		{"merged", Options{MergeErrors: true, HideEmpty: true}, []string{rows}, `
HOST         PORT  ERROR
example.com  8080
a.example
                   host-missing at 8 in "https://"
                   record-null
`},
		{"later rows", Options{MergeErrors: true, HideEmpty: true}, []string{`{"host":"a"}`, `{"host":"example.com","nothing":"n"}`}, `
HOST
a
example.com
`},
		{"narrow", Options{Width: 30, MergeErrors: true, HideEmpty: true}, []string{rows}, `
HOST         PORT  ERROR
example.com  8080
a.example
                   host-missi…
                   record-null
`},
		{"later rows are cut", Options{Width: 30, HideEmpty: true}, []string{`{"host":"a"}`, `{"host":"example.com"}`}, `
HOST
a
exa…
`},
		{"no rows", Options{HideEmpty: true}, nil, `
HOST  PORT  NOTHING  URL_ERROR  URL_ERROR_POS  URL
`},
		{"first an empty batch", Options{HideEmpty: true}, []string{``, `{"host":"a"}`}, `
HOST
a
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var records []arrow.Record
			for _, r := range test.records {
				records = append(records, testRecord(t, r))
			}
			if got := "\n" + render(t, test.options, records...); got != test.want {
				t.Errorf("got%swant%s", got, test.want)
			}
		})
	}
}

// TestManyRows checks that rows do not wait for a commit for ever.
func TestManyRows(t *testing.T) {
	var out bytes.Buffer
	s := New(&out, Options{HideEmpty: true})
	if err := s.Start(t.Context(), pipeline.Schemas{testSchema}); err != nil {
		t.Fatal(err)
	}
	w, _, err := s.Open(t.Context(), pipeline.LaneID{})
	if err != nil {
		t.Fatal(err)
	}
	r := testRecord(t, strings.Repeat(`{"host":"a"},`, sampleRows)+`{"host":"b"}`)
	if err := w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != sampleRows+2 {
		t.Errorf("%d lines", n)
	}
}

type failing struct{}

var errFull = errors.New("full")

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestErrors(t *testing.T) {
	s := New(failing{}, Options{})
	if err := s.Start(t.Context(), pipeline.Schemas{testSchema, testSchema}); err == nil {
		t.Error("dead letters were accepted")
	}
	s = New(failing{}, Options{})
	if err := s.Start(t.Context(), pipeline.Schemas{testSchema}); err != nil {
		t.Fatal(err)
	}
	w, _, _ := s.Open(t.Context(), pipeline.LaneID{})
	if err := w.Write(t.Context(), pipeline.Rows, testRecord(t, `{"host":"a"}`), pipeline.Span{}); err != nil {
		t.Error(err)
	}
	if _, err := w.Commit(t.Context()); !errors.Is(err, errFull) {
		t.Errorf("Commit: %v", err)
	}
}

// TestCells checks how every type is shown.
func TestCells(t *testing.T) {
	pair := arrow.StructOf(arrow.Field{Name: "key", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.String, Nullable: true})
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: arrow.BinaryTypes.String},
		{Name: "b", Type: arrow.BinaryTypes.Binary},
		{Name: "i", Type: arrow.PrimitiveTypes.Int64},
		{Name: "f", Type: arrow.PrimitiveTypes.Float64},
		{Name: "t", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
		{Name: "o", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "p", Type: arrow.ListOfNonNullable(pair)},
		{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)},
		{Name: "u", Type: arrow.PrimitiveTypes.Uint8},
	}, nil)
	row := `[{"s":"a\u001b","b":"/wo=","i":-5,"f":1.5,"t":"2026-07-01 10:00:00.5","o":true,
		"p":[{"key":"a","value":"1"},{"key":"b","value":null}],"l":[1,2],"u":7}]`
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(row))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`a\x1b`, `\xff\x0a`, "-5", "1.5", "2026-07-01T10:00:00.5Z", "true", "a=1, b=", "[1,2]", "7"}
	for i, w := range want {
		if got := CellOf(r.Column(i), 0).Text; got != w {
			t.Errorf("%s: %q, want %q", schema.Field(i).Name, got, w)
		}
	}
}

// TestLayout checks that a line is never wider than the terminal, as long as it can be.
func TestLayout(t *testing.T) {
	header := []string{"A", "LONGER", "C"}
	sample := [][]Cell{{{Text: strings.Repeat("x", 300)}, {Text: "1"}, {Text: "漢字漢字漢字漢字"}}}
	for width := 26; width < 200; width++ {
		l := NewLayout(header, sample, width)
		var b bytes.Buffer
		if err := l.WriteRow(&b, sample[0], true); err != nil {
			t.Fatal(err)
		}
		if got := plain.Width(strings.TrimSuffix(b.String(), "\n")); got > width {
			t.Errorf("width %d: line of %d", width, got)
		}
	}
}
