package arrowipc

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/filesink"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func newSink(t *testing.T, o Options, schemas pipeline.Schemas) pipeline.Sink {
	t.Helper()
	s, err := New(o, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context(), schemas); err != nil {
		t.Fatal(err)
	}
	return s
}

func openLane(t *testing.T, s pipeline.Sink, partition int32) pipeline.Writer {
	t.Helper()
	w, next, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks", Partition: partition})
	if err != nil || next != pipeline.Unknown {
		t.Fatal(next, err)
	}
	return w
}

func compare(t *testing.T, want, got []sinktest.Row) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		t.Errorf("want -, got +\n%.2000s", cmp.Diff(want, got))
	}
}

// TestFiles writes slices of random records of every type and reads them back.
func TestFiles(t *testing.T) {
	for _, compression := range []string{"", "lz4", "zstd"} {
		t.Run(compression, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer mem.AssertSize(t, 0)
			dir := filepath.Join(t.TempDir(), "out")
			schema := sinktest.AllTypes()
			s := newSink(t, Options{Path: dir, Compression: compression, Version: "1.2", mem: mem}, pipeline.Schemas{schema})
			w := openLane(t, s, 0)
			var want []sinktest.Row
			for i := range int64(6) {
				r := sinktest.Random(mem, schema, 50, i*50, 1, sinktest.Shape{Nulls: 0.2, Empty: 0.2, HugeText: 100_000, HugeList: 2000})
				slice := r.NewSlice(i, 50-i)
				want = append(want, sinktest.Rows(slice)...)
				if err := w.Write(t.Context(), pipeline.Rows, slice, pipeline.Span{First: i, Next: i + 1}); err != nil {
					t.Fatal(err)
				}
				slice.Release()
				r.Release()
			}
			if size := w.Size(); size.Rows != int64(len(want)) || size.Bytes < 1000 {
				t.Errorf("size %+v", size)
			}
			if next, err := w.Commit(t.Context()); next != 6 || err != nil {
				t.Fatal(next, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			names, _ := filepath.Glob(filepath.Join(dir, "clicks-0-00000000000000000000-*.arrow"))
			if len(names) != 1 {
				t.Fatalf("files %v", names)
			}
			f, err := os.Open(names[0])
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			r, err := ipc.NewFileReader(f, ipc.WithAllocator(mem))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = r.Close() }()
			if got := r.Schema().Metadata(); got.FindKey("urlmill.version") < 0 {
				t.Errorf("metadata %v", got)
			}
			var got []sinktest.Row
			for i := range r.NumRecords() {
				rec, err := r.Record(i)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, sinktest.Rows(rec)...)
			}
			compare(t, want, got)
		})
	}
}

