package kafka

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/kafka/internal/recordbatch"
)

// lane is a partition in one generation of the group. It implements [pipeline.Lane].
//
// Three goroutines use it: the one that reads (Start, Wait, Next), the prefetcher, which the first one starts, and the
// pipeline's that calls Acknowledge. Each part says who owns it:
//
//   - assignment is constant, and every goroutine reads it;
//   - reading belongs to the goroutine that reads;
//   - [prefetcher] belongs to its own goroutine, and hands what it has fetched to reading through a channel;
//   - progress is written by all three, and guards itself;
//   - closed is set when the reading goroutine and the prefetcher have ended, for an Acknowledge that comes later.
//
// A prefetcher has no pointer to the lane or to reading, so it cannot reach what is not its own.
type lane struct {
	assignment
	reading
	progress
	closed atomic.Bool
}

// assignment is what a lane was given to read. It is constant once the lane is handed out: [generation.settle] sets id.Session,
// of and anew before that. Its methods ask brokers, and may be called from any goroutine.
type assignment struct {
	g        *generation
	id       pipeline.LaneID
	of       string // the topic's identity
	anew     bool   // what the group has committed is of another topic
	assigned int64  // committed offset as the assignment has it, negative for none
	maxBytes int    // of a fetch
	ctx      context.Context
	cancel   context.CancelFunc
}

// progress is what a lane shows of itself while it runs, to [Source.Lags] and [Source.Trouble]. They read it at any time, so each
// value is atomic or has a lock of its own, and no two belong together.
type progress struct {
	position      atomic.Int64 // set by the reader
	acknowledged  atomic.Int64 // set by the reader where the lane begins, and then by Acknowledge
	highWatermark atomic.Int64 // set by the prefetcher, as is lastStable
	lastStable    atomic.Int64

	fetchTrouble  trouble // the prefetcher's
	schemaTrouble trouble // the reader's, with what a record waits for
}

var (
	_ pipeline.Lane   = (*lane)(nil)
	_ pipeline.Waiter = (*lane)(nil)
	_ pipeline.Ender  = (*lane)(nil)
)

func newLane(g *generation, id pipeline.LaneID, assigned int64) *lane {
	l := &lane{assignment: assignment{g: g, id: id, assigned: assigned, maxBytes: g.session.opts.fetchBytes(g.lanes())}}
	l.ctx, l.cancel = context.WithCancel(g.ctx)
	l.reading = reading{
		assignment: &l.assignment, progress: &l.progress,
		codec:  g.source.codec.New(),
		reader: recordbatch.Reader{Decompressor: g.decompressor},
		chunks: make(chan chunk), damagedAt: -1, end: math.MaxInt64,
	}
	l.reader.Room = l.room
	l.resolver, _ = l.codec.(codec.Resolver)
	l.fetchTrouble.retries, l.schemaTrouble.retries = &g.source.retries, &g.source.retries
	for _, v := range []*atomic.Int64{&l.position, &l.acknowledged, &l.highWatermark, &l.lastStable} {
		v.Store(-1) // not known yet; 0 is an offset
	}
	if assigned >= 0 {
		l.acknowledged.Store(assigned)
	}
	return l
}

// close ends the prefetcher and gives the memory of the lane back. It is called when the function that ran the lane has
// returned, so that reading is the caller's; an acknowledgement that comes later must not land in another generation, and is
// refused.
func (l *lane) close() {
	l.closed.Store(true)
	l.cancel()
	l.stop()
}

// ID implements [pipeline.Lane].
func (a *assignment) ID() pipeline.LaneID { return a.id }

// Ending implements [pipeline.Ender].
func (a *assignment) Ending() <-chan struct{} { return a.g.ending }

// release gives back a buffer, which may be nil. The reader and the prefetcher both call it, each for buffers of its own.
func (a *assignment) release(b *buffer) {
	if b != nil {
		a.g.memory.put(b, maxKeptFetch*a.maxBytes)
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
