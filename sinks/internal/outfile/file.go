package outfile

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"syscall"
)

const (
	tmpExt     = ".tmp"
	bufferSize = 64 << 10
)

// File is a file being written. After an error of any method every later one returns the same error, so that
// an encoder that loses errors on the way cannot make a damaged file look complete. It is used by one
// goroutine at a time.
type File struct {
	dir  *Dir
	tmp  string // path while unfinished, "" once moved or removed
	path string // final path, "" until published
	seq  uint64
	h    Handle // nil once closed
	buf  *bufio.Writer
	size int64
	err  error
}

// Create starts a file.
func (d *Dir) Create() (*File, error) {
	f := &File{dir: d, seq: d.seq.Add(1)}
	f.tmp = filepath.Join(d.tmp, strconv.FormatUint(f.seq, 10)+tmpExt)
	h, err := d.ops.Create(f.tmp)
	if err != nil {
		return nil, explainAccess(d.path, err)
	}
	f.h, f.buf = h, bufio.NewWriterSize(h, bufferSize)
	return f, nil
}

// Seq returns a number that no other file of this [Dir] has.
func (f *File) Seq() uint64 { return f.seq }

// Size returns the number of bytes written.
func (f *File) Size() int64 { return f.size }

// Err returns the first error.
func (f *File) Err() error { return f.err }

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.buf.Write(p)
	f.size += int64(n)
	if err != nil {
		return n, f.fail("writing", err)
	}
	return n, nil
}

// fail keeps the first error, with what to do about it.
func (f *File) fail(doing string, err error) error {
	advice := ""
	switch {
	case errors.Is(err, syscall.ENOSPC):
		advice = ": the file system is full; free some space or give another path"
	case errors.Is(err, syscall.EDQUOT):
		advice = ": the disk quota is used up; raise it, free some space or give another path"
	case errors.Is(err, syscall.EFBIG):
		advice = ": the file is larger than the system allows; lower the sink's roll.bytes"
	case errors.Is(err, syscall.EROFS):
		advice = ": the file system has become read-only; look into the system's log for the reason"
	}
	f.err = fmt.Errorf("%s %s after %d bytes: %w%s. Nothing of this file was committed", doing, f.tmp, f.size, err, advice)
	return f.err
}

// Finish makes the bytes durable. The file is still invisible.
func (f *File) Finish() error {
	if f.err != nil {
		return f.err
	}
	if err := f.buf.Flush(); err != nil {
		return f.fail("writing", err)
	}
	if err := f.h.Sync(); err != nil {
		return f.fail("syncing", err)
	}
	err := f.h.Close()
	f.h = nil
	if err != nil {
		return f.fail("closing", err)
	}
	return nil
}

// Publish gives the finished file its name in the directory. It never replaces a file. The name is durable
// after [Dir.Sync].
func (f *File) Publish(name string) error {
	if f.err != nil {
		return f.err
	}
	if f.h != nil {
		return f.fail("publishing", errors.New("it is not finished"))
	}
	path := filepath.Join(f.dir.path, name)
	if err := f.dir.ops.Rename(f.tmp, path); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%s is there already and is not replaced: %w", path, err)
		}
		return f.fail("publishing", err)
	}
	f.tmp, f.path = "", path
	return nil
}

// Path returns where a published file is.
func (f *File) Path() string { return f.path }

// Remove removes the file, whatever its state: unfinished, finished or published.
func (f *File) Remove() error {
	var closed error
	if f.h != nil {
		closed = f.h.Close()
		f.h = nil
	}
	if f.err != nil {
		closed = nil // said already
	}
	path := f.tmp
	if path == "" {
		path = f.path
	}
	if path == "" {
		return closed
	}
	f.tmp, f.path = "", ""
	return errors.Join(closed, f.dir.ops.Remove(path))
}
