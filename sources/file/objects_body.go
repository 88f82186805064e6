package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"time"

	"github.com/urlmill/urlmill/internal/objstore"
)

const (
	// smallObject is up to which size an object is fetched as a whole before its turn, and aheadObjects how many a lane is ahead:
	// small ones would otherwise take a round trip each, one after the other.
	smallObject  = 256 << 10
	aheadObjects = 8
	// bodyAttempts is how often a body may break off without a further byte.
	bodyAttempts = 8
)

// bodyError is an error of the store, and not of what is in an object.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

// isReplaced reports whether an object is gone, or another one is in its place.
func isReplaced(err error) bool {
	return errors.Is(err, objstore.ErrChanged) || errors.Is(err, fs.ErrNotExist)
}

// isStop reports whether trying again would give the same.
func isStop(err error) bool { return isReplaced(err) || errors.Is(err, objstore.ErrUnreadable) }

// body reads an object, or a range of it, from its first byte to its last, all of the content that was listed. What breaks off is gone
// on with at the next byte. It is used by one goroutine.
type body struct {
	ctx    context.Context
	store  objstore.Store
	o      objstore.Object
	off    int64
	end    int64         // behind the last byte
	from   io.ReadCloser // nil: nothing is open
	failed int           // attempts since the last byte
	wait   func(ctx context.Context, failed int) error
}

// body returns a reader of the bytes of an object from off to end.
func (s *ObjectSource) body(ctx context.Context, o objstore.Object, off, end int64) *body {
	return &body{ctx: ctx, store: s.store, o: o, off: off, end: end, wait: s.wait}
}

// open asks for what is missing: to the end of the object if that is where the range ends, so that a store that has more is noticed.
func (b *body) open() (err error) {
	n := int64(-1)
	if b.end < b.o.Size {
		n = b.end - b.off
	}
	if b.from, err = b.store.Open(b.ctx, b.o, b.off, n); err != nil { // the store has tried again what can be
		return &bodyError{err}
	}
	return nil
}

