package pipelinetest

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/urlmill/urlmill/pipeline"
)

// Lane is a lane of records in memory.
type Lane struct {
	Name    pipeline.LaneID
	Records []string // record i has position Base+i
	Base    int64
	// PerBatch bounds the records of a batch; 0: as many as the batch takes.
	PerBatch int
	// FailAt, when positive, makes Next fail with Err once as many records have been read.
	FailAt int
	Err    error
	// AckErr is returned by Acknowledge.
	AckErr error
	// Endless makes the lane wait for a drain after its last record instead of ending.
	Endless bool

	mu    sync.Mutex
	acked []int64

	drain <-chan struct{}
	pos   int
}

// ID implements pipeline.Lane.
func (l *Lane) ID() pipeline.LaneID { return l.Name }

// Start implements pipeline.Lane.
func (l *Lane) Start(_ context.Context, next int64) error {
	l.pos = 0
	if next != pipeline.Unknown {
		l.pos = int(next - l.Base)
	} else if acked := l.Acked(); len(acked) > 0 {
		l.pos = int(acked[len(acked)-1] - l.Base)
	}
	return nil
}

// Wait implements pipeline.Waiter.
func (l *Lane) Wait(ctx context.Context) {
	if l.pos == len(l.Records) && l.Endless {
		select {
		case <-l.drain:
		case <-ctx.Done():
		}
	}
}

// Next implements pipeline.Lane.
func (l *Lane) Next(ctx context.Context, b *pipeline.Batch) error {
	b.Reset()
	select {
	case <-l.drain:
		return io.EOF
	default:
	}
	if l.FailAt > 0 && l.pos >= l.FailAt {
		return l.Err
	}
	if l.pos == len(l.Records) {
		if !l.Endless {
			return io.EOF
		}
		select {
		case <-l.drain:
			return io.EOF
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	b.First = l.Base + int64(l.pos)
	for l.pos < len(l.Records) && !b.Full() && (l.PerBatch == 0 || b.Len() < l.PerBatch) {
		b.URLs.Append([]byte(l.Records[l.pos]))
		b.Offsets = append(b.Offsets, l.Base+int64(l.pos))
		l.pos++
	}
	b.Next = l.Base + int64(l.pos)
	return nil
}

// Acknowledge implements pipeline.Lane.
func (l *Lane) Acknowledge(_ context.Context, next int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.AckErr != nil {
		return l.AckErr
	}
	l.acked = append(l.acked, next)
	return nil
}

// Acked returns the positions acknowledged so far, in order.
func (l *Lane) Acked() []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]int64(nil), l.acked...)
}

// Source hands out lanes in memory.
type Source struct {
	Lanes []*Lane
	// Lose, when closed, takes all lanes away: their contexts are cancelled with pipeline.ErrLaneLost.
	Lose <-chan struct{}
}

// Run implements pipeline.Source.
func (s *Source) Run(ctx context.Context, drain <-chan struct{}, each func(context.Context, pipeline.Lane) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-s.Lose:
			cancel(pipeline.ErrLaneLost)
		case <-ended:
		}
	})
	var (
		lanes sync.WaitGroup
		mu    sync.Mutex
		errs  []error
	)
	for _, lane := range s.Lanes {
		lane.drain = drain
		lanes.Go(func() {
			if err := each(ctx, lane); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	lanes.Wait()
	close(ended)
	watch.Wait()
	return errors.Join(errs...)
}
