// Package sample reads the first records of a source.
package sample

import (
	"context"
	"io"
	"sync"

	"github.com/urlmill/urlmill/pipeline"
)

// Limit is a source that ends after a number of records. It acknowledges nothing to the source below, and is no
// [pipeline.Wrapper]: a source that were told of the sink's positions would leave out what it has read before.
type Limit struct {
	source pipeline.Source
	full   chan struct{} // closed when nothing is left

	mu    sync.Mutex // held while a lane reads, so that the lanes do not read more than is left together
	left  int64
	lanes int64 // that gave records
}

// NewLimit returns a source of the first records of another one, one at least.
func NewLimit(source pipeline.Source, records int64) *Limit {
	return &Limit{source: source, full: make(chan struct{}), left: records}
}

// Reached reports whether the limit was reached.
func (l *Limit) Reached() bool {
	select {
	case <-l.full:
		return true
	default:
		return false
	}
}

// Lanes returns how many lanes have given records.
func (l *Limit) Lanes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lanes
}

// Run implements [pipeline.Source]. The lanes are drained when the limit is reached, as when drain is closed.
func (l *Limit) Run(ctx context.Context, drain <-chan struct{}, each func(context.Context, pipeline.Lane) error) error {
	soft, over := make(chan struct{}), make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-drain:
			close(soft)
		case <-l.full:
			close(soft)
		case <-over:
		}
	})
	defer waiting.Wait()
	defer close(over)
	return l.source.Run(ctx, soft, func(ctx context.Context, lane pipeline.Lane) error {
		return each(ctx, &limitedLane{Lane: lane, limit: l})
	})
}

// limitedLane is a lane of a [Limit].
type limitedLane struct {
	pipeline.Lane
	limit   *Limit
	counted bool // among limit.lanes
}

// Unwrap returns the lane that it reads from. That is drained at the limit, so that nothing waits for it.
func (l *limitedLane) Unwrap() pipeline.Lane { return l.Lane }

// Next implements [pipeline.Lane].
func (l *limitedLane) Next(ctx context.Context, b *pipeline.Batch) error {
	l.limit.mu.Lock()
	defer l.limit.mu.Unlock()
	if l.limit.left <= 0 {
		b.Reset()
		return io.EOF
	}
	usual := b.MaxRows
	b.MaxRows = int(min(int64(usual), l.limit.left))
	err := l.Lane.Next(ctx, b)
	b.MaxRows = usual
	if b.Len() > 0 && !l.counted {
		l.counted = true
		l.limit.lanes++
	}
	if l.limit.left -= int64(b.Len()); l.limit.left <= 0 {
		close(l.limit.full) // once, for nobody reads any more
	}
	return err
}

// Acknowledge implements [pipeline.Lane] and does nothing.
func (l *limitedLane) Acknowledge(context.Context, int64) error { return nil }
