package udf

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/urlmill/urlmill/internal/decoded"
	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// fuzzed are the functions that FuzzServe calls, by what ClickHouse was told of them.
func fuzzed(f *testing.F) (all []*Function) {
	for _, format := range Formats {
		for i := range 8 {
			fn, err := New(Options{
				Format: format, Columns: []string{"host", "params"}, ChunkHeader: i&1 != 0, Nullable: i&2 != 0, Base: i&4 != 0,
			})
			if err != nil {
				f.Fatal(err)
			}
			all = append(all, fn)
		}
	}
	return all
}

// FuzzServe gives functions what is no block of theirs, of all formats.
func FuzzServe(f *testing.F) {
	names, err := filepath.Glob(filepath.Join("testdata", "*.bin"))
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	functions := fuzzed(f)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for i := range functions {
			f.Add(data, byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, which byte) {
		debug.SetMemoryLimit(4 * decoded.MinLimit)
		fn := functions[int(which)%len(functions)]
		alloctest.Bound(t, len(data), 1024, 12*decoded.MinLimit, func() { _ = fn.Serve(bytes.NewReader(data), io.Discard) })
	})
}
