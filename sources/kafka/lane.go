package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/kafka/internal/records"
)

// lane is a partition in one generation of the group. It implements [pipeline.Lane].
//
// Three goroutines use it: the one that reads, which calls Start, Wait and Next; the prefetcher, which Start begins and which
// runs [lane.prefetch]; and the goroutine of the pipeline that calls Acknowledge. What the first two share goes through
// chunks, and what the third needs is constant or atomic. Owners are:
//
//   - constant once the lane is handed out: g to cancel, resolver, maxBytes, unreadable. settle sets id.Session, of and anew
//     before that;
//   - of the goroutine that reads: codec, pending, reader to waiting, damage to refetched, fetching, stopFetching; and
//     origin until it starts a prefetcher, which reads it;
//   - of the prefetcher: fetchedAny, and what is in [prefetcher]. There is one at a time: fetchFrom waits for the one before.
//
// The two troubles have locks of their own, and commit may be called from any of the three.
type lane struct {
	g        *generation
	id       pipeline.LaneID
	of       string // the topic's identity
	anew     bool   // what the group has committed is of another topic
	assigned int64  // committed offset as the assignment has it, negative for none
	ctx      context.Context
	cancel   context.CancelFunc

	codec    codec.Codec
	resolver codec.Resolver // the codec, if it is one
	pending  *pending       // the record that waits for it; nil for none
	unknown  trouble        // with it

	reader  records.Reader
	record  records.Record // the last one read; aliases current, or what the reader has decompressed
	failure error          // the lane's end: every further Next returns it
	current *buffer        // of the set in reader
	decoded int64          // what the reader has decompressed holds of the memory for answers
	waiting *chunk         // taken by Wait, or put back by nextChunk, for the next call

	damage    *damage // where reading has stopped
	damagedAt int64   // offset of the last one
	refetched backoff // how often it was fetched once more

	chunks       chan chunk    // from the prefetcher; without a buffer, so that it is one answer ahead and no more
	fetching     chan struct{} // closed when it has ended; nil before Start
	stopFetching context.CancelFunc
	maxBytes     int           // of a fetch
	origin       origin        // of the offset that the lane began at
	fetchedAny   bool          // the prefetcher's
	trouble      trouble       // with fetching
	unreadable   *atomic.Int64 // parts of the log that could not be read; nil in samples

	// For [Source.Lags].
	position, acknowledged, highWatermark, lastStable atomic.Int64

	closed atomic.Bool
}

var (
	_ pipeline.Lane   = (*lane)(nil)
	_ pipeline.Waiter = (*lane)(nil)
	_ pipeline.Ender  = (*lane)(nil)
)

func newLane(g *generation, id pipeline.LaneID, assigned int64) *lane {
	l := &lane{
		g: g, id: id, assigned: assigned,
		codec:    g.source.codec.New(),
		reader:   records.Reader{Decompressor: g.decompressor},
		chunks:   make(chan chunk),
		maxBytes: g.session.opts.fetchBytes(g.lanes()), damagedAt: -1,
	}
	l.resolver, _ = l.codec.(codec.Resolver)
	l.unknown.retries = &g.source.retries
	l.ctx, l.cancel = context.WithCancel(g.ctx)
	for _, v := range []*atomic.Int64{&l.position, &l.acknowledged, &l.highWatermark, &l.lastStable} {
		v.Store(-1) // not known yet; 0 is an offset
	}
	if assigned >= 0 {
		l.acknowledged.Store(assigned)
	}
	return l
}

// close ends the prefetcher and gives its memory back. It is called when the function that ran the lane has returned; an
// acknowledgement that comes later must not land in another generation, and is refused.
func (l *lane) close() {
	l.closed.Store(true)
	l.cancel()
	if l.fetching != nil {
		<-l.fetching
	}
	l.letGo()
}

// letGo gives back the memory of everything that was fetched. The prefetcher has ended: it would fetch more otherwise.
func (l *lane) letGo() {
	l.recycle()
	if l.waiting != nil {
		l.release(l.waiting.buf)
		l.waiting = nil
	}
}

// ID implements [pipeline.Lane].
func (l *lane) ID() pipeline.LaneID { return l.id }

// Start implements [pipeline.Lane]. It returns an error of kind [pipeline.ErrLaneLost] if the partition moves
// before the lane has begun.
func (l *lane) Start(ctx context.Context, next int64) error {
	from, err := l.begin(ctx, next)
	if err != nil {
		return err
	}
	l.fetchFrom(from)
	l.position.Store(from)
	return nil
}

// fetchFrom starts a prefetcher at offset from, after the one before has ended, and sets the reader to what it will fetch.
// Whatever was fetched and not read yet is dropped.
func (l *lane) fetchFrom(from int64) {
	if l.fetching != nil {
		l.stopFetching()
		<-l.fetching // it may be about to hand over a chunk: then it drops it, since its context has ended
	}
	l.letGo()
	l.damage, l.pending = nil, nil
	l.reader.Reset(nil, from)
	var ctx context.Context
	ctx, l.stopFetching = context.WithCancel(l.ctx)
	l.fetching = make(chan struct{})
	go l.prefetch(ctx, from)
}

// Wait implements [pipeline.Waiter]: it takes the next record set once the last one is used up, and waits for what a
// record needs. The memory of the last set goes back before it waits: an idle lane holds one answer at most.
func (l *lane) Wait(ctx context.Context) {
	if l.pending != nil {
		_ = l.awaitSchema(ctx) // Next tries again, and returns the error
		return
	}
	if l.waiting != nil || l.damage != nil || l.failure != nil || !l.reader.Done() {
		return
	}
	l.recycle()
	select {
	case c := <-l.chunks:
		l.waiting = &c
	case <-l.g.ending:
	case <-ctx.Done():
	case <-l.ctx.Done():
	}
}

