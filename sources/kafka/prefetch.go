package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/sources/kafka/internal/recordbatch"
)

// chunk is what the prefetcher hands to the reader: whole entries of a record set, or why there are no more. Its buffer, and
// the memory that it holds of the budget, are the reader's from then on.
type chunk struct {
	from    int64  // records before it are not wanted
	anew    bool   // what is before from is left out, and nothing is fetched yet
	set     []byte // in buf
	aborted []byte // in buf: the list of aborted transactions
	buf     *buffer
	damage  *damage
	err     error
}

// maxKeptFetch bounds the buffer that is kept for the next fetch, as a multiple of what is asked for: the buffer of one large
// batch must not stay for ever.
const maxKeptFetch = 4

// prefetcher fetches for a lane, one set ahead of what it reads. It belongs to the goroutine that runs [prefetcher.run]; what
// others use is above. A lane has one at a time: the next one is made when ended is closed, and only then does the reader look
// at fetchedAny, which the next one goes on with.
type prefetcher struct {
	*assignment
	*progress
	origin origin             // of the offset that the lane began at; constant
	chunks chan<- chunk       // to the reader
	cancel context.CancelFunc // called by the reader
	ended  chan struct{}      // closed when run has returned

	end        int64 // of the lane; constant
	next       int64 // offset
	empty      int   // answers without a record, since the last one that had some
	ask        int   // bytes of the next fetch
	fetchedAny bool  // since the lane began: origin is history then
	pause      kafkaconn.Backoff
	absence    kafkaconn.Absence // of the partition
}

// run fetches until ctx ends or there is an error that trying again does not cure. After a chunk with an error or damage it
// ends: the reader decides, and may start another one.
func (f *prefetcher) run(ctx context.Context) {
	defer close(f.ended)
	for {
		c := f.chunk(ctx)
		select {
		case f.chunks <- c:
		case <-ctx.Done():
			f.release(c.buf) // the reader will not have it, and others wait for its memory
			return
		}
		if c.err != nil || c.damage != nil {
			return
		}
	}
}

// chunk returns the next chunk that has entries, or an error.
func (f *prefetcher) chunk(ctx context.Context) chunk {
	for ctx.Err() == nil {
		buf := f.g.memory.get()
		got, err := f.g.fetcher.fetch(ctx, f.id, f.next, f.ask, buf.bytes)
		buf.bytes, buf.held = got.buf, got.held // nil where no answer came: kafka-go may still be reading into the old one
		if err == nil {
			f.recovered()
			f.highWatermark.Store(got.highWatermark)
			f.lastStable.Store(got.lastStable)
			c, ok := f.split(got)
			if ok {
				c.buf = buf
				return c
			}
			f.release(buf)
			if f.nothingLeft() {
				return chunk{err: io.EOF}
			}
			continue
		}
		f.release(buf)
		if c, ok := f.tolerate(ctx, err); ok {
			return c
		}
		f.fetchTrouble.add(err)
		f.pause.Wait(ctx, nil) // for no more than ctx: a drain lets the reader end first, which then ends this
	}
	return chunk{err: ctx.Err()}
}

// nothingLeft reports whether answers without a record have shown that the lane has none left before its end.
func (f *prefetcher) nothingLeft() bool {
	return f.empty >= emptyAnswers && f.next < f.end && f.end <= f.lastStable.Load()
}

