package parquet

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/sinktest"
	"github.com/urlmill/urlmill/sinks/store"
)

// fullDisk takes a number of bytes and fails then.
type fullDisk struct {
	left   int
	writes int
}

func (d *fullDisk) Write(p []byte) (int, error) {
	d.writes++
	if n := d.left; n < len(p) {
		d.left = 0
		return n, syscall.ENOSPC
	}
	d.left -= len(p)
	return len(p), nil
}

// TestFullDisk fails after every number of bytes, in steps: the error always comes out.
func TestFullDisk(t *testing.T) {
	o := Options{RowGroupRows: 30, Compression: "snappy"}
	schema := sinktest.AllTypes()
	r := sinktest.Random(memory.DefaultAllocator, schema, 60, 0, 1, sinktest.Shape{Nulls: 0.2})
	defer r.Release()
	size := len(encodeFile(t, o, schema, r))
	for left := 0; left < size; left += 1 + size/40 {
		if err := encodeTo(&fullDisk{left: left}, o, schema, r); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("full after %d of %d bytes: got %v", left, size, err)
		}
	}
	if err := encodeTo(&fullDisk{left: size - 1}, o, schema, r); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("full before the last byte: got %v", err)
	}
	if err := encodeTo(&fullDisk{left: size}, o, schema, r); err != nil {
		t.Fatal(err)
	}
}

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

// noSpace is a system whose files take some bytes.
type noSpace struct {
	store.FS
	left int
}

type noSpaceFile struct {
	store.Handle
	disk fullDisk
}

func (s noSpace) Create(path string) (store.Handle, error) {
	h, err := s.FS.Create(path)
	return &noSpaceFile{h, fullDisk{left: s.left}}, err
}

func (f *noSpaceFile) Write(p []byte) (int, error) { return f.disk.Write(p) }

