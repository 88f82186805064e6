package drain

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"
)

// wait starts Wait and returns what is closed when it has returned.
func wait(w io.Writer) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		Wait(w)
	}()
	return done
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func ended(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("it still waits")
	}
}

func TestUntilRead(t *testing.T) {
	r, w := pipe(t)
	if _, err := w.WriteString("answer"); err != nil {
		t.Fatal(err)
	}
	done := wait(w)
	if _, err := io.ReadFull(r, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
		t.Fatal("it has not waited for the last byte")
	case <-time.After(100 * time.Millisecond):
	}
	if _, err := io.ReadFull(r, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ended(t, done)
}

func TestReaderGone(t *testing.T) {
	r, w := pipe(t)
	if _, err := w.WriteString("answer"); err != nil {
		t.Fatal(err)
	}
	done := wait(w)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	ended(t, done)
}

func TestAtOnce(t *testing.T) {
	_, empty := pipe(t)
	ended(t, wait(empty))
	ended(t, wait(new(bytes.Buffer)))
	file, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString("answer"); err != nil {
		t.Fatal(err)
	}
	ended(t, wait(file))
	closed, w := pipe(t)
	closed.Close()
	w.Close()
	ended(t, wait(w))
}
