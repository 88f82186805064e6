package drain

import (
	"bytes"
	"io"
	"os"
	"testing"
	"time"
)

// start starts wait, with patience for all of a test, and returns what is closed when it has returned.
func start(w io.Writer) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		wait(w, time.Hour)
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
	done := start(w)
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
	done := start(w)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	ended(t, done)
}

func TestPatience(t *testing.T) {
	_, w := pipe(t)
	if _, err := w.WriteString("answer"); err != nil {
		t.Fatal(err)
	}
	wait(w, 10*time.Millisecond) // nobody reads, and it returns
}

func TestAtOnce(t *testing.T) {
	_, empty := pipe(t)
	ended(t, start(empty))
	ended(t, start(new(bytes.Buffer)))
	file, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString("answer"); err != nil {
		t.Fatal(err)
	}
	ended(t, start(file))
	closed, w := pipe(t)
	closed.Close()
	w.Close()
	ended(t, start(w))
}
