package file

import (
	"bytes"
	"errors"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// windowedFile is a zstd file of a few bytes that asks for a window.
func windowedFile(t *testing.T, window int, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(text)
	if err := errors.Join(err, w.Flush(), w.Close()); err != nil { // Flush, so that the header has no length
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestWindow: a file that asks for a larger window than the memory limit allows is an error with its name and what to do, and
// the other files are read.
func TestWindow(t *testing.T) {
	text := testLines(0, 10)
	good := write(t, "a", windowedFile(t, minWindow, text))
	bad := write(t, "b.zst", windowedFile(t, 64<<20, text))
	r, err := run(t, newSource(t, Options{Paths: []string{good, bad}, Parallel: 2}))
	if err != nil || len(r.rows[bad]) != 10 {
		t.Fatalf("without a limit: %v", err)
	}
	before := debug.SetMemoryLimit(512 << 20)
	defer debug.SetMemoryLimit(before)
	r, err = run(t, newSource(t, Options{Paths: []string{good, bad}, Parallel: 2}))
	var read *ReadError
	if !errors.As(err, &read) || read.Path != bad {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{"window of more than 32 MiB", "memory_limit", "source.file.parallel"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
	same(t, "the other", r.rows[good], linesOf(text))
}
