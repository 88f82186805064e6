package shard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// run is a run of a lane that is open.
type run struct {
	Listed
	*runs.Run
	in   io.Closer
	copy string // path of the copy, "" where it is read in its place
}

// close closes the run. Its copy stays, unless nothing names the run any more.
func (r *run) close(unneeded bool) error {
	err := r.in.Close()
	if unneeded && r.copy != "" {
		err = errors.Join(err, os.Remove(r.copy))
	}
	return err
}

// fetchSize is how much of a file is asked for at a time.
const fetchSize = 8 << 20

// copies is the folder of the copies of runs on a local disk. They are called by the checksums of the files, and may be removed at any
// time when no process runs.
type copies struct {
	dir     string // "": there are none, and runs are read in the output
	seq     atomic.Int64
	fetched atomic.Int64 // bytes
}

func (c *copies) path(l Listed) string {
	return filepath.Join(c.dir, strings.ReplaceAll(l.Checksum, ":", "-")+"-"+fmt.Sprint(l.Bytes)+".keys")
}

// open opens a run of a lane, and fetches it before if there is no copy. anew leaves aside a copy that there is.
func (c *copies) open(ctx context.Context, files pipeline.KeptFiles, l Listed, anew bool) (*run, error) {
	if c.dir == "" {
		in, err := files.Open(ctx, l.Name)
		if err != nil {
			return nil, err
		}
		return openRun(in, l, "")
	}
	at := c.path(l)
	in, err := os.Open(at)
	if anew || errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			_ = in.Close()
		}
		if err := c.fetch(ctx, files, l, at); err != nil {
			return nil, err
		}
		in, err = os.Open(at)
	}
	if err != nil {
		return nil, err
	}
	info, err := in.Stat()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return openRun(localFile{in, info.Size()}, l, at)
}

// localFile is a copy that is open.
type localFile struct {
	*os.File
	size int64
}

func (f localFile) Size() int64 { return f.size }

func openRun(in pipeline.KeptObject, l Listed, copied string) (*run, error) {
	size := in.Size()
	err := fmt.Errorf("%w: it has %d bytes, and had %d when it was committed", runs.ErrDamaged, size, l.Bytes)
	var r *runs.Run
	if size == l.Bytes {
		r, err = runs.OpenRun(io.NewSectionReader(in, l.Offset, size-l.Offset), size-l.Offset)
	}
	if err == nil && r.Info().Keys != l.Keys {
		err = fmt.Errorf("%w: it has %d keys, and had %d when it was committed", runs.ErrDamaged, r.Info().Keys, l.Keys)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", l.Name, err), in.Close())
	}
	return &run{Listed: l, Run: r, in: in, copy: copied}, nil
}

// fetch copies a file of the output.
func (c *copies) fetch(ctx context.Context, files pipeline.KeptFiles, l Listed, to string) error {
	in, err := files.Open(ctx, l.Name)
	if err != nil {
		return err
	}
	defer in.Close()
	n, err := c.write(to, l.Checksum, func(out io.Writer) error {
		buf := make([]byte, max(1, min(fetchSize, in.Size())))
		for at := int64(0); at < in.Size(); at += int64(len(buf)) {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			buf = buf[:min(int64(len(buf)), in.Size()-at)]
			if n, err := in.ReadAt(buf, at); n < len(buf) {
				return err
			}
			if _, err := out.Write(buf); err != nil {
				return err
			}
		}
		return nil
	})
	c.fetched.Add(n)
	if err != nil {
		return fmt.Errorf("fetching %s: %w", l.Name, err)
	}
	return nil
}

// put makes a copy of a file that this process has just made.
func (c *copies) put(l Listed, content []byte) error {
	_, err := c.write(c.path(l), l.Checksum, func(out io.Writer) error {
		_, err := io.Copy(out, bytes.NewReader(content))
		return err
	})
	return err
}

// write makes a file of what fill writes, whole or not at all. It is not synced: what a crash of the machine has damaged is fetched again.
func (c *copies) write(to, checksum string, fill func(io.Writer) error) (int64, error) {
	t, err := c.begin()
	if err != nil {
		return 0, err
	}
	if err = fill(t); err == nil {
		err = t.finish(to, checksum)
	}
	if err != nil {
		t.discard()
	}
	return t.size, err
}

// copying is a copy that is being written.
type copying struct {
	*os.File
	sum  *xxh3.Hasher
	size int64
}

func (c *copies) begin() (*copying, error) {
	f, err := os.Create(filepath.Join(c.dir, fmt.Sprintf("%d.new", c.seq.Add(1))))
	if err != nil {
		return nil, err
	}
	return &copying{File: f, sum: xxh3.New()}, nil
}

func (t *copying) Write(p []byte) (int, error) {
	n, err := t.File.Write(p)
	_, _ = t.sum.Write(p[:n]) // never fails
	t.size += int64(n)
	return n, err
}

func (t *copying) finish(to, checksum string) error {
	if got := fmt.Sprintf("xxh3:%016x", t.sum.Sum64()); got != checksum {
		return fmt.Errorf("%w: its checksum is %s, and was %s when it was committed", runs.ErrDamaged, got, checksum)
	}
	if err := t.Close(); err != nil {
		return err
	}
	return os.Rename(t.Name(), to)
}

func (t *copying) discard() {
	_ = t.Close()
	_ = os.Remove(t.Name())
}
