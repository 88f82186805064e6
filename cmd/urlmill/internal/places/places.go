// Package places opens, lists and writes single files that are on this machine or in a bucket, for commands that take either.
package places

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"strings"

	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sources/file"
)

// Places opens places in buckets as Open does. Its zero value knows files of this machine alone.
type Places struct {
	Open store.Opener
	Log  *slog.Logger
}

// File is a file that is open for reading. It is used by one goroutine.
type File interface {
	io.Reader
	io.Seeker
	io.ReaderAt
	io.Closer
	Name() string
	Size() int64
	// Regular reports whether all bytes are there, as in a file on a disk and an object, and not in a pipe or a device.
	Regular() bool
}

// local is a file of this machine.
type local struct {
	*os.File
	info fs.FileInfo
}

func (l local) Size() int64   { return l.info.Size() }
func (l local) Regular() bool { return l.info.Mode().IsRegular() }

// remote is an object.
type remote struct {
	*io.SectionReader // of blocks
	object            store.Object
	name              string
}

func (r remote) Name() string  { return r.name }
func (r remote) Regular() bool { return true }
func (r remote) Close() error  { return r.object.Close() }

// split cuts the address of an object into a place and the name within.
func split(name string) (place, key string) {
	place, key = path.Split(name)
	return strings.TrimSuffix(place, "/"), key
}

// OpenFile opens a file.
func (p Places) OpenFile(ctx context.Context, name string) (File, error) {
	if store.Scheme(name) == "" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		info, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return local{f, info}, nil
	}
	s, key, err := p.store(name)
	if err != nil {
		return nil, err
	}
	o, err := s.Open(ctx, key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return remote{io.NewSectionReader(&blocks{of: o}, 0, o.Size()), o, name}, nil
}

// store opens the place of an object.
func (p Places) store(name string) (s store.Store, key string, err error) {
	place, key := split(name)
	if key == "" {
		return nil, "", fmt.Errorf("%s is a folder; give a file", name)
	}
	s, err = p.Open(place, p.Log)
	return s, key, err
}

// Expand returns the files and objects that patterns name, as [file.Expand] does. What is wrong with single ones is joined.
func (p Places) Expand(ctx context.Context, patterns []string) (all []string, err error) {
	var errs []error
	for _, pattern := range patterns {
		var found []string
		var err error
		if store.Scheme(pattern) == "" {
			found, err = file.Expand([]string{pattern})
		} else if found = []string{pattern}; strings.ContainsAny(pattern, "*?[") {
			found, err = p.match(ctx, pattern)
		}
		all, errs = append(all, found...), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// match returns the objects that a pattern matches.
func (p Places) match(ctx context.Context, pattern string) (all []string, err error) {
	fixed := pattern[:strings.IndexAny(pattern, "*?[")]
	place := strings.TrimSuffix(fixed[:strings.LastIndexByte(fixed, '/')], "/")
	s, err := p.Open(place, p.Log)
	if err != nil {
		return nil, err
	}
	rest := strings.TrimPrefix(pattern[len(place):], "/")
	deep := strings.Contains(rest, "/")
	var walk func(dir string) error
	walk = func(dir string) error {
		entries, err := s.List(ctx, dir, "")
		if err != nil {
			return err
		}
		for _, e := range entries {
			key := path.Join(dir, e.Name)
			switch ok, err := file.Matches(rest, key); {
			case err != nil:
				return fmt.Errorf("%s: %w", pattern, err)
			case e.Dir && deep:
				if err := walk(key); err != nil {
					return err
				}
			case !e.Dir && ok:
				all = append(all, place+"/"+key)
			}
		}
		return nil
	}
	if err := walk("."); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: the pattern matches no object", pattern)
	}
	return all, nil
}

// There reports whether there is an object.
func (p Places) There(ctx context.Context, name string) (bool, error) {
	f, err := p.OpenFile(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// Put makes an object of the file from. One that is there is replaced: it is gone for a moment. The object appears when it is whole.
func (p Places) Put(ctx context.Context, name, from string) (err error) {
	s, key, err := p.store(name)
	if err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if err := s.Prepare(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	f, err := s.Begin(ctx, key)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, in); err != nil {
		return errors.Join(err, f.Discard())
	}
	pending, err := f.Finish()
	if err != nil {
		return err
	}
	files := []store.Pending{pending}
	if err := errors.Join(s.Settle(ctx, files), s.Delete(ctx, key)); err != nil {
		return errors.Join(err, s.Discard(ctx, files))
	}
	return s.Publish(ctx, files)
}

const (
	blockSize = 1 << 20
	keep      = 16
)

// blocks reads an object in blocks: what decoders ask for is much smaller than what is worth a request. It is used by one goroutine.
type blocks struct {
	of   store.Object
	data [keep][]byte
	at   [keep]int64 // first byte of each that has data
	turn int         // the one that is replaced next
}

// ReadAt implements [io.ReaderAt].
func (b *blocks) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off < b.of.Size() {
		block, err := b.block(off - off%blockSize)
		if err != nil {
			return n, err
		}
		got := copy(p[n:], block[off%blockSize:])
		n, off = n+got, off+int64(got)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (b *blocks) block(first int64) ([]byte, error) {
	for i, at := range b.at {
		if at == first && b.data[i] != nil {
			return b.data[i], nil
		}
	}
	data := make([]byte, min(blockSize, b.of.Size()-first))
	if _, err := b.of.ReadAt(data, first); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	b.data[b.turn], b.at[b.turn] = data, first
	b.turn = (b.turn + 1) % keep
	return data, nil
}
