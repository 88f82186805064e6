package convert

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/arrowtext"
	"github.com/urlmill/urlmill/internal/decoded"
	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

// FuzzOpen reads all values of a file, whatever its format is.
func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	for _, name := range []string{"seed.parquet", "seed.arrow", "seed.arrows", "seed.ndjson"} {
		small := &memoryReader{schema: sinktest.AllTypes()}
		small.recs = append(small.recs, sinktest.Random(memory.DefaultAllocator, small.schema, 8, 0, 1, sinktest.Shape{Nulls: 0.2, Empty: 0.2}))
		data, err := os.ReadFile(convert(f, small, dir, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"a":[1,2,{"b":null}],"c":1.5}` + "\n" + `{"a":[],"c":"x"}`))
	name := filepath.Join(dir, "x")
	f.Fuzz(func(t *testing.T, data []byte) {
		debug.SetMemoryLimit(4 * decoded.MinLimit)
		_ = os.Remove(name) // some file systems wait for the disk where a file is cut off and written again
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		alloctest.Bound(t, len(data), 1024, 12*decoded.MinLimit, func() {
			in, err := Open(name, Options{})
			if err != nil {
				return
			}
			defer in.Close()
			for rec, err := in.Next(); err == nil; rec, err = in.Next() {
				for _, c := range rec.Columns() {
					for i := range c.Len() {
						_ = arrowtext.Value(c, i)
					}
				}
			}
		})
	})
}