// Ending implements [pipeline.Ender].
func (l *lane) Ending() <-chan struct{} { return l.g.ending }

// Next implements [pipeline.Lane].
func (l *lane) Next(ctx context.Context, b *pipeline.Batch) error {
	b.Reset()
	l.codec.Prepare(b)
	b.Lane, b.Of = l.id, l.of
	b.First = l.reader.Position()
	if l.pending != nil {
		b.First = l.pending.from
	}
	b.Next = b.First
	if l.g.isEnding() { // before anything is read: a rebalance waits for the slowest member
		return io.EOF
	}
	for !b.Full() {
		err := l.fill(ctx, b)
		if err != nil && b.Next == b.First {
			return err
		}
		if err != nil {
			// What was read first goes on its way. The next call meets the error again: its cause is kept in failure,
			// damage, pending or waiting, or it is no fault (errNothingYet).
			break
		}
	}
	l.countDecoded()
	l.position.Store(b.Next)
	return nil
}

// fill takes one step: it adds a record to b, or moves the reader on. b.Next is then where the reader is, but for a record
// that waits for its schema: the position stays before that one until it has become a row, since b may be committed.
func (l *lane) fill(ctx context.Context, b *pipeline.Batch) (err error) {
	switch {
	case l.pending != nil:
		if err := l.resolvePending(ctx, b); err != nil {
			return err
		}
		l.add(b)
		b.Next = l.reader.Position()
		return nil
	case l.damage == nil:
		found, readErr := l.reader.Next(&l.record)
		if found && l.needs(l.record.Value) {
			l.pending = &pending{from: b.Next} // l.record stays as it is: the reader is not asked before it is added
			return nil
		}
		if found {
			l.add(b)
			b.Next = l.reader.Position()
			return nil
		}
		b.Next = l.reader.Position() // holes of compacted logs and markers of transactions move it without a record
		if readErr != nil {
			entry, next := l.reader.Broken()
			l.damage = &damage{entry: entry, next: next, err: readErr}
			return nil
		}
		err = l.nextChunk(ctx, b)
	case b.Next > b.First:
		err = errNothingYet // what came before the damage goes first
	default:
		err = l.overcome(ctx, b)
		b.Next = l.reader.Position()
	}
	return err
}

// add appends the record to b, if the codec finds a row in it. All of it is copied: the record aliases an answer that may be
// given back as soon as the batch is full.
func (l *lane) add(b *pipeline.Batch) {
	rec := &l.record
	switch limit := l.g.session.opts.MaxRecordBytes; {
	case rec.Value == nil:
		l.codec.DecodeNull(b)
	case len(rec.Value) > limit:
		codec.DecodeCut(l.codec, b, rec.Value[:limit])
	case !l.codec.Decode(b, rec.Value):
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
func (l *lane) nextChunk(ctx context.Context, b *pipeline.Batch) error {
	if l.failure != nil {
		return l.failure
	}
	l.recycle() // the reader is at its end, and b has copies
	var c chunk
	if l.waiting != nil {
		c, l.waiting = *l.waiting, nil
	} else if b.Next > b.First {
		select {
		case c = <-l.chunks:
		default:
			return errNothingYet
		}
	} else {
		select {
		case c = <-l.chunks:
		case <-l.g.ending:
			return io.EOF
		case <-ctx.Done():
			return ctx.Err()
		case <-l.ctx.Done():
			return l.ctx.Err()
		}
	}
	switch {
	case c.err != nil:
		l.failure = c.err
		return c.err
	case c.anew && b.Next > b.First:
		l.waiting = &c
		return errNothingYet // the batch ends before the gap
	case c.damage != nil:
		l.damage, l.current = c.damage, c.buf
		return nil
	}
	l.current = c.buf
	l.reader.ResetCommitted(c.set, c.aborted, c.from)
	if c.anew {
		// The batch begins behind the gap, so that its span shows the sink what was left out. b has nothing yet: above.
		b.First, b.Next = c.from, c.from
	}
	return nil
}

// recycle gives back the memory of the set that has been read, and of what it was decompressed to. The position stays.
func (l *lane) recycle() {
	if l.current == nil {
		return
	}
	l.reader.Reset(nil, l.reader.Position())
	l.reader.Free()
	l.countDecoded()
	l.release(l.current)
	l.current = nil
}

// release gives back a buffer, which may be nil. The reader and the prefetcher both call it, each for buffers of its own.
func (l *lane) release(b *buffer) {
	if b != nil {
		l.g.memory.put(b, maxKeptFetch*l.maxBytes)
	}
}

// countDecoded counts what has been decompressed as part of the memory for answers, without waiting for it: the lane holds
// an answer, which it could not give back while it waits. Others wait for longer then.
func (l *lane) countDecoded() {
	if n := l.reader.Held(); n != l.decoded {
		l.g.memory.pool.Give(l.decoded - n)
		l.decoded = n
	}
}

// Acknowledge implements [pipeline.Lane]: it commits next for the consumer group. It returns an error of kind
// [pipeline.ErrLaneLost], and has cancelled the lane's context, when the partition is not this member's any
// more.
func (l *lane) Acknowledge(ctx context.Context, next int64) error {
	if next < 0 {
		return nil
	}
	if l.closed.Load() {
		return fmt.Errorf("%s: acknowledged after the lane has ended: %w", l.id, pipeline.ErrLaneLost)
	}
	if err := l.commit(ctx, next); err != nil {
		return err
	}
	l.acknowledged.Store(next)
	return nil
}
