package processor_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/processor"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/urlcore/canon"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// sample returns URLs of all sorts, and whether they are not null.
func sample(n int) (urls []string, valid []bool) {
	kinds := []string{
		"https://www.example.co.uk/a/../b?utm_source=x&q=a+b&q=%%C3%%BC&n=%d#top", "http://1.2.3.300/%d", "no url %d", "",
		"https://user:pw@bücher.example:8443/%d", "mailto:a@b.c?n=%d", "null", "http://[::1]:80/%d", "//relative/%d", "https://x.github.io\xff/%d",
		"HTTPS://EXAMPLE.COM:443/%d", "https://a.b.example.org/p.html?x=%d",
	}
	for i := range n {
		kind := kinds[i%len(kinds)]
		valid = append(valid, kind != "null")
		if strings.Contains(kind, "%d") {
			kind = fmt.Sprintf(kind, i)
		}
		urls = append(urls, kind)
	}
	return urls, valid
}

// build returns an array of type t.
func build(t testing.TB, mem memory.Allocator, typ arrow.DataType, urls []string, valid []bool) arrow.Array {
	t.Helper()
	b := array.NewBuilder(mem, typ)
	defer b.Release()
	for i, url := range urls {
		if !valid[i] {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.BinaryDictionaryBuilder:
			if err := b.AppendString(url); err != nil {
				t.Fatal(err)
			}
		case interface{ AppendString(string) }:
			b.AppendString(url)
		case interface{ Append(string) }:
			b.Append(url)
		default:
			t.Fatalf("%T", b)
		}
	}
	return b.NewArray()
}

// expected returns what the engine of the command makes of the URLs.
func expected(t testing.TB, opts urlcols.Options, urls []string, valid []bool, base string) arrow.Record {
	t.Helper()
	plan, err := urlcols.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	var b pipeline.Batch
	for i, url := range urls {
		b.Offsets = append(b.Offsets, int64(i))
		if valid[i] {
			b.URLs.Append([]byte(url))
		} else {
			b.URLs.AppendNull()
			b.Faults = append(b.Faults, pipeline.Fault{Row: int32(i), Code: pipeline.FaultFieldMissing, Pos: -1})
		}
		if opts.HasBase {
			b.Bases.Append([]byte(base))
		}
	}
	out, err := plan.NewTransform().Apply(&b)
	if err != nil {
		t.Fatal(err)
	}
	return out.Records[pipeline.Rows]
}

func mustNew(t testing.TB, opts processor.Options) *processor.Processor {
	t.Helper()
	p, err := processor.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// same compares every value of two records.
func same(t testing.TB, got, want arrow.Record) {
	t.Helper()
	if !got.Schema().Equal(want.Schema()) {
		t.Fatalf("schema\n%v\nwant\n%v", got.Schema(), want.Schema())
	}
	for i, c := range got.Columns() {
		if !array.Equal(c, want.Column(i)) {
			t.Errorf("column %s:\n%v\nwant\n%v", got.ColumnName(i), c, want.Column(i))
		}
	}
}

var layouts = []arrow.DataType{
	arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeBinary,
	arrow.BinaryTypes.StringView, arrow.BinaryTypes.BinaryView,
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.BinaryTypes.Binary},
}

// Every layout of text, whole and sliced, gives what the command's own engine gives, and returns all memory.
func TestEveryLayoutGivesWhatTheCommandGives(t *testing.T) {
	urls, valid := sample(1000)
	for _, typ := range layouts {
		t.Run(typ.String(), func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			p := mustNew(t, processor.Options{})
			all := build(t, mem, typ, urls, valid)
			defer all.Release()
			for _, span := range [][2]int{{0, 1000}, {0, 0}, {13, 700}, {6, 7}, {999, 1000}} {
				part := array.NewSlice(all, int64(span[0]), int64(span[1]))
				got, err := p.Parse(part, nil)
				part.Release()
				if err != nil {
					t.Fatal(err)
				}
				same(t, got, expected(t, urlcols.Options{}, urls[span[0]:span[1]], valid[span[0]:span[1]], ""))
				got.Release()
			}
		})
	}
}

// scribbler writes over memory that was given back, as an allocator does that uses it again.
type scribbler struct{ memory.Allocator }

func (s scribbler) Free(b []byte) {
	for i := range b {
		b[i] = '!'
	}
	s.Allocator.Free(b)
}

