// Package throttle bounds how many records a second a pipeline reads, over all lanes together.
//
// Backfills of a topic or a folder read as fast as they can, and take what others need of a broker, a disk or a network.
// A [Source] keeps one below a rate that can be changed while it runs.
package throttle

import (
	"context"
	"sync"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

// turn is how much of the rate a lane takes at a time: short enough for many lanes to get on side by side, and long
// enough for batches that are worth their while.
const turn = 250 * time.Millisecond

// Limiter hands out turns to read. Make one with New.
type Limiter struct {
	mu      sync.Mutex
	rate    float64       // records a second, 0 for no limit
	free    time.Time     // when the next turn begins
	changed chan struct{} // closed when the rate changes
}

// New returns a limiter of a number of records a second; 0 is no limit.
func New(rate float64) *Limiter { return &Limiter{rate: rate, changed: make(chan struct{})} }

// SetRate changes the rate, for those who wait as well. It may be called at any time.
func (l *Limiter) SetRate(rate float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rate, l.free = rate, time.Time{}
	close(l.changed)
	l.changed = make(chan struct{})
}

// take waits for a turn and returns how many records it has, 0 for as many as there are. It returns early when one of
// the channels is closed.
func (l *Limiter) take(done, drain, ending <-chan struct{}) (records int) {
	for {
		now := time.Now()
		l.mu.Lock()
		if l.rate == 0 {
			l.mu.Unlock()
			return 0
		}
		pause, changed := l.free.Sub(now), l.changed
		if pause <= 0 {
			records = max(1, int(l.rate*turn.Seconds()))
			if oldest := now.Add(-turn); l.free.Before(oldest) {
				l.free = oldest // what was missed is made up for, but not more than a turn
			}
			l.free = l.free.Add(l.cost(records))
			l.mu.Unlock()
			return records
		}
		l.mu.Unlock()
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
			continue
		case <-changed:
			timer.Stop()
			continue
		case <-done:
		case <-drain:
		case <-ending:
		}
		timer.Stop()
		return 1 // nobody reads them
	}
}

// giveBack takes records back that a turn had and did not read.
func (l *Limiter) giveBack(records int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rate > 0 {
		l.free = l.free.Add(-l.cost(records))
	}
}

// cost is how long records take. It is called with l.mu locked.
func (l *Limiter) cost(records int) time.Duration {
	return time.Duration(float64(records) / l.rate * float64(time.Second))
}

// Source is a source below the rate of a limiter.
type Source struct {
	source  pipeline.Source
	limiter *Limiter
}

// NewSource returns a source of the records of another one.
func NewSource(source pipeline.Source, l *Limiter) *Source { return &Source{source, l} }

// Unwrap returns the source that it reads from.
func (s *Source) Unwrap() pipeline.Source { return s.source }

// Run implements [pipeline.Source].
func (s *Source) Run(ctx context.Context, drain <-chan struct{}, each func(context.Context, pipeline.Lane) error) error {
	return s.source.Run(ctx, drain, func(ctx context.Context, inner pipeline.Lane) error {
		l := &lane{Lane: inner, limiter: s.limiter, drain: drain}
		l.waiter, _ = pipeline.As[pipeline.Waiter](inner)
		if e, ok := pipeline.As[pipeline.Ender](inner); ok {
			l.ending = e.Ending()
		}
		return each(ctx, l)
	})
}

// lane is a lane of a [Source].
type lane struct {
	pipeline.Lane
	waiter  pipeline.Waiter // nil: Next does not wait long
	limiter *Limiter
	drain   <-chan struct{}
	ending  <-chan struct{} // nil: only a drain ends it
	turn    int             // records that may be read; 0: any number
	mayRead bool            // Wait has taken a turn
}

// Unwrap returns the lane that it reads from.
func (l *lane) Unwrap() pipeline.Lane { return l.Lane }

// Wait implements [pipeline.Waiter]: for records, and then for a turn.
func (l *lane) Wait(ctx context.Context) {
	if l.mayRead {
		return
	}
	if l.waiter != nil {
		l.waiter.Wait(ctx)
	}
	l.turn = l.limiter.take(ctx.Done(), l.drain, l.ending)
	l.mayRead = true
}

// Next implements [pipeline.Lane].
func (l *lane) Next(ctx context.Context, b *pipeline.Batch) error {
	l.Wait(ctx)
	l.mayRead = false
	if l.turn == 0 {
		return l.Lane.Next(ctx, b)
	}
	usual := b.MaxRows
	b.MaxRows = min(usual, l.turn)
	err := l.Lane.Next(ctx, b)
	b.MaxRows = usual
	read := b.Len()
	if err != nil {
		read = 0
	}
	l.limiter.giveBack(l.turn - read)
	return err
}