// TestSinkOnAFullDisk goes the whole way: the message names path and bytes, and nothing is visible.
func TestSinkOnAFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	schema := sinktest.AllTypes()
	stores := func(path string, log *slog.Logger) (store.Store, error) {
		return store.NewLocal(path, noSpace{store.System, 100_000}, log), nil
	}
	s := newSink(t, Options{Path: dir, RowGroupRows: 100, Files: Files{Stores: stores}}, pipeline.Schemas{schema})
	w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
	if err != nil {
		t.Fatal(err)
	}
	r := sinktest.Random(memory.DefaultAllocator, schema, 500, 0, 1, sinktest.Shape{MaxText: 400})
	defer r.Release()
	for i := range int64(20) {
		if err = w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{First: i * 500, Next: (i + 1) * 500}); err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), " bytes: ") {
		t.Errorf("got %v", err)
	}
	if _, err := w.Commit(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the commit after it gave %v", err)
	}
	if err := errors.Join(w.Abandon(), s.Close()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestLanesSideBySide writes several lanes at once, with dead letters, and counts what is in the files.
func TestLanesSideBySide(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	dir := t.TempDir()
	rowsDir, deadDir := filepath.Join(dir, "rows"), filepath.Join(dir, "dead")
	schema := sinktest.AllTypes()
	deadSchema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil)
	s := newSink(t, Options{Path: rowsDir, Files: Files{DeadLetters: deadDir}, RowGroupRows: 64, Compression: "snappy"}, pipeline.Schemas{schema, deadSchema})
	const lanes, commits, batches = 4, 3, 5
	var wg sync.WaitGroup
	for lane := range int32(lanes) {
		wg.Go(func() {
			w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks", Partition: lane})
			if err != nil {
				t.Error(err)
				return
			}
			at := int64(0)
			for range commits {
				for range batches {
					r := sinktest.Random(mem, schema, 50, at, uint64(lane), sinktest.Shape{Nulls: 0.2})
					d := sinktest.Random(mem, deadSchema, 2, at, uint64(lane), sinktest.Shape{})
					span := pipeline.Span{First: at, Next: at + 52}
					err := errors.Join(w.Write(t.Context(), pipeline.DeadLetters, d, span), w.Write(t.Context(), pipeline.Rows, r, span))
					r.Release()
					d.Release()
					if err != nil {
						t.Error(err)
						return
					}
					at = span.Next
				}
				if size := w.Size(); size.Rows != 52*batches || size.Bytes <= 0 {
					t.Errorf("size %+v", size)
				}
				if next, err := w.Commit(t.Context()); next != at || err != nil {
					t.Errorf("commit gave %d, %v", next, err)
				}
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for d, want := range map[string]int{rowsDir: 50, deadDir: 2} {
		names, err := filepath.Glob(filepath.Join(d, "clicks-*.parquet"))
		if err != nil || len(names) != lanes*commits {
			t.Errorf("%s: %d files, %v", d, len(names), err)
		}
		rows := 0
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			rows += len(decode(t, data))
		}
		if rows != want*batches*commits*lanes {
			t.Errorf("%s: %d rows", d, rows)
		}
	}
}

// TestSizeEstimate compares Size with what the file turns out to be.
func TestSizeEstimate(t *testing.T) {
	dir := t.TempDir()
	s := newSink(t, Options{Path: dir, RowGroupRows: 8192}, pipeline.Schemas{sinktest.Clicks()})
	w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(5) {
		r := sinktest.RandomClicks(memory.DefaultAllocator, 6000, i*6000, 1)
		if err := w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{First: i * 6000, Next: (i + 1) * 6000}); err != nil {
			t.Fatal(err)
		}
		r.Release()
	}
	size := w.Size()
	if _, err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if len(names) != 1 {
		t.Fatalf("files %v", names)
	}
	info, err := os.Stat(names[0])
	if err != nil {
		t.Fatal(err)
	}
	if ratio := float64(size.Bytes) / float64(info.Size()); ratio < 0.8 || ratio > 1.25 {
		t.Errorf("estimated %d bytes, the file has %d", size.Bytes, info.Size())
	}
}

func TestValidate(t *testing.T) {
	tests := map[string]Options{
		"path: missing": {},
		`compression: "lz5" is not known; use none, snappy, lz4, gzip or zstd`: {Path: "x", Compression: "lz5"},
		"compression_level: 23 is not a level of zstd; use 1 to 22":            {Path: "x", CompressionLevel: 23},
		"compression_level: 10 is not a level of gzip; use 1 to 9":             {Path: "x", Compression: "gzip", CompressionLevel: 10},
		"compression_level: snappy has no levels; leave it out":                {Path: "x", Compression: "snappy", CompressionLevel: 1},
		"row_group_rows: -1 is out of range":                                   {Path: "x", RowGroupRows: -1},
		"row_group_bytes: 1073741824 is out of range":                          {Path: "x", RowGroupBytes: 1 << 30},
		"page_bytes: -1 is out of range":                                       {Path: "x", PageBytes: -1},
		"page_rows: -1 is out of range":                                        {Path: "x", PageRows: -1},
		"page_version: 3 is not known; use 1 or 2":                             {Path: "x", PageVersion: 3},
		`encodings: "best" is not known; use all or plain`:                     {Path: "x", Encodings: "best"},
	}
	for want, o := range tests {
		err := o.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Count(err.Error(), "\n") != 0 {
			t.Errorf("%+v: got %v, want %s", o, err, want)
		}
		if _, err := New(o, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	if err := (Options{Compression: "x", RowGroupRows: -1}).Validate(); len(bytes.Split([]byte(err.Error()), []byte("\n"))) != 3 {
		t.Errorf("not every problem is there: %v", err)
	}
	if err := (Options{Path: "x"}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestUnsupportedSchemas are refused at the start.
func TestUnsupportedSchemas(t *testing.T) {
	field := func(name string, dt arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: dt, Nullable: true}
	}
	for want, schema := range map[string]*arrow.Schema{
		"column odd: Parquet files with the type time64": arrow.NewSchema([]arrow.Field{field("odd", arrow.FixedWidthTypes.Time64us)}, nil),
		"column odd: Parquet files with the type null":   arrow.NewSchema([]arrow.Field{field("odd", arrow.Null)}, nil),
		"two columns are named same":                     arrow.NewSchema([]arrow.Field{field("same", arrow.BinaryTypes.String), field("same", arrow.BinaryTypes.String)}, nil),
	} {
		s, err := New(Options{Path: filepath.Join(t.TempDir(), "out")}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context(), pipeline.Schemas{schema}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