// The columns of what was given stay as they are when the input has been released: url and base_url are its memory.
func TestInputsMayBeReleasedAtOnce(t *testing.T) {
	mem := scribbler{memory.NewGoAllocator()}
	for _, typ := range layouts {
		p := mustNew(t, processor.Options{Base: "base", Include: []string{"url", "base_url", "href"}})
		urls := build(t, mem, typ, []string{"b?long=enough-for-a-view", "http://x.example/"}, []bool{true, true})
		bases := build(t, mem, typ, []string{"http://a.example/long/", "http://b.example/"}, []bool{true, true})
		got, err := p.Parse(urls, bases)
		if err != nil {
			t.Fatal(err)
		}
		urls.Release()
		bases.Release()
		for i, want := range []string{
			`["b?long=enough-for-a-view" "http://x.example/"]`, `["http://a.example/long/" "http://b.example/"]`,
			`["http://a.example/long/b?long=enough-for-a-view" "http://x.example/"]`,
		} {
			if c := got.Column(i); c.String() != want {
				t.Errorf("%s, %s: %s, want %s", typ, got.ColumnName(i), c, want)
			}
		}
		got.Release()
	}
}

func TestNullsMayHaveBytes(t *testing.T) {
	data := []byte("http://a.example/hiddenhttp://b.example/")
	offsets := arrow.Int32Traits.CastToBytes([]int32{0, 17, 23, 40})
	urls := array.MakeFromData(array.NewData(arrow.BinaryTypes.String, 3,
		[]*memory.Buffer{memory.NewBufferBytes([]byte{0b101}), memory.NewBufferBytes(offsets), memory.NewBufferBytes(data)}, nil, 1, 0))
	got, err := mustNew(t, processor.Options{}).Parse(urls, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	same(t, got, expected(t, urlcols.Options{}, []string{"http://a.example/", "", "http://b.example/"}, []bool{true, false, true}, ""))
}

func TestNothingButNulls(t *testing.T) {
	got, err := mustNew(t, processor.Options{Include: []string{"href", "url_error"}}).Parse(array.NewNull(2), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	if c := got.Column(1).(*array.String); got.Column(0).NullN() != 2 || c.Value(1) != "record-field-missing" {
		t.Errorf("%v", got)
	}
}

func TestOptionsReachTheEngine(t *testing.T) {
	urls, valid := sample(200)
	promote := []urlcols.Promoted{{Params: []string{"q"}, Name: "q", Take: urlcols.Every}}
	canonical := &canon.Options{Form: canon.Dedupe}
	for _, test := range []struct {
		opts processor.Options
		want urlcols.Options
	}{
		{processor.Options{Include: []string{"path", "host"}}, urlcols.Options{Include: []string{"path", "host"}}},
		{processor.Options{Exclude: []string{"params"}, Rename: map[string]string{"host": "h"}}, urlcols.Options{Exclude: []string{"params"}, Rename: map[string]string{"host": "h"}}},
		{processor.Options{Profile: "commoncrawl"}, urlcols.Options{Profile: "commoncrawl"}},
		{processor.Options{Canonical: canonical, Tracking: true}, urlcols.Options{Canonical: canonical, Tracking: true}},
		{processor.Options{Promote: promote, ParamsAsMap: true}, urlcols.Options{Promote: promote, ParamsAsMap: true}},
		{processor.Options{BaseURL: "https://base.example/x/"}, urlcols.Options{HasBase: true}},
	} {
		a := build(t, memory.DefaultAllocator, arrow.BinaryTypes.String, urls, valid)
		got, err := mustNew(t, test.opts).Parse(a, nil)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, expected(t, test.want, urls, valid, test.opts.BaseURL))
		got.Release()
	}
}

// A list of one's own decides about every column that is told by suffixes.
func TestPSL(t *testing.T) {
	list, err := psl.Parse(strings.NewReader("// ===BEGIN ICANN DOMAINS===\ncom\nexample.com\n// ===END ICANN DOMAINS===\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := mustNew(t, processor.Options{
		PSL: list, Include: []string{"public_suffix", "registrable_domain", "subdomain", "registry_suffix", "registry_domain"},
	})
	url := build(t, memory.DefaultAllocator, arrow.BinaryTypes.String, []string{"http://a.b.example.com/"}, []bool{true})
	got, err := p.Parse(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	for i, want := range []string{"example.com", "b.example.com", "a", "example.com", "b.example.com"} {
		if value := got.Column(i).(*array.String).Value(0); value != want {
			t.Errorf("%s: %s, want %s", got.ColumnName(i), value, want)
		}
	}
}

func record(t testing.TB, mem memory.Allocator, fields []arrow.Field, json string) arrow.Record {
	t.Helper()
	r, _, err := array.RecordFromJSON(mem, arrow.NewSchema(fields, nil), strings.NewReader(json))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var fields = []arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "page", Type: arrow.BinaryTypes.LargeString, Nullable: true},
	{Name: "link", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
}

const rows = `[{"id":1,"page":"https://a.example/x/","link":"../y?q=1","tags":["s","t"]},
	{"id":2,"page":null,"link":"z","tags":null},
	{"id":3,"page":"","link":null,"tags":[]}]`

// Columns are carried along as they are, whatever their type, and outlive the input.
func TestCarriesAlong(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	in := record(t, mem, fields, rows)
	p := mustNew(t, processor.Options{URL: "link", Base: "page", BaseURL: "https://base.example/", Include: []string{"url", "base_url", "href", "url_error"}})
	schema, err := p.Schema(in.Schema())
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Process(in)
	in.Release()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Release()
	if !out.Schema().Equal(schema) {
		t.Errorf("%v, announced %v", out.Schema(), schema)
	}
	want := record(t, memory.DefaultAllocator, schema.Fields(), `[
		{"url":"../y?q=1","base_url":"https://a.example/x/","href":"https://a.example/y?q=1","url_error":null,"id":1,"tags":["s","t"]},
		{"url":"z","base_url":"https://base.example/","href":"https://base.example/z","url_error":null,"id":2,"tags":null},
		{"url":null,"base_url":"https://base.example/","href":null,"url_error":"record-field-missing","id":3,"tags":[]}]`)
	same(t, out, want)

	none, err := mustNew(t, processor.Options{URL: "link", Carry: []string{}, Include: []string{"path"}}).Schema(schemaOfFields())
	if err != nil || none.NumFields() != 1 {
		t.Errorf("%v, %v", none, err)
	}
	some, err := mustNew(t, processor.Options{URL: "link", Carry: []string{"tags", "id", "link"}, Include: []string{"path"}}).Schema(schemaOfFields())
	if err != nil || fmt.Sprint(some.Field(1).Name, some.Field(2).Name, some.Field(3).Name) != "tagsidlink" {
		t.Errorf("%v, %v", some, err)
	}
}

func schemaOfFields() *arrow.Schema { return arrow.NewSchema(fields, nil) }

func TestErrorsSayWhatIsWrong(t *testing.T) {
	for _, test := range []struct {
		opts processor.Options
		in   []arrow.Field
		want string
	}{
		{processor.Options{}, fields, "which column has the URLs? It has id, page, link, tags"},
		{processor.Options{URL: "nope"}, fields, `there is no column "nope"; it has id, page, link, tags`},
		{processor.Options{URL: "id"}, fields, `column "id" is of type int64; URLs are utf8`},
		{processor.Options{URL: "link", Base: "tags"}, fields, `column "tags" is of type list`},
		{processor.Options{URL: "link", Carry: []string{"x"}}, fields, `there is no column "x"`},
		{processor.Options{URL: "link"}, append(slices.Clone(fields), arrow.Field{Name: "host", Type: arrow.BinaryTypes.String}), `column "host" is one of the URL's as well`},
		{processor.Options{URL: "id"}, append(slices.Clone(fields), fields[0]), `there are 2 columns "id"`},
		{processor.Options{}, nil, "It has no column"},
	} {
		_, err := mustNew(t, test.opts).Schema(arrow.NewSchema(test.in, nil))
		if !errors.Is(err, processor.ErrSchema) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	for want, opts := range map[string]processor.Options{
		`base URL "shop.example" is none (missing-scheme-non-relative-URL)`: {BaseURL: "shop.example"},
		`carry: column "id": is named twice`:                                {Carry: []string{"id", "page", "id"}},
		`promote: column "x": Take is none of First, Last and Every`:        {Promote: []processor.Promoted{{Params: []string{"a"}, Name: "x", Take: 7}}},
	} {
		if _, err := processor.New(opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	promoted := processor.Options{Promote: []processor.Promoted{{Params: []string{"utm_source", "source"}}}}
	if got := processor.Columns(promoted); !slices.Contains(got, "utm_source") {
		t.Errorf("a column without a name: %v", got)
	}
	var option *processor.OptionError
	if _, err := processor.New(processor.Options{Include: []string{"hots"}}); !errors.As(err, &option) || option.Column != "hots" {
		t.Errorf("%v", err)
	}
	if _, err := mustNew(t, processor.Options{}).Parse(array.NewNull(1), array.NewNull(1)); !errors.Is(err, processor.ErrSchema) {
		t.Errorf("bases without the option: %v", err)
	}
	if _, err := mustNew(t, processor.Options{Base: "b"}).Parse(array.NewNull(2), array.NewNull(1)); !errors.Is(err, processor.ErrSchema) {
		t.Errorf("too few bases: %v", err)
	}
	if got := processor.Columns(processor.Options{Base: "b"}); !slices.Contains(got, "base_url") {
		t.Errorf("%v", got)
	}
}

// A record keeps its values while others are made, and so does a slice of one of its columns alone.
func TestRecordsAreTheCallers(t *testing.T) {
	p := mustNew(t, processor.Options{})
	urls, valid := sample(300)
	a := build(t, memory.DefaultAllocator, arrow.BinaryTypes.String, urls, valid)
	first, err := p.Parse(a, nil)
	if err != nil {
		t.Fatal(err)
	}
	params := array.NewSlice(first.Column(slices.IndexFunc(first.Schema().Fields(), func(f arrow.Field) bool { return f.Name == "params" })), 100, 200)
	want := params.String()
	first.Release()
	for i := range 5 {
		other := build(t, memory.DefaultAllocator, arrow.BinaryTypes.String, slices.Repeat([]string{fmt.Sprintf("http://other.example/?a=%d", i)}, 300), valid)
		r, err := p.Parse(other, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Release()
	}
	if params.String() != want {
		t.Error("the values changed under a reference")
	}
	params.Release()
}

func TestConcurrentUse(t *testing.T) {
	p := mustNew(t, processor.Options{})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			urls, valid := sample(100 + 37*g)
			a := build(t, memory.DefaultAllocator, layouts[g%len(layouts)], urls, valid)
			want := expected(t, urlcols.Options{}, urls, valid, "")
			for range 20 {
				got, err := p.Parse(a, nil)
				if err != nil {
					t.Error(err)
					return
				}
				same(t, got, want)
				got.Release()
			}
		})
	}
	wg.Wait()
}

// What is allocated for a record does not depend on how many rows it has.
func TestAllocatesNothingForRows(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	perRun := func(rows int) (allocs float64, bytes uint64) {
		p := mustNew(t, processor.Options{})
		urls := make([]string, rows)
		for i := range urls {
			urls[i] = fmt.Sprintf("https://www.example%d.com/some/path/%d?x=1&y=%d#f", i%100, i, i)
		}
		a := build(t, memory.DefaultAllocator, arrow.BinaryTypes.String, urls, slices.Repeat([]bool{true}, rows))
		run := func() {
			r, err := p.Parse(a, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Release()
		}
		run()
		allocs = testing.AllocsPerRun(10, run)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			run()
		}
		runtime.ReadMemStats(&after)
		return allocs, (after.TotalAlloc - before.TotalAlloc) / 10
	}
	fewAllocs, fewBytes := perRun(100)
	manyAllocs, manyBytes := perRun(50_000)
	t.Logf("%.0f allocations, %d bytes for 100 rows; %.0f, %d for 50,000", fewAllocs, fewBytes, manyAllocs, manyBytes)
	if manyAllocs > fewAllocs+5 || manyBytes > fewBytes+16<<10 {
		t.Error("rows cost allocations")
	}
}

// Workspaces beyond one a CPU are not kept.
func TestKeepsFewWorkspaces(t *testing.T) {
	p := mustNew(t, processor.Options{Include: []string{"href"}})
	a := build(t, memory.DefaultAllocator, arrow.BinaryTypes.String, []string{"http://a/"}, []bool{true})
	var records []arrow.Record
	for range 3 * runtime.GOMAXPROCS(0) {
		r, err := p.Parse(a, nil)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	for _, r := range records {
		r.Release()
	}
	if got := processor.Kept(p); got != runtime.GOMAXPROCS(0) {
		t.Errorf("%d workspaces are kept", got)
	}
}

func BenchmarkParse(b *testing.B) {
	urls := make([]string, 65_536)
	for i := range urls {
		urls[i] = fmt.Sprintf("https://www.example%d.com/some/path/%d?x=1&y=%d#f", i%1000, i, i)
	}
	p := mustNew(b, processor.Options{})
	a := build(b, memory.DefaultAllocator, arrow.BinaryTypes.String, urls, slices.Repeat([]bool{true}, len(urls)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := p.Parse(a, nil)
		if err != nil {
			b.Fatal(err)
		}
		r.Release()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(urls)), "ns/row")
}
