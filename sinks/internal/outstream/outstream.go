// Package outstream is standard output, or what stands in its place, as several lanes write to it: buffered,
// counted, with errors that stay and say what to do.
package outstream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"
)

const bufferSize = 64 << 10

// Writer buffers an output. Its methods are called by one goroutine at a time, but for Size.
type Writer struct {
	buf  *bufio.Writer
	file *os.File // not nil if the output is a regular file
	size atomic.Int64
	err  error
}

// New returns a writer to w.
func New(w io.Writer) *Writer {
	s := &Writer{buf: bufio.NewWriterSize(w, bufferSize)}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			s.file = f
		}
	}
	return s
}

// Write implements io.Writer. After an error every call returns that error.
func (s *Writer) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.buf.Write(p)
	s.size.Add(int64(n))
	if err != nil {
		return n, s.fail(err)
	}
	return n, nil
}

// Size returns the number of bytes written, and may be called at any time.
func (s *Writer) Size() int64 { return s.size.Load() }

// Err returns the first error.
func (s *Writer) Err() error { return s.err }

// EndBatch lets whoever reads the output have what is there, unless that is a file, which nobody waits for.
func (s *Writer) EndBatch() error {
	if s.file != nil {
		return s.err
	}
	return s.flush()
}

// Commit hands everything to the system, and to the disk if the output is a file.
func (s *Writer) Commit() error {
	if err := s.flush(); err != nil {
		return err
	}
	if s.file != nil {
		if err := s.file.Sync(); err != nil {
			return s.fail(err)
		}
	}
	return nil
}

func (s *Writer) flush() error {
	if s.err != nil {
		return s.err
	}
	if err := s.buf.Flush(); err != nil {
		return s.fail(err)
	}
	return nil
}

func (s *Writer) fail(err error) error {
	switch {
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe), errors.Is(err, fs.ErrClosed):
		s.err = fmt.Errorf("the output was closed by the program that was reading it; "+
			"what it had not read is not committed: %w", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		s.err = fmt.Errorf("no space left for the output after %d bytes; free some, or write elsewhere: %w", s.Size(), err)
	default:
		s.err = fmt.Errorf("writing the output failed after %d bytes: %w", s.Size(), err)
	}
	return s.err
}