// split makes a chunk of an answer. It returns false if the answer has no whole entry and that is no damage: it is empty, or
// more has to be asked for.
//
// An answer ends wherever the limit was reached, so its last entry is usually cut off, which is no fault: the next fetch
// begins with it. A first entry that is not whole is one, since brokers send that whole whatever the limit.
func (f *prefetcher) split(got fetched) (chunk, bool) {
	if len(got.set) == 0 {
		f.empty++
		return chunk{}, false
	}
	f.empty = 0
	whole, next, err := recordbatch.Whole(got.set)
	rest := got.set[len(whole):]
	switch {
	case len(whole) > 0 && next > f.next: // what is wrong with the rest is seen when it comes first
	case err != nil:
		return chunk{damage: &damage{rest, recordbatch.Behind(rest, f.next), err}}, true
	case len(whole) > 0: // nothing that is asked for: going on would fetch the same again, for ever
		err = fmt.Errorf("%w: %d bytes, none of them after offset %d", recordbatch.ErrCorrupt, len(got.set), f.next)
		return chunk{damage: &damage{got.set, -1, err}}, true
	case len(rest) >= f.ask && f.ask < maxFetchBytesLimit:
		// Brokers send the first batch whole since version 0.10.1; one that does not wants to be
		// asked for more.
		f.ask = min(2*f.ask, maxFetchBytesLimit)
		return chunk{}, false
	default:
		err = fmt.Errorf("%w: the batch at offset %d is cut off after %d bytes", recordbatch.ErrCorrupt, f.next, len(rest))
		return chunk{damage: &damage{rest, recordbatch.Behind(rest, f.next), err}}, true
	}
	f.ask = f.maxBytes
	c := chunk{from: f.next, set: whole, aborted: got.aborted}
	f.next, f.fetchedAny = next, true
	return c, true
}

// recovered notes that a fetch succeeded.
func (f *prefetcher) recovered() {
	if f.pause.Tries() > 1 {
		f.g.session.log.Info("fetching again", "lane", f.id.String(), "offset", f.next)
	}
	f.pause.Reset()
	f.fetchTrouble.end()
	f.absence.End()
}

// tolerate returns false if the fetch that failed with err is worth another try, and otherwise the chunk that says what
// became of the lane.
func (f *prefetcher) tolerate(ctx context.Context, err error) (chunk, bool) {
	if ctx.Err() != nil {
		return chunk{err: ctx.Err()}, true
	}
	if errors.Is(err, kafkago.OffsetOutOfRange) {
		c, err := f.outOfRange(ctx)
		if err != nil {
			c.err = err
		}
		return c, c.anew || c.err != nil
	}
	if errors.Is(err, kafkago.InvalidMessage) || errors.Is(err, kafkago.UnsupportedCompressionType) {
		return chunk{damage: &damage{nil, -1, err}}, true // the broker sends nothing of the batch
	}
	if kafkaconn.IsMissing(err) {
		f.g.look(ctx) // the topic may be another one by now, which ends the generation
	}
	if err = f.g.session.explain(err, f.absence.Note(err)); kafkaconn.IsFatal(err) {
		return chunk{err: fmt.Errorf("%s: %w", f.id, err)}, true
	}
	if f.pause.Tries() > 0 { // once is nothing: connections that were idle break
		f.g.session.log.Warn("fetching failed; trying again", "lane", f.id.String(), "offset", f.next, "error", err)
	}
	return chunk{}, false
}

// outOfRange decides what becomes of a lane whose offset the log does not have: it fails, or goes on where the chunk
// says. The zero chunk says to try again. A lane that was to begin with the first record that there is, and has not fetched
// any yet, begins with what is the first one now: retention has moved it since the lane began.
func (f *prefetcher) outOfRange(ctx context.Context) (chunk, error) {
	if f.g.look(ctx) { // offsets of another topic: the next generation decides
		return chunk{}, nil
	}
	o := f.g.session.opts
	e := &OffsetOutOfRangeError{
		Lane: f.id, Group: o.Group, Broker: o.Brokers[0], Offset: f.next, First: -1, Next: -1, SinkHolds: f.origin == fromSink,
	}
	var err error
	if e.First, err = f.resolve(ctx, start{timestamp: earliestTime}, false); err != nil {
		return chunk{}, err
	}
	if e.Next, err = f.resolve(ctx, start{timestamp: latestTime}, false); err != nil {
		return chunk{}, err
	}
	switch {
	case e.First <= f.next && f.next <= e.Next: // a position at the very end is one to wait at
		return chunk{}, nil // it was a replica that lagged behind
	case f.next < e.First && f.origin == fromFirst && !f.fetchedAny:
		err = f.commit(ctx, e.First)
	case f.next < e.First && o.OnTruncated == PolicySkip:
		f.g.session.log.Warn("retention has deleted records that were not read yet; they are skipped, as on_truncated says",
			"lane", f.id.String(), "offset", f.next, "next", e.First, "skipped", e.First-f.next)
	default:
		err = e
	}
	f.next = e.First // in an error too: nothing is fetched after one
	return chunk{from: e.First, anew: err == nil}, err
}
