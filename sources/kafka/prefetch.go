package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/sources/kafka/internal/records"
)

// chunk is what the prefetcher hands to the lane: whole entries of a record set, or why there are no more.
type chunk struct {
	from int64  // records before it are not wanted
	set  []byte // in buf
	buf  []byte // goes back through lane.free
	err  error
}

// maxKeptFetch bounds the buffer that is kept for the next fetch, as a multiple of MaxBytes: one large batch must
// not stay for ever.
const maxKeptFetch = 4

// prefetch fetches from offset from on, one set ahead of the lane, until ctx ends or there is an error that
// trying again does not cure.
func (l *lane) prefetch(ctx context.Context, from int64) {
	defer close(l.fetching)
	f := prefetcher{lane: l, next: from, maxBytes: l.g.session.opts.MaxBytes}
	for {
		c := f.chunk(ctx)
		select {
		case l.chunks <- c:
		case <-ctx.Done():
			return
		}
		if c.err != nil {
			return
		}
	}
}

type prefetcher struct {
	*lane
	next     int64 // offset
	maxBytes int   // of the next fetch
	some     bool  // something has been fetched
	pause    backoff
	missing  time.Time // since when the partition is, or zero
}

// chunk returns the next chunk that has entries, or an error.
func (f *prefetcher) chunk(ctx context.Context) chunk {
	for ctx.Err() == nil {
		var buf []byte
		select {
		case buf = <-f.free:
		default:
		}
		got, err := f.g.fetcher.fetch(ctx, f.id, f.next, f.maxBytes, buf)
		if err == nil {
			f.recovered()
			f.highWatermark.Store(got.highWatermark)
			c, ok := f.split(got)
			if ok {
				return c
			}
			f.giveBack(got.buf)
			continue
		}
		if err = f.tolerate(ctx, err); err != nil {
			return chunk{err: err}
		}
		f.pause.wait(ctx, nil)
	}
	return chunk{err: ctx.Err()}
}

func (f *prefetcher) giveBack(buf []byte) {
	if cap(buf) > maxKeptFetch*f.g.session.opts.MaxBytes {
		return
	}
	select {
	case f.free <- buf:
	default:
	}
}

// split makes a chunk of an answer. It returns false if the answer has no whole entry.
func (f *prefetcher) split(got fetched) (chunk, bool) {
	if len(got.set) == 0 {
		return chunk{}, false
	}
	whole, next, err := records.Whole(got.set)
	switch {
	case err != nil:
		return chunk{err: f.corrupt(f.next, err)}, true
	case len(whole) == 0 && f.maxBytes < maxFetchBytesLimit:
		// Brokers send the first batch whole since version 0.10.1; one that does not wants to be
		// asked for more.
		f.maxBytes = min(2*f.maxBytes, maxFetchBytesLimit)
		return chunk{}, false
	case len(whole) == 0 || next <= f.next:
		err := fmt.Errorf("%w: %d bytes, none of them after offset %d", records.ErrCorrupt, len(got.set), f.next)
		return chunk{err: f.corrupt(f.next, err)}, true
	}
	f.maxBytes = f.g.session.opts.MaxBytes
	c := chunk{from: f.next, set: whole, buf: got.buf}
	if cap(c.buf) > maxKeptFetch*f.maxBytes {
		c.buf = nil
	}
	f.next, f.some = next, true
	return c, true
}

// recovered notes that a fetch succeeded.
func (f *prefetcher) recovered() {
	if f.pause.tries > 1 {
		f.g.session.log.Info("fetching again", "lane", f.id.String(), "offset", f.next)
	}
	f.pause.reset()
	f.missing = time.Time{}
}

// tolerate returns nil if the fetch that failed with err is worth another try, and otherwise the lane's error.
func (f *prefetcher) tolerate(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, kafkago.OffsetOutOfRange) {
		return f.outOfRange(ctx)
	}
	if errors.Is(err, kafkago.InvalidMessage) || errors.Is(err, kafkago.UnsupportedCompressionType) {
		return f.corrupt(f.next, err)
	}
	if err = f.hopeless(err, &f.missing); isFatal(err) {
		return fmt.Errorf("%s: %w", f.id, err)
	}
	if f.pause.tries > 0 { // once is nothing: connections that were idle break
		f.g.session.log.Warn("fetching failed; trying again", "lane", f.id.String(), "offset", f.next, "error", err)
	}
	return nil
}

// outOfRange decides what becomes of a lane whose offset the log does not have. As long as nothing has been read
// and the start policy said where to begin, it is asked again: retention has just overtaken us.
func (f *prefetcher) outOfRange(ctx context.Context) error {
	if f.byPolicy && !f.some {
		offset, err := f.beginByPolicy(ctx)
		if err != nil {
			return err
		}
		if offset != f.next {
			f.next = offset
			return nil
		}
	}
	o := f.g.session.opts
	e := &OffsetOutOfRangeError{Lane: f.id, Group: o.Group, Broker: o.Brokers[0], Offset: f.next, First: -1, Next: -1}
	var err error
	if e.First, err = f.resolve(ctx, start{timestamp: earliestTime}); err != nil {
		return err
	}
	if e.Next, err = f.resolve(ctx, start{timestamp: latestTime}); err != nil {
		return err
	}
	if e.First <= f.next && f.next <= e.Next {
		return nil // it was a replica that lagged behind
	}
	return e
}
