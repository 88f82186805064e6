package kafka

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/kafka/internal/recordbatch"
)

// reading is the part of a lane that makes batches of what was fetched. It belongs to the goroutine that calls Start, Wait and
// Next, and passes to the one that calls [lane.close] when that one has ended.
//
// With a prefetcher it shares the channel chunks and nothing else. A chunk's memory is the reader's from the moment that it is
// received, and is given back when the last record of it has been copied into a batch (recycle), or when it is dropped (stop).
type reading struct {
	*assignment
	*progress

	codec    codec.Codec
	resolver codec.Resolver // the codec, if it is one
	pending  *pending       // the record that waits for it; nil for none

	reader  recordbatch.Reader
	record  recordbatch.Record // the last one read; aliases current, or what the reader has decompressed
	current *buffer            // of the set in reader
	decoded int64              // what the reader has decompressed holds of the memory for that
	forced  bool               // the next batch takes that memory without waiting for it
	waiting *chunk             // taken by Wait, or put back by nextChunk, for the next call
	failure error              // the lane's end: every further Next returns it

	damage    *damage           // where reading has stopped
	damagedAt int64             // offset of the last one, -1 for none
	refetched kafkaconn.Backoff // how often it was fetched once more

	chunks chan chunk  // from the prefetcher; without a buffer, so that it is one answer ahead and no more
	ahead  *prefetcher // nil before Start
	origin origin      // of the offset that the lane began at; begin sets it, and prefetchers have a copy

	end  int64 // nothing is read from this offset on; bound sets it, and prefetchers have a copy
	done bool  // Next has found that nothing is left before end
}

// Start implements [pipeline.Lane]. It returns an error of kind [pipeline.ErrLaneLost] if the partition moves
// before the lane has begun.
func (r *reading) Start(ctx context.Context, next int64) error {
	from, err := r.begin(ctx, next)
	if err != nil {
		return err
	}
	if err := r.bound(ctx, from); err != nil {
		return err
	}
	r.fetchFrom(from)
	r.position.Store(from)
	return nil
}

// fetchFrom starts a prefetcher at offset from, after the one before has ended, and sets the reader to what it will fetch.
// Whatever was fetched and not read yet is dropped.
func (r *reading) fetchFrom(from int64) {
	r.stop()
	r.damage, r.pending = nil, nil
	r.reader.Reset(nil, from)
	ctx, cancel := context.WithCancel(r.ctx)
	f := &prefetcher{
		assignment: r.assignment, progress: r.progress, origin: r.origin,
		chunks: r.chunks, cancel: cancel, ended: make(chan struct{}), next: from, ask: r.maxBytes, end: r.end,
	}
	if r.ahead != nil {
		f.fetchedAny = r.ahead.fetchedAny // it has ended, so nothing writes that any more
	}
	r.ahead = f
	go f.run(ctx)
}

// stop ends the prefetcher, if there is one, and gives back the memory of everything that was fetched. The order matters: a
// prefetcher that still runs would fetch more.
func (r *reading) stop() {
	if r.ahead != nil {
		r.ahead.cancel()
		<-r.ahead.ended // it may be about to hand over a chunk: then it drops it, since its context has ended
	}
	r.recycle()
	if r.waiting != nil {
		r.release(r.waiting.buf)
		r.waiting = nil
	}
}

// Wait implements [pipeline.Waiter]: it takes the next record set once the last one is used up, waits for what a
// record needs, and decompresses the next batch. The memory of the last set goes back before it waits: an idle lane holds one
// answer at most.
func (r *reading) Wait(ctx context.Context) {
	if r.pending != nil {
		_ = r.awaitSchema(ctx) // Next tries again, and returns the error
		return
	}
	if r.waiting != nil || r.damage != nil || r.failure != nil || r.reader.Position() >= r.end {
		return
	}
	if r.reader.Done() {
		r.recycle()
		select {
		case c := <-r.chunks:
			if c.err != nil || c.anew || c.damage != nil {
				r.waiting = &c
				return
			}
			r.read(c)
		case <-r.g.ending:
			return
		case <-ctx.Done():
			return
		case <-r.ctx.Done():
			return
		}
	}
	r.open(ctx)
}

