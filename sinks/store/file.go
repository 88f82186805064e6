package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path"
	"sync"
)

const (
	bufferSize = 64 << 10
	// fewBytes are kept without a buffer: formats begin a file with a few bytes, long before anything follows.
	fewBytes = 64
)

// localFile implements [File].
type localFile struct {
	store *Local
	name  string
	key   string        // while unfinished
	h     Handle        // nil once closed
	few   []byte        // the first bytes, while there are only a few and buf is nil
	buf   *bufio.Writer // nil while nothing is in it
	sum   Checksum
	size  int64
	err   error
}

// Begin implements [Files].
func (l *Local) Begin(_ context.Context, name string) (File, error) {
	if err := check(name); err != nil {
		return nil, err
	}
	key, err := l.newTmp(path.Base(name) + tmpExt)
	if err != nil {
		return nil, err
	}
	h, err := l.fs.Create(l.path(key))
	if err != nil {
		return nil, explainAccess(l.root, err)
	}
	return &localFile{store: l, name: name, key: key, h: h, sum: NewChecksum()}, nil
}

// buffers are lent to files that have something in them: most of a thousand open files have not.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, bufferSize) }}

// Memory implements [File].
func (f *localFile) Memory() int64 {
	if f.buf == nil {
		return 0
	}
	return bufferSize
}

// Flush implements [File]. It hands what was written to the system: then the file holds no memory.
func (f *localFile) Flush() error {
	if f.err != nil {
		return f.err
	}
	if len(f.few) > 0 {
		if _, err := f.h.Write(f.few); err != nil {
			return f.fail("writing", err)
		}
		f.few = f.few[:0]
	}
	if f.buf == nil {
		return nil
	}
	if err := f.buf.Flush(); err != nil {
		return f.fail("writing", err)
	}
	f.release()
	return nil
}

func (f *localFile) release() {
	if f.buf != nil {
		f.buf.Reset(nil)
		buffers.Put(f.buf)
		f.buf = nil
	}
}

// Size implements [File].
func (f *localFile) Size() int64 { return f.size }

// Err implements [File].
func (f *localFile) Err() error { return f.err }

// Write implements [File].
func (f *localFile) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.write(p)
	f.size += int64(n)
	if err != nil {
		return n, f.fail("writing", err)
	}
	_, _ = f.sum.Write(p)
	return n, nil
}

// write writes large pieces at once, and collects small ones.
func (f *localFile) write(p []byte) (int, error) {
	if f.buf != nil {
		return f.buf.Write(p)
	}
	switch {
	case len(f.few) == 0 && len(p) >= bufferSize:
		return f.h.Write(p)
	case len(f.few)+len(p) <= fewBytes:
		f.few = append(f.few, p...)
		return len(p), nil
	}
	f.buf = buffers.Get().(*bufio.Writer)
	f.buf.Reset(f.h)
	if _, err := f.buf.Write(f.few); err != nil {
		return 0, err
	}
	f.few = f.few[:0]
	return f.buf.Write(p)
}

// fail keeps the first error, with what to do about it.
func (f *localFile) fail(doing string, err error) error {
	f.err = fmt.Errorf("%s %s after %d bytes: %w%s. Nothing of this file was committed",
		doing, f.store.path(f.key), f.size, err, writeAdvice(err))
	return f.err
}

// Finish implements [File].
func (f *localFile) Finish() (Pending, error) {
	if f.err != nil {
		return Pending{}, f.err
	}
	if f.h == nil {
		return Pending{}, f.fail("finishing", errors.New("it is finished"))
	}
	if err := f.Flush(); err != nil {
		return Pending{}, err
	}
	if err := f.h.Sync(); err != nil {
		return Pending{}, f.fail("syncing", err)
	}
	err := f.h.Close()
	f.h = nil
	if err != nil {
		return Pending{}, errors.Join(f.fail("closing", err), f.store.fs.Remove(f.store.path(f.key)))
	}
	return Pending{Name: f.name, Token: f.key, Bytes: f.size, Checksum: f.sum.String()}, nil
}

// Discard implements [File].
func (f *localFile) Discard() error {
	f.release()
	if f.h == nil {
		return nil
	}
	err := f.h.Close()
	f.h = nil
	if f.err != nil {
		err = nil // said already
	}
	return errors.Join(err, f.store.fs.Remove(f.store.path(f.key)))
}