// pause waits longer each time, up to 10 s.
func pause(ctx context.Context, failed int) error {
	most := min(100*time.Millisecond<<min(failed, 10), 10*time.Second)
	timer := time.NewTimer(most/2 + rand.N(most/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	for {
		if b.off == b.end {
			return 0, b.last()
		}
		if b.from == nil {
			if err := b.open(); err != nil {
				return 0, err
			}
		}
		n, err := b.from.Read(p[:min(int64(len(p)), b.end-b.off)])
		b.off += int64(n)
		if err != nil {
			_ = b.Close()
		}
		switch {
		case n > 0:
			b.failed = 0
			if b.off == b.end && err != nil && err != io.EOF {
				return n, &bodyError{err} // a checksum that is another
			}
			return n, nil
		case err == nil:
			continue
		}
		if b.failed++; b.failed >= bodyAttempts {
			return 0, &bodyError{fmt.Errorf("%s: its bytes broke off %d times at byte %d of %d: look at the network, and start again: %w",
				b.o.Key, b.failed, b.off, b.o.Size, noEOF(err))}
		}
		if err := b.wait(b.ctx, b.failed); err != nil {
			return 0, err
		}
	}
}

// last returns what is to be said at the end: io.EOF, unless the store says of all bytes together that they are not those that it
// has.
func (b *body) last() error {
	if b.from == nil {
		return io.EOF
	}
	var more [1]byte
	n, err := b.from.Read(more[:])
	_ = b.Close()
	switch {
	case n > 0:
		return &bodyError{fmt.Errorf("%s: the store has more bytes than the %d that it listed: %w", b.o.Key, b.o.Size, objstore.ErrChanged)}
	case err != nil && !errors.Is(err, io.EOF):
		return &bodyError{err}
	}
	return io.EOF
}

// Close implements io.Closer.
func (b *body) Close() error {
	if b.from == nil {
		return nil
	}
	err := b.from.Close()
	b.from = nil
	return err
}

// fetched is an object whose turn comes. data and err are set before ready is closed, if that is not nil.
type fetched struct {
	objstore.Object
	ready chan struct{}
	data  []byte
	err   error
}

// fetch gets all bytes of a small object. They are held before the first record is read, so that what breaks off or has another
// checksum can be fetched anew.
func (s *ObjectSource) fetch(ctx context.Context, f *fetched) {
	defer close(f.ready)
	for failed := 0; ; {
		b := s.body(ctx, f.Object, 0, f.Size)
		f.data, f.err = io.ReadAll(b)
		_ = b.Close()
		if failed++; f.err == nil || isStop(f.err) || ctx.Err() != nil || failed >= 3 {
			return
		}
	}
}

// prefetch hands objects from a queue over to a lane, in their order, small ones with their bytes on the way.
func (s *ObjectSource) prefetch(ctx context.Context, l *objectLane) {
	defer close(l.ahead)
	for {
		o, ok := l.following(ctx)
		if !ok {
			return
		}
		f := &fetched{Object: o}
		if small := o.Size <= smallObject && !l.tables; small {
			f.ready = make(chan struct{})
		}
		select {
		case l.ahead <- f:
		case <-ctx.Done():
			return
		}
		if f.ready != nil {
			l.fetches.Go(func() { s.fetch(ctx, f) })
		}
	}
}

const (
	// blockSize is how much of a table is read at a time, and blocks how many of them are kept.
	blockSize = 1 << 20
	blocks    = 8
)

// pieces reads a table in blocks: footers and pages are much smaller than what is worth a request. It is used by one goroutine.
type pieces struct {
	ctx  context.Context
	s    *ObjectSource
	o    objstore.Object
	at   [blocks]int64 // first byte of each, -1 for none
	data [blocks][]byte
	turn int // the block that is replaced next
}

func newPieces(ctx context.Context, s *ObjectSource, o objstore.Object) *pieces {
	p := &pieces{ctx: ctx, s: s, o: o}
	for i := range p.at {
		p.at[i] = -1
	}
	return p
}

// ReadAt implements io.ReaderAt.
func (p *pieces) ReadAt(to []byte, off int64) (n int, err error) {
	for n < len(to) && off < p.o.Size {
		data, err := p.block(off - off%blockSize)
		if err != nil {
			return n, err
		}
		got := copy(to[n:], data[off%blockSize:])
		n, off = n+got, off+int64(got)
	}
	if n < len(to) {
		return n, io.EOF
	}
	return n, nil
}

func (p *pieces) block(first int64) ([]byte, error) {
	for i, at := range p.at {
		if at == first {
			return p.data[i], nil
		}
	}
	size := min(blockSize, p.o.Size-first)
	var data []byte
	for failed := 0; ; {
		from, err := p.s.store.Open(p.ctx, p.o, first, size)
		if err != nil {
			return nil, &bodyError{err}
		}
		data, err = io.ReadAll(io.LimitReader(from, size))
		_ = from.Close()
		if int64(len(data)) == size {
			break
		}
		if failed++; failed >= bodyAttempts {
			if err == nil {
				err = io.ErrUnexpectedEOF
			}
			return nil, &bodyError{fmt.Errorf("%s: its bytes broke off %d times behind byte %d: look at the network, and start again: %w",
				p.o.Key, failed, first, err)}
		}
		if err := p.s.wait(p.ctx, failed); err != nil {
			return nil, err
		}
	}
	p.at[p.turn], p.data[p.turn] = first, data
	p.turn = (p.turn + 1) % blocks
	return data, nil
}

// content returns a reader of an object whose turn has come.
func (s *ObjectSource) content(ctx context.Context, f *fetched) (io.ReadCloser, error) {
	if w, ok := s.store.(objstore.Whole); f.ready == nil && f.Size > largeObject && !(ok && w.Whole()) {
		return s.ranges(ctx, f.Object), nil
	}
	if f.ready == nil {
		return s.body(ctx, f.Object, 0, f.Size), nil
	}
	select {
	case <-f.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if f.err != nil {
		return nil, f.err
	}
	return io.NopCloser(bytes.NewReader(f.data)), nil
}
