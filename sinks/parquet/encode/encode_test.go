package encode_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	pq "github.com/parquet-go/parquet-go"

	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// clicks makes records of 8,192 rows, or fewer.
func clicks(t testing.TB, rows int) []arrow.Record {
	var out []arrow.Record
	for first := 0; first < rows; first += 8192 {
		r := sinktest.RandomClicks(memory.DefaultAllocator, min(8192, rows-first), int64(first), 1)
		t.Cleanup(r.Release)
		out = append(out, r)
	}
	return out
}

func write(t testing.TB, f *parquet.File, recs []arrow.Record) {
	t.Helper()
	for _, r := range recs {
		if err := f.Write(r); err != nil {
			t.Fatal(err)
		}
	}
}

func newFile(t testing.TB, w io.Writer, s *arrow.Schema, o parquet.Options) *parquet.File {
	t.Helper()
	f, err := parquet.NewFile(w, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestAllocations counts allocations of a writer that is warm: what is left comes with row groups, not with rows.
func TestAllocations(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a goroutine more would be an allocation more
	recs := clicks(t, 4*8192)
	for _, codec := range []string{"none", "snappy", "zstd"} {
		f := newFile(t, io.Discard, sinktest.Clicks(), parquet.Options{Compression: codec, RowGroupRows: 4 * 8192})
		pass := func() { write(t, f, recs) }
		pass()
		rows, most := float64(4*8192), 0.005
		if raceEnabled {
			most = 0.05
		}
		// A garbage collection empties the pools, so that a few buffers are made anew now and then.
		if n := testing.AllocsPerRun(10, pass); n/rows > most {
			t.Errorf("%s: %.0f allocations for a row group of %.0f rows", codec, n, rows)
		}
	}
}

// TestWriteWithinPages: rows that only go into open pages allocate nothing at all.
func TestWriteWithinPages(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := clicks(t, 16)[0]
	f := newFile(t, io.Discard, sinktest.Clicks(), parquet.Options{})
	for range 100 {
		write(t, f, []arrow.Record{r})
	}
	n := testing.AllocsPerRun(100, func() {
		if err := f.Write(r); err != nil {
			t.Error(err)
		}
	})
	if n >= 1 {
		t.Errorf("%.0f allocations to add 16 rows", n)
	}
}

// TestPruning looks for values that are there by everything that lets a reader skip: bounds of row groups, page index and
// bloom filters never exclude them, and exclude most of what is not there.
func TestPruning(t *testing.T) {
	recs := clicks(t, 20_000)
	var buf bytes.Buffer
	f := newFile(t, &buf, sinktest.Clicks(), parquet.Options{
		RowGroupRows: 6000, PageRows: 500, BloomFilters: []string{"host", "url", "offset"},
	})
	write(t, f, recs)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := pq.OpenFile(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	skipped, row := 0, 0
	rows := sinktest.Rows(recs[0])
	for _, r := range recs[1:] {
		rows = append(rows, sinktest.Rows(r)...)
	}
	for _, g := range file.RowGroups() {
		for _, name := range []string{"host", "url", "offset"} {
			leaf, _ := file.Schema().Lookup(name)
			skipped += checkChunk(t, g.ColumnChunks()[leaf.ColumnIndex], name, rows[row:row+int(g.NumRows())])
		}
		row += int(g.NumRows())
		if s := g.SortingColumns(); len(s) != 1 || fmt.Sprint(s[0].Path()) != "[offset]" || s[0].Descending() {
			t.Errorf("sorted by %v", s)
		}
	}
	if row != 20_000 {
		t.Errorf("%d rows", row)
	}
	if skipped < 4*3*90 {
		t.Errorf("of 12 times 100 values that are not there bloom filters exclude only %d", skipped)
	}
}

// checkChunk returns how many of 100 values that are not there the bloom filter excludes.
func checkChunk(t *testing.T, chunk pq.ColumnChunk, name string, rows []sinktest.Row) (skipped int) {
	t.Helper()
	index, err := chunk.ColumnIndex()
	if err != nil {
		t.Fatal(err)
	}
	offsets, err := chunk.OffsetIndex()
	if err != nil {
		t.Fatal(err)
	}
	typ, bloom := chunk.Type(), chunk.BloomFilter()
	if index.NumPages() < len(rows)/500 || bloom == nil {
		t.Fatalf("%s: %d pages, bloom filter %v", name, index.NumPages(), bloom)
	}
	page := 0
	for i, row := range rows {
		for page+1 < offsets.NumPages() && offsets.FirstRowIndex(page+1) <= int64(i) {
			page++
		}
		v := pq.ValueOf(row[name])
		if typ.Compare(v, index.MinValue(page)) < 0 || typ.Compare(v, index.MaxValue(page)) > 0 {
			t.Fatalf("%s: %v of row %d is not within %v and %v of page %d", name, v, i, index.MinValue(page), index.MaxValue(page), page)
		}
		if ok, err := bloom.Check(v); err != nil || !ok {
			t.Fatalf("%s: the bloom filter does not have %v: %v", name, v, err)
		}
	}
	for i := range 100 {
		v := pq.ValueOf(fmt.Sprintf("not there %d", i))
		if name == "offset" {
			v = pq.ValueOf(int64(1e12) + int64(i))
		}
		ok, err := bloom.Check(v)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			skipped++
		}
	}
	return skipped
}
