package generate

import (
	"context"
	"io"
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
)

// Stream is the stream of the source's lanes.
const Stream = "generate"

const (
	// checkEvery is after how many records Next looks whether it is to stop.
	checkEvery = 256
	// shortestWait keeps a limited rate from waking the lane for every single record.
	shortestWait = 5 * time.Millisecond
	// longestWait is after how long a lane looks whether there is another rate.
	longestWait = time.Second
	// longestDebt bounds what is made up for after the pipeline had to wait.
	longestDebt = time.Second
)

// Source is a pipeline source of generated records. Make one with New.
type Source struct {
	o     Options
	m     *model
	codec codec.Factory
	made  atomic.Int64
	rate  atomic.Uint64 // bits of a float64: records a second
}

// New returns a source of the records that the options describe, read by a codec as if they came from elsewhere, or
// what Validate has to say about the options.
func New(o Options, f codec.Factory) (*Source, error) {
	m, err := newModel(o)
	if err != nil {
		return nil, err
	}
	s := &Source{o: o.withDefaults(), m: m, codec: f}
	s.SetRate(o.Rate)
	return s, nil
}

// SetRate implements [pipeline.Rated]. It replaces [Options.Rate].
func (s *Source) SetRate(rate float64) { s.rate.Store(math.Float64bits(rate)) }

// Count implements [pipeline.Counter]. Progress is in records that were handed out, or passed over because a sink has them
// already.
func (s *Source) Count(c *pipeline.Counts) {
	c.Progress = &pipeline.Progress{Done: s.made.Load(), Total: s.o.Records}
}

// Run implements [pipeline.Source].
func (s *Source) Run(ctx context.Context, drain <-chan struct{}, each func(context.Context, pipeline.Lane) error) error {
	select {
	case <-drain:
		return nil
	default:
	}
	lanes, inLanes := errgroup.WithContext(ctx)
	for i := range s.o.Lanes {
		l := &lane{source: s, id: pipeline.LaneID{Stream: Stream, Partition: int32(i)}, drain: drain, end: s.records(i)}
		lanes.Go(func() error { return sources.Taken(each(inLanes, l), "source.generate", "making the same records") })
	}
	if err := lanes.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// records returns how many records lane i has, -1 for no end.
func (s *Source) records(i int) int64 {
	if s.o.Records == 0 {
		return -1
	}
	n := int64(s.o.Lanes)
	return (s.o.Records - int64(i) + n - 1) / n
}

// lane generates the records of one lane.
type lane struct {
	source *Source
	id     pipeline.LaneID
	drain  <-chan struct{}
	end    int64 // -1: none
	g      *Generator
	codec  codec.Codec
	buf    []byte

	// rate, began and paid say how far the lane may go: paid records since began.
	rate  float64
	began time.Time
	paid  int64
}

// ID implements [pipeline.Lane].
func (l *lane) ID() pipeline.LaneID { return l.id }

// Start implements [pipeline.Lane].
func (l *lane) Start(_ context.Context, next int64) error {
	l.g = l.source.m.generator(int(l.id.Partition), l.source.o.Lanes)
	l.g.SetPosition(max(next, 0))
	l.source.made.Add(l.g.Position())
	l.codec = l.source.codec.New()
	return nil
}

// Acknowledge implements [pipeline.Lane]. There is nothing to remember: every record can be made again.
func (l *lane) Acknowledge(context.Context, int64) error { return nil }

// Wait implements [pipeline.Waiter]: it waits until the rate allows for a record.
func (l *lane) Wait(ctx context.Context) {
	_, _ = l.wait(ctx) // an error shows again in Next
}

// Next implements [pipeline.Lane].
func (l *lane) Next(ctx context.Context, b *pipeline.Batch) error {
	b.Reset()
	l.codec.Prepare(b)
	b.Lane, b.First, b.Next = l.id, l.g.Position(), l.g.Position()
	if err := pipeline.Stopped(ctx, l.drain); err != nil {
		return err
	}
	if l.end >= 0 && b.First >= l.end {
		return io.EOF
	}
	due, err := l.wait(ctx)
	if err != nil {
		return err
	}
	for !b.Full() && due > 0 && b.Next != l.end {
		l.add(b)
		due--
		if b.Next%checkEvery == 0 && pipeline.Stopped(ctx, l.drain) != nil {
			break
		}
	}
	l.paid += b.Next - b.First
	l.source.made.Add(b.Next - b.First)
	return nil
}

func (l *lane) add(b *pipeline.Batch) {
	l.buf = l.g.Append(l.buf[:0])
	if l.codec.Decode(b, l.buf) {
		b.Offsets = append(b.Offsets, b.Next)
		b.Timestamps = append(b.Timestamps, l.g.Truth().Timestamp)
	}
	b.Next++
}

// wait waits until the rate allows for a record, and returns for how many it does.
func (l *lane) wait(ctx context.Context) (due int64, err error) {
	const unlimited = 1 << 62
	for {
		rate := math.Float64frombits(l.source.rate.Load()) / float64(l.source.o.Lanes)
		if rate == 0 {
			l.rate = 0
			return unlimited, nil
		}
		if rate != l.rate {
			l.rate, l.began, l.paid = rate, time.Now(), 0
		}
		allowed := time.Since(l.began).Seconds() * rate
		if debt := allowed - float64(l.paid) - rate*longestDebt.Seconds(); debt > 1 {
			l.began = l.began.Add(time.Duration(debt / rate * float64(time.Second)))
			allowed -= debt
		}
		if due := int64(allowed) - l.paid; due > 0 {
			return due, nil
		}
		missing := time.Duration((float64(l.paid+1) - allowed) / rate * float64(time.Second))
		timer := time.NewTimer(min(max(missing, shortestWait), longestWait))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return 0, context.Cause(ctx)
		case <-l.drain:
			timer.Stop()
			return 0, io.EOF
		}
	}
}
