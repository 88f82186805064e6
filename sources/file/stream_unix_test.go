//go:build unix

package file

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNamedPipe reads what a shell makes of <(command): a path that is a pipe.
func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := w.Write(fixture(t, "lines.bz2")); err != nil {
			t.Error(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	s := newSource(t, Options{Paths: []string{path}})
	if _, total := progress(s); total != 0 {
		t.Error("a pipe has no known size")
	}
	r, err := run(t, s)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "rows", r.rows[path], linesOf(testLines(0, 2000)))
}