// TestStream has several lanes write to one stream.
func TestStream(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	schema := sinktest.AllTypes()
	var out bytes.Buffer
	s := newSink(t, Options{Stdout: &out, mem: mem}, pipeline.Schemas{schema})
	var wg sync.WaitGroup
	for lane := range int32(4) {
		wg.Go(func() {
			w := openLane(t, s, lane)
			for i := range int64(5) {
				r := sinktest.Random(mem, schema, 20, int64(lane)*100+i*20, 1, sinktest.Shape{Nulls: 0.2})
				if err := w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{First: i, Next: i + 1}); err != nil {
					t.Error(err)
				}
				r.Release()
			}
			if next, err := w.Commit(t.Context()); next != 5 || err != nil {
				t.Error(next, err)
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got := map[int64]sinktest.Row{}
	r, err := ipc.NewReader(&out, ipc.WithAllocator(mem))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for r.Next() {
		for _, row := range sinktest.Rows(r.Record()) {
			got[row["id"].(int64)] = row
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	if len(got) != 400 {
		t.Errorf("%d rows", len(got))
	}
	for lane := range int64(4) {
		for i := range int64(5) {
			rec := sinktest.Random(mem, schema, 20, lane*100+i*20, 1, sinktest.Shape{Nulls: 0.2})
			for _, want := range sinktest.Rows(rec) {
				if row := got[want["id"].(int64)]; !reflect.DeepEqual(want, row) {
					t.Fatalf("want -, got +\n%s", cmp.Diff(want, row))
				}
			}
			rec.Release()
		}
	}
}

// TestDictionaries has dictionaries grow over many batches, and be replaced when they are too large.
func TestDictionaries(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	schema := sinktest.AllTypes()
	for _, limit := range []int{maxDictionary, 50} {
		var out bytes.Buffer
		o := Options{Stdout: &out, mem: mem, Dictionaries: []string{"repeated_text", "text"}}.withDefaults()
		s := newStream(&o)
		if err := s.Start(t.Context(), schema); err != nil {
			t.Fatal(err)
		}
		s.dict.limit = limit
		var want []sinktest.Row
		for i := range int64(20) {
			r := sinktest.Random(mem, schema, 30, i*30, 1, sinktest.Shape{Nulls: 0.2})
			want = append(want, sinktest.Rows(r)...)
			if _, err := s.Write(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			r.Release()
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := ipc.NewReader(&out, ipc.WithAllocator(mem))
		if err != nil {
			t.Fatal(err)
		}
		columns := map[string][]any{}
		largest := 0
		for r.Next() {
			for _, name := range o.Dictionaries {
				d := r.Record().Column(r.Schema().FieldIndices(name)[0]).(*array.Dictionary)
				values := d.Dictionary().(*array.String)
				largest = max(largest, values.Len())
				for i := range d.Len() {
					if d.IsNull(i) {
						columns[name] = append(columns[name], nil)
					} else {
						columns[name] = append(columns[name], strings.Clone(values.Value(d.GetValueIndex(i))))
					}
				}
			}
		}
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
		r.Release()
		for i, row := range want {
			for name, values := range columns {
				if values[i] != row[name] {
					t.Fatalf("limit %d: row %d: %s is %v, want %v", limit, i, name, values[i], row[name])
				}
			}
		}
		if limit == 50 && largest > 50+30 || limit > 50 && largest < 300 {
			t.Errorf("limit %d: the largest dictionary has %d values", limit, largest)
		}
	}
}

func TestStreamWithoutRows(t *testing.T) {
	var out bytes.Buffer
	s := newSink(t, Options{Stdout: &out}, pipeline.Schemas{sinktest.AllTypes()})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if r.Next() || r.Schema().NumFields() != sinktest.AllTypes().NumFields() {
		t.Errorf("schema %s", r.Schema())
	}
}

func TestClosedPipe(t *testing.T) {
	schema := sinktest.AllTypes()
	r, w := io.Pipe()
	s := newSink(t, Options{Stdout: w}, pipeline.Schemas{schema})
	lane := openLane(t, s, 0)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	rec := sinktest.Random(memory.DefaultAllocator, schema, 20, 0, 1, sinktest.Shape{})
	defer rec.Release()
	err := lane.Write(t.Context(), pipeline.Rows, rec, pipeline.Span{First: 0, Next: 1})
	if !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "closed by the program that was reading it") {
		t.Errorf("got %v", err)
	}
	if _, err := lane.Commit(t.Context()); err == nil {
		t.Error("committed what was never read")
	}
	if err := errors.Join(lane.Abandon(), s.Close()); err != nil {
		t.Errorf("the error is reported again: %v", err)
	}
}

// TestFullDisk fails after every number of bytes, in steps.
func TestFullDisk(t *testing.T) {
	schema := sinktest.AllTypes()
	r := sinktest.Random(memory.DefaultAllocator, schema, 30, 0, 1, sinktest.Shape{})
	defer r.Release()
	write := func(w io.Writer) error {
		o := Options{}.withDefaults()
		e, err := format{&o}.NewEncoder(w, schema)
		if err != nil {
			return err
		}
		return errors.Join(e.Write(r), e.Finish(filesink.Provenance{}))
	}
	var all bytes.Buffer
	if err := write(&all); err != nil {
		t.Fatal(err)
	}
	for left := 0; left < all.Len(); left += 1 + all.Len()/100 {
		if err := write(&fullDisk{left}); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("full after %d of %d bytes: got %v", left, all.Len(), err)
		}
	}
}

type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if n := d.left; n < len(p) {
		d.left = 0
		return n, syscall.ENOSPC
	}
	d.left -= len(p)
	return len(p), nil
}

func TestValidate(t *testing.T) {
	for want, o := range map[string]Options{
		"path: missing":                    {},
		"stdout: cannot be given together": {Path: "x", Stdout: io.Discard},
		`compression: "gzip" is not`:       {Path: "x", Compression: "gzip"},
		"dictionaries: files have none":    {Path: "x", Dictionaries: []string{"a"}},
	} {
		if _, err := New(o, slog.New(slog.DiscardHandler)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	odd := arrow.NewSchema([]arrow.Field{{Name: "odd", Type: dict}}, nil)
	for _, o := range []Options{{Path: t.TempDir()}, {Stdout: io.Discard}} {
		s, err := New(o, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context(), pipeline.Schemas{odd}); err == nil || !strings.Contains(err.Error(), "column odd") {
			t.Errorf("got %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
