package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/pprof"
	"sync"
	"time"
)

// slot is a batch on its way through a lane, with the transform whose output lives as long as the batch.
type slot struct {
	batch     Batch
	transform Transform
	output    Output
	err       error // of the transform

	rows, bytes int64 // of the batch as read; a transform may take rows out of it
}

// laneRun is one lane being run: a reading and a parsing goroutine, and the caller's, which writes.
type laneRun struct {
	lane Lane
	id   LaneID
	w    Writer
	opts Options

	free, read, parsed chan *slot
	readErr            error // set before read is closed

	dirty   bool      // positions have been written since the last commit
	oldest  time.Time // when the first of them was
	rolling *time.Timer
}

// runLane implements the function that a Source calls for every lane.
func (r *runner) runLane(ctx context.Context, lane Lane) error {
	id := lane.ID()
	w, next, err := r.sink.Open(ctx, id)
	if err != nil {
		r.fail(fmt.Errorf("%s: sink: %w", id, err))
		return nil
	}
	r.opts.Stats.laneStarted(id)
	defer r.opts.Stats.laneEnded(id)
	if err := lane.Start(ctx, next); err != nil {
		return errors.Join(err, w.Abandon())
	}
	l := &laneRun{lane: lane, id: id, w: w, opts: r.opts}
	sourceErr, fault := l.run(ctx)
	var row *RowError // names its lane itself
	switch {
	case fault == nil || errors.Is(context.Cause(ctx), ErrLaneLost):
	case errors.Is(fault, ErrLaneLost):
		return errors.Join(sourceErr, fault)
	case errors.As(fault, &row):
		r.fail(fault)
	default:
		r.fail(fmt.Errorf("%s: %w", id, fault))
	}
	return sourceErr
}

// run moves batches until the lane ends. It returns the source's error and any other fault.
func (l *laneRun) run(ctx context.Context) (sourceErr, fault error) {
	ctx, cancel := context.WithCancel(ctx)
	n := l.opts.Buffers
	l.free, l.read, l.parsed = make(chan *slot, n), make(chan *slot, n), make(chan *slot, n)
	for range n {
		s := &slot{transform: l.opts.NewTransform()}
		s.batch.MaxRows, s.batch.MaxBytes = l.opts.BatchRows, l.opts.BatchBytes
		l.free <- s
	}
	l.rolling = time.NewTimer(time.Hour)
	l.rolling.Stop()
	var stages sync.WaitGroup
	stages.Go(func() { inStage(ctx, "consume", l.readAll) })
	stages.Go(func() { inStage(ctx, "parse", l.parseAll) })
	inStage(ctx, "encode", func(ctx context.Context) { fault = l.writeAll(ctx) })
	lost := ctx.Err() != nil
	cancel()
	stages.Wait()
	if fault != nil || lost {
		if err := l.w.Abandon(); err != nil {
			fault = errors.Join(fault, fmt.Errorf("abandoning uncommitted rows: %w", err))
		}
	}
	// A cancellation is the doing of whoever owns the context, and known there.
	if errors.Is(fault, context.Canceled) {
		fault = nil
	}
	if !errors.Is(l.readErr, io.EOF) && !errors.Is(l.readErr, context.Canceled) {
		sourceErr = l.readErr
	}
	return sourceErr, fault
}

// inStage runs a stage, whose goroutines CPU profiles tell by the label "stage".
func inStage(ctx context.Context, name string, f func(context.Context)) {
	pprof.Do(ctx, pprof.Labels("stage", name), f)
}

func (l *laneRun) readAll(ctx context.Context) {
	defer close(l.read)
	for {
		var s *slot
		select {
		case s = <-l.free:
		case <-ctx.Done():
			l.readErr = ctx.Err()
			return
		}
		if err := l.lane.Next(ctx, &s.batch); err != nil {
			l.readErr = err
			return
		}
		s.batch.Lane = l.id
		l.read <- s // never blocks: there are as many places as slots
	}
}

func (l *laneRun) parseAll(ctx context.Context) {
	defer close(l.parsed)
	for s := range l.read {
		if ctx.Err() != nil {
			return
		}
		s.rows, s.bytes = int64(s.batch.Len()), s.batch.size()
		s.output, s.err = s.transform.Apply(&s.batch)
		l.parsed <- s
		if s.err != nil {
			return
		}
	}
}

// writeAll writes and commits until the lane ends, and commits what is left then. It returns with
// uncommitted rows only together with an error or when ctx was cancelled.
func (l *laneRun) writeAll(ctx context.Context) error {
	for {
		select {
		case s, ok := <-l.parsed:
			if !ok {
				return l.commit(ctx)
			}
			if err := l.write(ctx, s); err != nil {
				return err
			}
			l.free <- s
		case <-l.rolling.C:
			if err := l.commit(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// write hands the output of a slot to the sink, and commits where a limit is reached or the policy stops
// the lane.
func (l *laneRun) write(ctx context.Context, s *slot) error {
	span := Span{s.batch.First, s.batch.Next}
	var stop *RowError
	if s.err != nil {
		if !errors.As(s.err, &stop) {
			return s.err
		}
		span.Next = stop.Offset
	}
	for _, t := range [...]Table{DeadLetters, Rows} {
		if r := s.output.Records[t]; r != nil {
			if err := l.w.Write(ctx, t, r, span); err != nil {
				return fmt.Errorf("writing %s: %w", t, err)
			}
		}
	}
	if !l.dirty {
		l.dirty, l.oldest = true, time.Now()
		if l.opts.Roll.Every > 0 {
			l.rolling.Reset(l.opts.Roll.Every)
		}
	}
	l.opts.Stats.add(s)
	if stop != nil {
		return errors.Join(l.commit(ctx), stop)
	}
	if l.full() {
		return l.commit(ctx)
	}
	return nil
}

func (l *laneRun) full() bool {
	size, roll := l.w.Size(), l.opts.Roll
	return roll.Rows > 0 && size.Rows >= roll.Rows ||
		roll.Bytes > 0 && size.Bytes >= roll.Bytes ||
		roll.Every > 0 && time.Since(l.oldest) >= roll.Every
}

// commit makes durable what was written, and acknowledges it only then.
func (l *laneRun) commit(ctx context.Context) error {
	if !l.dirty || ctx.Err() != nil {
		return nil
	}
	l.rolling.Stop()
	size, start := l.w.Size(), time.Now()
	next, err := l.w.Commit(ctx)
	if err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	l.dirty = false
	l.opts.Stats.committed(size, time.Since(start))
	if err := l.lane.Acknowledge(ctx, next); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the rows before offset %d are durable, but acknowledging them failed: %w", next, err)
	}
	return nil
}
