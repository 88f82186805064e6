package compact

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/parquet/encode"
	"github.com/urlmill/urlmill/sinks/sinktest"
	"github.com/urlmill/urlmill/sinks/store"
)

// table is an output of Parquet files in a directory.
type table struct {
	t    *testing.T
	dir  string
	next map[pipeline.LaneID]int64

	first   string // a file that was there, and its content
	content []byte
}

func newTable(t *testing.T) *table {
	return &table{t: t, dir: filepath.Join(t.TempDir(), "out"), next: map[pipeline.LaneID]int64{}}
}

// write has a sink commit so many times, 100 random rows each time.
func (o *table) write(id pipeline.LaneID, s *arrow.Schema, n int, opts parquet.Options) {
	o.t.Helper()
	opts.Path = o.dir
	sink, err := parquet.New(opts, quiet)
	must(o.t, err)
	must(o.t, sink.Start(o.t.Context(), pipeline.Schemas{s}))
	w, _, err := sink.Open(o.t.Context(), id)
	must(o.t, err)
	for range n {
		first := o.next[id]
		r := sinktest.Random(memory.DefaultAllocator, s, 100, first, uint64(id.Partition), sinktest.Shape{Nulls: 0.1})
		must(o.t, w.Write(o.t.Context(), pipeline.Rows, r, pipeline.Span{First: first, Next: first + 100}))
		r.Release()
		_, err := w.Commit(o.t.Context())
		must(o.t, err)
		o.next[id] += 100
	}
	must(o.t, sink.Close())
}

func (o *table) files() []string {
	o.t.Helper()
	files, err := filepath.Glob(filepath.Join(o.dir, "*.parquet"))
	must(o.t, err)
	return files
}

func (o *table) open(name string, f func(*parquet.Reader)) {
	o.t.Helper()
	file, err := os.Open(name)
	must(o.t, err)
	defer file.Close()
	info, err := file.Stat()
	must(o.t, err)
	r, err := parquet.NewReader(file, info.Size())
	must(o.t, err)
	defer r.Close()
	f(r)
}

// rows returns the rows of all files, as text, as the files follow each other.
func (o *table) rows() []string {
	o.t.Helper()
	var rows []string
	for _, name := range o.files() {
		o.open(name, func(r *parquet.Reader) {
			must(o.t, r.Each(o.t.Context(), func(rec arrow.Record) error {
				for _, row := range sinktest.Rows(rec) {
					rows = append(rows, fmt.Sprint(row))
				}
				return nil
			}))
		})
	}
	return rows
}

func (o *table) compact() *Report {
	o.t.Helper()
	r, err := Run(o.t.Context(), Options{
		Root: store.NewLocal(o.dir, store.System, quiet), Open: store.Open, Format: Parquet{}, TargetBytes: 64 << 20, MinAge: -1, MinFiles: 2, Log: quiet,
	})
	must(o.t, err)
	if v := o.verify(); !v.OK {
		o.t.Fatalf("%+v", v.Problems)
	}
	return r
}

func (o *table) verify() *verify.Report {
	o.t.Helper()
	v, err := verify.Run(o.t.Context(), verify.Options{
		Root: store.NewLocal(o.dir, store.System, quiet), Open: store.Open, Log: quiet, Counters: map[string]verify.RowCounter{"parquet": parquet.CountRows},
	})
	must(o.t, err)
	return v
}

// All values of all types of several lanes are in the merged file, in their order, with what was said of them.
func TestParquet(t *testing.T) {
	o := newTable(t)
	opts := parquet.Options{Compression: "snappy", Version: "1.0", Files: parquet.Files{Provenance: commit.Provenance{Config: "sha256:1", PSL: "2026-01-01", Unicode: "15.0.0"}}}
	o.write(lanes[0], sinktest.AllTypes(), 5, opts)
	o.write(lanes[1], sinktest.AllTypes(), 5, opts)
	opts.Provenance.PSL, opts.Provenance.Unicode = "2026-02-02", "17.0.0"
	o.write(lanes[1], sinktest.AllTypes(), 5, opts)
	want := o.rows()
	var schema *arrow.Schema
	o.open(o.files()[0], func(r *parquet.Reader) { schema = r.Schema() })
	if r := o.compact(); r.Files != 1 || r.Merged != 15 || r.Rows != 1500 {
		t.Errorf("%+v", r)
	}
	if got := o.rows(); !slices.Equal(got, want) {
		t.Errorf("%d rows, which are not those that there were: %d", len(got), len(want))
	}
	o.open(o.files()[0], func(r *parquet.Reader) {
		if !r.Schema().Equal(schema) || r.Compression() != "snappy" {
			t.Errorf("%v\n%v\n%s", r.Schema(), schema, r.Compression())
		}
		for _, kv := range []encode.KeyValue{
			{Key: "urlmill.config", Value: "sha256:1"},
			{Key: "urlmill.psl", Value: "2026-01-01, 2026-02-02"},
			{Key: "urlmill.unicode", Value: "15.0.0, 17.0.0"},
			{Key: "urlmill.table", Value: "rows"},
			{Key: "urlmill.merged", Value: "15"},
			{Key: "urlmill.positions", Value: `[{"lane":"clicks/0","stream":"clicks","partition":0,"first":0,"next":500},{"lane":"clicks/3","stream":"clicks","partition":3,"first":0,"next":1000}]`},
		} {
			if !slices.Contains(r.Metadata(), kv) {
				t.Errorf("%v is missing in %v", kv, r.Metadata())
			}
		}
	})
}

// Files of other columns, of another order or compression are left to themselves.
func TestParquetOfSeveralKinds(t *testing.T) {
	o := newTable(t)
	all := sinktest.AllTypes()
	fewer := arrow.NewSchema(all.Fields()[:5], nil)
	o.write(lanes[0], all, 3, parquet.Options{})
	o.write(lanes[0], fewer, 4, parquet.Options{})
	o.write(lanes[0], fewer, 1, parquet.Options{Compression: "gzip"})
	o.write(lanes[0], fewer, 2, parquet.Options{SortBy: []string{"text", "id"}})
	want := o.rows()
	if r := o.compact(); r.Files != 3 || r.Merged != 9 {
		t.Errorf("%+v", r)
	}
	if n := len(o.files()); n != 4 {
		t.Errorf("%d files", n)
	}
	got := o.rows()
	if !slices.Equal(got[:800], want[:800]) {
		t.Error("the rows are not those that there were")
	}
	// Sorted rows are sorted anew.
	slices.Sort(want[800:])
	if sorted := slices.Sorted(slices.Values(got[800:])); !slices.Equal(sorted, want[800:]) {
		t.Error("the sorted rows are not those that there were")
	}
	last := ""
	o.open(o.files()[3], func(r *parquet.Reader) {
		must(t, r.Each(t.Context(), func(rec arrow.Record) error {
			for _, row := range sinktest.Rows(rec) {
				text, ok := row["text"].(string)
				if !ok {
					text = strings.Repeat("\xff", 9) // nulls come last
				}
				if text < last {
					t.Fatalf("%q comes after %q", text, last)
				}
				last = text
			}
			return nil
		}))
		if !slices.Contains(r.Metadata(), encode.KeyValue{Key: parquet.KeySortBy, Value: `["text","id"]`}) {
			t.Errorf("%v", r.Metadata())
		}
	})
	// There is no end of it: what is left cannot be merged.
	if r := o.compact(); r.Files != 0 {
		t.Errorf("%+v", r)
	}
}
