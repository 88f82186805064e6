package parquet

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

// TestPagesBeginWithRows looks into every page: it begins with the start of a row, and its header counts the
// rows that are in it. (The levels of a V2 page come first, uncompressed.)
func TestPagesBeginWithRows(t *testing.T) {
	schema := sinktest.AllTypes()
	r := sinktest.Random(memory.DefaultAllocator, schema, 1000, 0, 1, sinktest.Shape{Nulls: 0.2, Empty: 0.2, HugeList: 1600})
	defer r.Release()
	for _, pageBytes := range []int64{1, 500, 5000, 2 << 20} {
		o := Options{PageVersion: 2, PageBytes: pageBytes, RowGroupRows: 400, Compression: "none"}
		f := openFile(t, encodeFile(t, o, schema, r))
		pages := 0
		for g := range f.NumRowGroups() {
			for c := range f.MetaData().Schema.NumColumns() {
				pages += checkPages(t, f, g, c)
			}
		}
		if pageBytes == 1 && pages < 1000*10 {
			t.Errorf("only %d pages", pages)
		}
	}
}

// checkPages returns the number of pages of a chunk.
func checkPages(t *testing.T, f *file.Reader, g, c int) (pages int) {
	t.Helper()
	reader, err := f.RowGroup(g).GetColumnPageReader(c)
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	nested := f.MetaData().Schema.Column(c).MaxRepetitionLevel() > 0
	for reader.Next() {
		page, ok := reader.Page().(*file.DataPageV2)
		if !ok {
			continue // the dictionary
		}
		pages++
		rows += int64(page.NumRows())
		if nested && firstLevel(page.Data()) != 0 {
			t.Errorf("column %s: a page begins in the middle of a row", f.MetaData().Schema.Column(c).Path())
		}
	}
	if reader.Err() != nil || rows != f.RowGroup(g).NumRows() {
		t.Errorf("column %d: %d rows in its pages, %v", c, rows, reader.Err())
	}
	return pages
}

// firstLevel returns the first value of levels in the RLE/bit-packing hybrid with up to 8 bits a value.
func firstLevel(levels []byte) byte {
	header, n := binary.Uvarint(levels)
	if header&1 == 0 {
		return levels[n]
	}
	return levels[n] & 1
}

// TestDictionaries checks which columns get a dictionary and that none falls back on the way.
func TestDictionaries(t *testing.T) {
	r := sinktest.RandomClicks(memory.DefaultAllocator, 20_000, 0, 1)
	defer r.Release()
	want := map[string]bool{
		"scheme": true, "host": true, "topic": true, "registrable_domain": true,
		"params.list.element.key": true, "href": false, "query": false, "offset": false, "timestamp": false,
		"partition": false, // differences, which are all zero
	}
	checkDictionaries(t, openFile(t, encodeFile(t, Options{}, sinktest.Clicks(), r)), want)
}

func checkDictionaries(t *testing.T, f *file.Reader, want map[string]bool) {
	t.Helper()
	for i := range f.MetaData().Schema.NumColumns() {
		chunk, err := f.MetaData().RowGroup(0).ColumnChunk(i)
		if err != nil {
			t.Fatal(err)
		}
		name := f.MetaData().Schema.Column(i).Path()
		if w, ok := want[name]; ok && chunk.HasDictionaryPage() != w {
			t.Errorf("%s: dictionary %t", name, chunk.HasDictionaryPage())
		}
		for _, s := range chunk.EncodingStats() {
			if chunk.HasDictionaryPage() && s.PageType != 2 && s.Encoding.String() != "RLE_DICTIONARY" {
				t.Errorf("%s: a page is encoded as %s", name, s.Encoding)
			}
		}
	}
}

// TestFronts checks that texts that begin alike are written as DELTA_BYTE_ARRAY, and others not, with pages of nulls between.
func TestFronts(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "bytes", Type: arrow.BinaryTypes.Binary},
	}, nil)
	for front, want := range map[string]string{"": "DELTA_LENGTH_BYTE_ARRAY", "user-": "DELTA_BYTE_ARRAY"} {
		var recs []arrow.Record
		var rows []sinktest.Row
		for i, shape := range []sinktest.Shape{{Front: front}, {Front: front, Nulls: 1}, {Front: front, Nulls: 0.5, MaxText: 3}} {
			shape.MaxText = max(shape.MaxText, 10)
			r := sinktest.Random(memory.DefaultAllocator, schema, 100, int64(100*i), 1, shape)
			recs, rows = append(recs, r), append(rows, sinktest.Rows(r)...)
		}
		data := encodeFile(t, Options{PageRows: 50}, schema, recs...)
		compare(t, rows, decode(t, data))
		for i := range 2 {
			chunk, err := openFile(t, data).MetaData().RowGroup(0).ColumnChunk(i)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, s := range chunk.EncodingStats() {
				found = found || s.Encoding.String() == want
			}
			if !found {
				t.Errorf("%q: column %d is encoded as %v, want %s", front, i, chunk.EncodingStats(), want)
			}
		}
	}
}

