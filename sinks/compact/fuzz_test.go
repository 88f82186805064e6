package compact

import (
	"bytes"
	"context"
	"io"
	"runtime/debug"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/decoded"
	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/sinktest"
	"github.com/urlmill/urlmill/sinks/store"
)

// inMemory is a file.
type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// input is a file to be merged. Its rows are those that it says it has.
func input(name string, data []byte) Input {
	f := Input{Live: commit.Live{File: commit.File{Name: name}, Positions: []commit.Stretch{{Lane: "clicks/0", Stream: "clicks", Next: 1}}}}
	f.Open = func(context.Context) (store.Object, error) { return inMemory{bytes.NewReader(data)}, nil }
	if r, err := parquet.NewReader(bytes.NewReader(data), int64(len(data))); err == nil {
		f.Rows = r.Rows()
		_ = r.Close()
	}
	return f
}

// FuzzMerge merges a file with another one, and with itself: committed files can be damaged on the disk.
func FuzzMerge(f *testing.F) {
	var good bytes.Buffer
	schema := sinktest.AllTypes()
	w, err := parquet.NewFile(&good, schema, parquet.Options{Compression: "snappy"})
	must(f, err)
	rec := sinktest.Random(memory.DefaultAllocator, schema, 8, 0, 1, sinktest.Shape{Nulls: 0.2, Empty: 0.2})
	must(f, w.Write(rec))
	rec.Release()
	must(f, w.Close())
	f.Add(good.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		debug.SetMemoryLimit(4 * decoded.MinLimit)
		alloctest.Bound(t, len(data), 512, 24*decoded.MinLimit, func() {
			bad := input("b", data)
			for _, files := range [][]Input{{input("a", good.Bytes()), bad}, {bad, bad}} {
				taken, rows, err := Parquet{}.Merge(t.Context(), files, io.Discard)
				if err == nil && (taken < 1 || taken > 1 && rows != files[0].Rows+files[1].Rows) {
					t.Fatalf("%d files, %d rows", taken, rows)
				}
			}
		})
	})
}
