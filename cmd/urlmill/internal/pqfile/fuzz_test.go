package pqfile

import (
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/urlmill/urlmill/internal/decoded"
	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// FuzzCheck does with a file what the commands do: it is checked, described, and compared with itself.
func FuzzCheck(f *testing.F) {
	f.Add(sampleOf(f, 20))
	f.Add([]byte("PAR1\x19\x5c\x00\x00\x00\x00\x00\x00\x00PAR1"))
	name := filepath.Join(f.TempDir(), "x.parquet")
	f.Fuzz(func(t *testing.T, data []byte) {
		debug.SetMemoryLimit(4 * decoded.MinLimit)
		_ = os.Remove(name) // some file systems wait for the disk where a file is cut off and written again
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		alloctest.Bound(t, len(data), 256, 16*decoded.MinLimit, func() {
			if _, err := Check(t.Context(), name); err != nil {
				t.Fatal(err) // a file that is damaged is no error of the check
			}
			p, err := Open(name)
			if err != nil {
				return
			}
			defer p.Close()
			if info, err := p.Info(); err == nil {
				_ = info.Print(io.Discard)
			}
		})
	})
}