// read sets the reader to a chunk.
func (r *reading) read(c chunk) {
	r.current = c.buf
	r.reader.ResetCommitted(c.set, c.aborted, c.from)
}

// open decompresses the next batch, and waits for the memory that this needs. It is called by Wait: memory is waited for without
// a batch of the pipeline, or those that have memory would wait for batches, and those that have batches for memory. It returns
// without a batch when ctx or the lane ends, and then so does the next call of Next.
func (r *reading) open(ctx context.Context) {
	if r.reader.Open() == nil {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(r.ctx, stop)()
	go func() {
		select {
		case <-r.g.ending:
			stop()
		case <-ctx.Done():
		}
	}()
	for r.reader.Open() != nil {
		n := r.reader.Wants()
		if r.g.memory.decoded.Take(ctx, n) != nil {
			return
		}
		r.decoded = n // for room, which the reader asks again
	}
}

// room takes n bytes for what the reader decompresses, in the place of those that it has ([recordbatch.Reader.Room]). It does not
// wait.
func (r *reading) room(n int64) bool {
	pool := r.g.memory.decoded
	if n == r.decoded {
		return true
	}
	pool.Give(r.decoded)
	r.decoded = 0
	switch {
	case n == 0:
		return true
	case r.forced:
		r.forced = false
		pool.Give(-n)
	case !pool.TryTake(n):
		return false
	}
	r.decoded = n
	return true
}

// Next implements [pipeline.Lane].
func (r *reading) Next(ctx context.Context, b *pipeline.Batch) error {
	b.Reset()
	r.codec.Prepare(b)
	b.Lane, b.Of = r.id, r.of
	b.First = r.reader.Position()
	if r.pending != nil {
		b.First = r.pending.from
	}
	b.Next = b.First
	if r.g.isEnding() { // before anything is read: a rebalance waits for the slowest member
		return io.EOF
	}
	for !b.Full() {
		err := r.fillToEnd(ctx, b)
		if err != nil && b.Next == b.First {
			return err
		}
		if err != nil {
			// What was read first goes on its way. The next call meets the error again: its cause is kept in failure,
			// damage, pending or waiting, or it is no fault (errNothingYet).
			break
		}
	}
	r.position.Store(b.Next)
	return nil
}

// fillToEnd is fill as far as the lane's end, and io.EOF there. The next call of Next meets the end again: the reader is at it,
// or behind it.
func (r *reading) fillToEnd(ctx context.Context, b *pipeline.Batch) error {
	if b.Next < r.end {
		return r.fill(ctx, b)
	}
	r.done = true
	return io.EOF
}

// fill takes one step: it adds a record to b, or moves the reader on. b.Next is then where the reader is, but for a record
// that waits for its schema: the position stays before that one until it has become a row, since b may be committed.
func (r *reading) fill(ctx context.Context, b *pipeline.Batch) (err error) {
	switch {
	case r.pending != nil:
		if err := r.resolvePending(ctx, b); err != nil {
			return err
		}
		r.add(b)
		b.Next = r.reader.Position()
		return nil
	case r.damage == nil:
		found, readErr := r.reader.Next(&r.record)
		if found && r.record.Offset >= r.end {
			b.Next = r.end // what is before it are holes
			return nil
		}
		if found && r.needs(r.record.Value) {
			r.pending = &pending{from: b.Next} // r.record stays as it is: the reader is not asked before it is added
			return nil
		}
		if found {
			r.add(b)
			b.Next = r.reader.Position()
			return nil
		}
		b.Next = min(r.reader.Position(), r.end) // holes of compacted logs and markers of transactions move it without a record
		if errors.Is(readErr, recordbatch.ErrNoRoom) {
			// Wait gets it. Only after damage there was no Wait before: then it is taken.
			r.forced = b.Next == b.First
			if !r.forced {
				return errNothingYet
			}
			return nil
		}
		if readErr != nil {
			entry, next := r.reader.Broken()
			r.damage = &damage{entry: entry, next: next, err: readErr}
			return nil
		}
		err = r.nextChunk(ctx, b)
	case b.Next > b.First:
		err = errNothingYet // what came before the damage goes first
	default:
		err = r.overcome(ctx, b)
		b.Next = r.reader.Position()
	}
	return err
}

// add appends the record to b, if the codec finds a row in it. All of it is copied: the record aliases an answer that may be
// given back as soon as the batch is full.
func (r *reading) add(b *pipeline.Batch) {
	rec := &r.record
	switch limit := r.g.session.opts.MaxRecordBytes; {
	case rec.Value == nil:
		r.codec.DecodeNull(b)
	case len(rec.Value) > limit:
		codec.DecodeCut(r.codec, b, rec.Value[:limit])
	case !r.codec.Decode(b, rec.Value):
		return
	}
	b.Offsets = append(b.Offsets, rec.Offset)
	b.Timestamps = append(b.Timestamps, micros(rec.Timestamp))
	if rec.Key == nil {
		b.Keys.AppendNull()
	} else {
		b.Keys.Append(rec.Key)
	}
	for h := rec.Headers(); h.Next(); {
		b.Headers.Keys.Append(h.Key)
		if h.Value == nil {
			b.Headers.Values.AppendNull()
		} else {
			b.Headers.Values.Append(h.Value)
		}
	}
	b.Headers.EndRow()
}

// micros converts a timestamp from milliseconds. The oldest message format has none, -1, which becomes 0;
// producers that count in nanoseconds get what fits.
func micros(ms int64) int64 {
	switch {
	case ms == -1:
		return 0
	case ms > math.MaxInt64/1000:
		return math.MaxInt64
	case ms < math.MinInt64/1000:
		return math.MinInt64
	}
	return ms * 1000
}

// errNothingYet says that a batch ends here, though it has room: the prefetcher has nothing ready, or what comes next has to
// begin a batch of its own.
var errNothingYet = errors.New("nothing fetched yet")

// nextChunk gives the reader the next record set. It waits for one only if b has neither records nor positions yet:
// otherwise a batch that has something would wait for a slow topic.
func (r *reading) nextChunk(ctx context.Context, b *pipeline.Batch) error {
	if r.failure != nil {
		return r.failure
	}
	r.recycle() // the reader is at its end, and b has copies
	var c chunk
	if r.waiting != nil {
		c, r.waiting = *r.waiting, nil
	} else if b.Next > b.First {
		select {
		case c = <-r.chunks:
		default:
			return errNothingYet
		}
	} else {
		select { // ctx is the pipeline's, for this call; r.ctx ends when the partition is lost
		case c = <-r.chunks:
		case <-r.g.ending:
			return io.EOF
		case <-ctx.Done():
			return ctx.Err()
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
	switch { // the prefetcher has ended where there is err or damage: chunks has no more until fetchFrom
	case c.err != nil:
		r.failure, r.done = c.err, errors.Is(c.err, io.EOF)
		return c.err
	case c.anew && b.Next > b.First:
		r.waiting = &c
		return errNothingYet // the batch ends before the gap
	case c.damage != nil:
		r.damage, r.current = c.damage, c.buf
		return nil
	}
	r.read(c)
	if c.anew {
		// The batch begins behind the gap, so that its span shows the sink what was left out. b has nothing yet: above.
		b.First, b.Next = c.from, c.from
	}
	return nil
}

// recycle gives back the memory of the set that has been read, and of what it was decompressed to. The position stays.
func (r *reading) recycle() {
	if r.current == nil {
		return
	}
	r.reader.Reset(nil, r.reader.Position()) // before current goes back, which the reader aliases
	r.reader.Free()
	r.release(r.current)
	r.current = nil
}
