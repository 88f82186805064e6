package bucket

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/urlmill/urlmill/sinks/store"
)

// Create implements [store.Objects]. A request whose answer was lost is made again, and then finds the object that it
// has created itself; what is kept with the object tells.
func (s *Store) Create(ctx context.Context, key string, content []byte) error {
	if err := check(key); err != nil {
		return err
	}
	creation := rand.Text()
	err := s.client.Create(ctx, key, content, creation)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	head, headErr := s.client.Head(ctx, key)
	switch {
	case headErr == nil && head.Creation == creation:
		return nil
	case headErr == nil, isMissing(headErr): // it was removed again, and was there all the same
		return &fs.PathError{Op: "create", Path: s.URL(key), Err: fs.ErrExist}
	}
	return headErr
}

// Read implements [store.Objects].
func (s *Store) Read(ctx context.Context, key string) ([]byte, error) {
	if err := check(key); err != nil {
		return nil, err
	}
	return s.client.Read(ctx, key)
}

// MaxRead bounds what [Client.Read] takes. The largest that is read whole is the metadata of a table, which has megabytes after
// thousands of snapshots.
const MaxRead = 256 << 20

// Open implements [store.Objects].
func (s *Store) Open(ctx context.Context, key string) (store.Object, error) {
	if err := check(key); err != nil {
		return nil, err
	}
	head, err := s.client.Head(ctx, key)
	if err != nil {
		return nil, err
	}
	head.Key = key
	return &object{store: s, ctx: context.WithoutCancel(ctx), Info: head}, nil
}

// Modified implements [store.Store].
func (s *Store) Modified(ctx context.Context, key string) (time.Time, error) {
	if err := check(key); err != nil {
		return time.Time{}, err
	}
	head, err := s.client.Head(ctx, key)
	return head.Modified, err
}

// object implements [store.Object]. Each ReadAt is a request; those who read many small pieces should buffer.
type object struct {
	Info
	store *Store
	ctx   context.Context
}

func (o *object) Size() int64  { return o.Info.Size }
func (o *object) Close() error { return nil }

func (o *object) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("reading %s at %d", o.store.URL(o.Key), off)
	}
	n := int(min(int64(len(p)), max(0, o.Size()-off)))
	if n > 0 {
		if err := o.store.client.ReadAt(o.ctx, o.Key, o.Version, p[:n], off); err != nil {
			return 0, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Turns are the pages of a listing that were asked for, by their tokens.
type Turns map[string]bool

// Turn notes the tokens of the next page, if there are more. A server that gives the same again would be asked for ever.
func (t Turns) Turn(more bool, tokens ...string) error {
	if !more {
		return nil
	}
	at := fmt.Sprintf("%q", tokens)
	if t[at] {
		return ErrEndless
	}
	t[at] = true
	return nil
}

// ErrEndless is the error of a listing whose pages repeat.
var ErrEndless = errors.New("the next page of its listing is one that it has given before, so that the listing has no end")

// List implements [store.Objects].
func (s *Store) List(ctx context.Context, dir, after string) ([]store.Entry, error) {
	if err := check(dir); err != nil {
		return nil, err
	}
	prefix := ""
	if dir != "." {
		prefix = dir + "/"
	}
	var entries []store.Entry
	if err := s.client.List(ctx, dir, after, false, func(o Info) {
		name := strings.TrimSuffix(strings.TrimPrefix(o.Key, prefix), "/")
		if name > after { // not so for the mark of the directory itself, and a directory with the name after
			entries = append(entries, store.Entry{Name: name, Dir: o.Dir || strings.HasSuffix(o.Key, "/")})
		}
	}); err != nil {
		return nil, err
	}
	// Keys and prefixes come in lists of their own, and an object may have the name of a directory.
	slices.SortFunc(entries, func(a, b store.Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

// Delete implements [store.Objects].
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := check(key); err != nil {
		return err
	}
	return s.client.Delete(ctx, key)
}

// Sync implements [store.Objects]. An object is durable when the request that makes it is answered, and before
// anybody sees it.
func (s *Store) Sync(_ context.Context, dir string) error { return check(dir) }
