package outstream

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestBatches(t *testing.T) {
	var out bytes.Buffer
	s := New(&out)
	if _, err := s.Write([]byte("abc")); err != nil || out.Len() != 0 || s.Size() != 3 {
		t.Errorf("%v, %q, %d", err, out.String(), s.Size())
	}
	if err := s.EndBatch(); err != nil || out.String() != "abc" {
		t.Errorf("%v, %q", err, out.String())
	}
}

// TestRegularFile holds back what nobody waits for, and syncs it on a commit.
func TestRegularFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	s := New(f)
	content := func() string { b, _ := os.ReadFile(name); return string(b) }
	if _, err := s.Write([]byte("abc")); err != nil || s.EndBatch() != nil || content() != "" {
		t.Errorf("%v, %q", err, content())
	}
	if err := s.Commit(); err != nil || content() != "abc" {
		t.Errorf("%v, %q", err, content())
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

type fails struct{ err error }

func (f fails) Write([]byte) (int, error) { return 0, f.err }

func TestErrorsStick(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.EPIPE:    "closed by the program that was reading it",
		io.ErrClosedPipe: "closed by the program that was reading it",
		syscall.ENOSPC:   "no space left for the output after 3 bytes",
		syscall.EIO:      "failed after 3 bytes",
	} {
		s := New(fails{cause})
		if _, err := s.Write([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		err := s.EndBatch()
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), want) || !errors.Is(s.Err(), err) {
			t.Errorf("%v: got %v", cause, err)
		}
		_, again := s.Write([]byte("abc"))
		if !errors.Is(again, err) || !errors.Is(s.EndBatch(), err) || !errors.Is(s.Commit(), err) {
			t.Errorf("%v: then got %v", cause, again)
		}
	}
	s := New(fails{syscall.EIO})
	if _, err := s.Write(make([]byte, 2*bufferSize)); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
}

// TestBrokenPipe is a real one.
func TestBrokenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := New(w)
	if _, err := s.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.EndBatch(), r.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if err := s.EndBatch(); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