// TestStatistics compares the statistics in the footer with the values, over records whose memory is
// overwritten as soon as they were written: no bound may point into it.
func TestStatistics(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "bytes", Type: arrow.BinaryTypes.Binary, Nullable: true},
		{Name: "repeated_text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "u32", Type: arrow.PrimitiveTypes.Uint32, Nullable: true},
		{Name: "i16", Type: arrow.PrimitiveTypes.Int16, Nullable: true},
		{Name: "list", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	}, nil)
	o := Options{RowGroupRows: 300, PageBytes: 1000}.withDefaults()
	checkAllStatistics(t, &format{opts: &o}, schema)
}

func checkAllStatistics(t *testing.T, f *format, schema *arrow.Schema) {
	t.Helper()
	var out bytes.Buffer
	e, err := f.NewEncoder(&out, schema)
	if err != nil {
		t.Fatal(err)
	}
	var rows []sinktest.Row
	for i := range 9 {
		r := sinktest.Random(memory.NewGoAllocator(), schema, 100, int64(i*100), 1, sinktest.Shape{Nulls: 0.2, Empty: 0.1})
		rows = append(rows, sinktest.Rows(r)...)
		if err := e.Write(r); err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Columns() {
			if b := c.Data().Buffers(); len(b) == 3 && b[2] != nil {
				copy(b[2].Bytes(), bytes.Repeat([]byte{0xff}, b[2].Len()))
			}
		}
		r.Release()
	}
	if err := e.Finish(provenance); err != nil {
		t.Fatal(err)
	}
	m := openFile(t, out.Bytes()).MetaData()
	for g := range m.RowGroups {
		for c, f := range schema.Fields() {
			chunk, err := m.RowGroup(g).ColumnChunk(c)
			if err != nil {
				t.Fatal(err)
			}
			stats, err := chunk.Statistics()
			if err != nil {
				t.Fatal(err)
			}
			var values []any
			for _, row := range rows[g*300 : (g+1)*300] {
				values = append(values, row[f.Name])
			}
			checkStatistics(t, f.Name, stats, values)
			if m.RowGroups[g].Columns[c].MetaData.Statistics.DistinctCount != nil {
				t.Errorf("%s: claims a number of distinct values", f.Name)
			}
		}
	}
}

func checkStatistics(t *testing.T, name string, stats metadata.TypedStatistics, values []any) {
	t.Helper()
	nulls, lo, hi := bounds(values)
	if stats.NullCount() != nulls {
		t.Errorf("%s: %d nulls, want %d", name, stats.NullCount(), nulls)
	}
	var gotLo, gotHi any
	switch s := stats.(type) {
	case *metadata.ByteArrayStatistics:
		gotLo, gotHi = string(s.Min()), string(s.Max())
	case *metadata.Int64Statistics:
		gotLo, gotHi = s.Min(), s.Max()
	case *metadata.Int32Statistics:
		if name == "u32" {
			gotLo, gotHi = int64(uint32(s.Min())), int64(uint32(s.Max()))
		} else {
			gotLo, gotHi = int64(s.Min()), int64(s.Max())
		}
	}
	if gotLo != lo || gotHi != hi {
		t.Errorf("%s: %q to %q, want %q to %q", name, gotLo, gotHi, lo, hi)
	}
}

// bounds returns the number of nulls and the least and greatest value of the entries of a column.
func bounds(values []any) (nulls int64, lo, hi any) {
	less := func(a, b any) bool {
		if s, ok := a.(string); ok {
			return s < b.(string)
		}
		return a.(int64) < b.(int64)
	}
	var add func(v any)
	add = func(v any) {
		switch x := v.(type) {
		case nil:
			nulls++
			return
		case []any:
			if len(x) == 0 {
				nulls++ // an empty list is an entry without a value
			}
			for _, e := range x {
				add(e)
			}
			return
		case []byte:
			v = string(x)
		case uint64:
			v = int64(x)
		}
		if lo == nil || less(v, lo) {
			lo = v
		}
		if hi == nil || less(hi, v) {
			hi = v
		}
	}
	for _, v := range values {
		add(v)
	}
	return nulls, lo, hi
}

func TestMetadata(t *testing.T) {
	md := arrow.NewMetadata([]string{"urlmill.psl"}, []string{"2026-07-01"})
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, &md)
	r := sinktest.Random(memory.DefaultAllocator, schema, 10, 0, 1, sinktest.Shape{})
	defer r.Release()
	checkMetadata(t, openFile(t, encodeFile(t, Options{
		Version: "1.2.3",
		Files:   Files{Provenance: commit.Provenance{Config: "abc", PSL: "not this", Standard: "July 2026", Unicode: "17.0.0"}},
	}, schema, r)).MetaData())
}

func checkMetadata(t *testing.T, m *metadata.FileMetaData) {
	t.Helper()
	for key, want := range map[string]string{
		"urlmill.version": "1.2.3", "urlmill.table": "rows", "urlmill.stream": "clicks",
		"urlmill.partition": "3", "urlmill.first": "10", "urlmill.next": "99", "urlmill.psl": "2026-07-01",
		"urlmill.config": "abc", "urlmill.standard": "July 2026", "urlmill.unicode": "17.0.0",
	} {
		if got := m.KeyValueMetadata().FindValue(key); got == nil || *got != want {
			t.Errorf("%s: got %v, want %s", key, got, want)
		}
	}
	if got := m.GetCreatedBy(); got != "urlmill version 1.2.3" {
		t.Errorf("created by %q", got)
	}
	if m.WriterVersion().App != "urlmill" {
		t.Errorf("readers take the writer for %q", m.WriterVersion().App)
	}
}
