package file

import (
	"bytes"
	"context"
	"errors"
	stdhash "hash"
	"io"
	"sync"

	"github.com/urlmill/urlmill/internal/objstore"
)

const (
	// largeObject is above which size an object is read by several requests side by side.
	largeObject = 2 * rangeSize
	// rangeSize is how many bytes each of them asks for, and rangesAhead how many are asked for or held at a time.
	rangeSize   = 2 << 20
	rangesAhead = 6
)

// ranges reads a large object by requests for parts of it, several at a time, and returns the bytes in their order. Each request says
// the ETag, and each goes on by itself where it breaks off. It is used by one goroutine.
type ranges struct {
	ctx    context.Context
	cancel context.CancelFunc
	parts  chan *part // in order
	free   chan []byte
	all    sync.WaitGroup

	want []byte
	sum  stdhash.Hash // of all that was returned; nil: the store has none

	cur  *part
	rest []byte // of cur
}

// part is a range. data and err are set before ready is closed: what was read, and what it ended with, io.EOF at the end of the range.
type part struct {
	ready chan struct{}
	data  []byte
	err   error
}

// ranges returns a reader of a large object.
func (s *ObjectSource) ranges(ctx context.Context, o objstore.Object) *ranges {
	var want []byte
	var sum stdhash.Hash
	if summer, ok := s.store.(objstore.Summer); ok {
		var err error
		if want, sum, err = summer.Sum(ctx, o); err != nil {
			sum = nil // what is wrong, requests for the bytes will say
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &ranges{ctx: ctx, cancel: cancel, parts: make(chan *part, rangesAhead), free: make(chan []byte, rangesAhead), want: want, sum: sum}
	for range rangesAhead {
		r.free <- nil // made when it is needed
	}
	r.all.Go(func() {
		defer close(r.parts)
		for off := int64(0); off < o.Size; off += rangeSize {
			var buf []byte
			select {
			case buf = <-r.free:
			case <-ctx.Done():
				return
			}
			p := &part{ready: make(chan struct{}), data: buf}
			r.parts <- p // there is room for as many as there are buffers
			r.all.Go(func() { p.fetch(s.body(ctx, o, off, min(off+rangeSize, o.Size))) })
		}
	})
	return r
}

// fetch reads a range.
func (p *part) fetch(b *body) {
	defer close(p.ready)
	defer b.Close()
	size := int(b.end - b.off)
	if p.data == nil {
		p.data = make([]byte, size)
	}
	n, err := io.ReadFull(b, p.data[:size])
	if p.data, p.err = p.data[:n], err; err == nil {
		_, p.err = b.Read(nil) // the end, or that there is more
	}
}

// errSum is the error of bytes that are not those that the store has.
var errSum = errors.New("its bytes have another checksum than the store says: look at the network, and start again")

// Read implements io.Reader.
func (r *ranges) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.cur != nil {
			if r.cur.err != io.EOF { //nolint:errorlint // as body returns it
				return 0, r.cur.err
			}
			r.free <- r.cur.data[:cap(r.cur.data)]
			r.cur = nil
		}
		next, ok := <-r.parts
		if !ok && r.ctx.Err() != nil { // maybe before the last part was asked for
			return 0, context.Cause(r.ctx)
		}
		if !ok && r.sum != nil && !bytes.Equal(r.sum.Sum(nil), r.want) {
			return 0, &bodyError{errSum}
		}
		if !ok {
			return 0, io.EOF
		}
		<-next.ready
		if r.cur, r.rest = next, next.data; r.sum != nil {
			_, _ = r.sum.Write(r.rest)
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (r *ranges) Close() error {
	r.cancel()
	r.all.Wait()
	return nil
}
