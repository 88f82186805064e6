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
	pending  *pending       // the record that waits for it
	unknown  trouble        // with it

	reader  records.Reader
	record  records.Record
	failure error   // the lane's end
	current *buffer // of the set in reader
	decoded int64   // what the reader has decompressed holds of the memory for answers
	waiting *chunk  // that Wait has taken

	damage    *damage // where reading has stopped
	damagedAt int64   // offset of the last one
	refetched backoff // how often it was fetched once more

	chunks       chan chunk    // from the prefetcher
	fetching     chan struct{} // closed when it has ended; nil before Start
	stopFetching context.CancelFunc
	maxBytes     int           // of a fetch
	origin       origin        // of the offset that the lane began at
	fetchedAny   bool          // the prefetcher's
	trouble      trouble       // with fetching
	unreadable   *atomic.Int64 // parts of the log, nil where nobody counts

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
		v.Store(-1)
	}
	if assigned >= 0 {
		l.acknowledged.Store(assigned)
	}
	return l
}

// close ends the prefetcher. Whoever ran the lane is through with it: an acknowledgement that comes later is not
// to land in another generation.
func (l *lane) close() {
	l.closed.Store(true)
	l.cancel()
	if l.fetching != nil {
		<-l.fetching
	}
	l.letGo()
}

// letGo lets go of everything that was fetched.
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

// fetchFrom has the prefetcher begin at offset from, and the reader with what that fetches.
func (l *lane) fetchFrom(from int64) {
	if l.fetching != nil {
		l.stopFetching()
		<-l.fetching
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
// record needs.
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
	if l.g.isEnding() {
		return io.EOF
	}
	for !b.Full() {
		err := l.fill(ctx, b)
		if err != nil && b.Next == b.First {
			return err
		}
		if err != nil {
			break // an error shows again in the next call
		}
	}
	l.countDecoded()
	l.position.Store(b.Next)
	return nil
}

// fill takes one step: it adds a record to b, or gets the reader on. b.Next is then where the reader is.
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
			l.pending = &pending{from: b.Next}
			return nil
		}
		if found {
			l.add(b)
			b.Next = l.reader.Position()
			return nil
		}
		b.Next = l.reader.Position()
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

// add appends the record to b, if the codec finds a row in it.
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

// errNothingYet says that the prefetcher has nothing ready.
var errNothingYet = errors.New("nothing fetched yet")

// nextChunk gives the reader the next record set, for which it waits if b has not got on at all.
func (l *lane) nextChunk(ctx context.Context, b *pipeline.Batch) error {
	if l.failure != nil {
		return l.failure
	}
	l.recycle()
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
		b.First, b.Next = c.from, c.from // a gap that whoever keeps positions sees
	}
	return nil
}

// recycle lets go of the set that has been read, and of what it was decompressed to.
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

// release lets go of a buffer, which may be nil.
func (l *lane) release(b *buffer) {
	if b != nil {
		l.g.memory.put(b, maxKeptFetch*l.maxBytes)
	}
}

// countDecoded counts what has been decompressed as part of the memory for answers, without waiting for it.
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
