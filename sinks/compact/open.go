package compact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

// open opens a file when every byte of it has been found to be what was committed: what is damaged must not be given a
// new checksum, and some decoders end the process at it. Files of distant places are fetched by that, once. A file whose checksum is
// not known is fetched all the same; its pages have their own.
func open(ctx context.Context, s store.Store, f commit.Live, tempDir string) (store.Object, error) {
	o, err := s.Open(ctx, f.Name)
	if err != nil {
		return nil, err
	}
	var copied *temporary
	to := io.Discard
	if remote(s) {
		if copied, err = newTemporary(tempDir, o.Size()); err != nil {
			return nil, errors.Join(err, o.Close())
		}
		to = copied
	}
	if err := check(ctx, o, f, to); err != nil {
		err = errors.Join(err, o.Close())
		if copied != nil {
			err = errors.Join(err, copied.Close())
		}
		return nil, err
	}
	if copied != nil {
		return copied, o.Close()
	}
	return o, nil
}

// check reads all of a file, and writes it to w.
func check(ctx context.Context, o store.Object, f commit.Live, w io.Writer) error {
	if o.Size() != f.Bytes {
		return fmt.Errorf("it has %d bytes, and had %d when it was committed", o.Size(), f.Bytes)
	}
	if w == io.Discard && f.Checksum == "" {
		return nil
	}
	sum := store.NewChecksum()
	buf := make([]byte, min(o.Size(), 1<<20))
	for at := int64(0); at < o.Size(); {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := min(int64(len(buf)), o.Size()-at)
		if _, err := o.ReadAt(buf[:n], at); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		_, _ = sum.Write(buf[:n])
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		at += n
	}
	if got := sum.String(); f.Checksum != "" && got != f.Checksum {
		return fmt.Errorf("its checksum is %s, and was %s when it was committed: it is damaged", got, f.Checksum)
	}
	return nil
}

// temporary is a copy of a file that is gone when it is closed.
type temporary struct {
	*os.File
	size int64
}

func newTemporary(dir string, size int64) (*temporary, error) {
	f, err := os.CreateTemp(dir, "urlmill-compact-*")
	if err != nil {
		return nil, err
	}
	return &temporary{f, size}, nil
}

func (t *temporary) Size() int64 { return t.size }

func (t *temporary) Close() error { return errors.Join(t.File.Close(), os.Remove(t.Name())) }
