package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// laneRun is one lane being run. The caller's goroutine reads; the workers parse its batches, side by side, and write
// them, in order and one at a time; commits have goroutines of their own, because they wait for the disk.
type laneRun struct {
	*runner
	lane Lane
	id   LaneID
	w    Writer

	ctx     context.Context // ends with the lane, and with its first fault
	cancel  context.CancelFunc
	permits chan struct{} // one for each batch that the lane may have in flight

	mu    sync.Mutex
	still sync.Cond // nothing is queued, and nobody has the writer
	queue []*slot   // read and not written, in order
	busy  bool      // somebody has the writer, and what is below
	due   bool      // the time to commit has come
	fault error     // the first one

	dirty   bool      // positions have been written since the last commit
	next    int64     // the one after those
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
	r.opts.Stats.laneStarted(id, next)
	defer r.opts.Stats.laneEnded(id)
	if err := lane.Start(ctx, next); err != nil {
		return errors.Join(err, w.Abandon())
	}
	l := &laneRun{runner: r, lane: lane, id: id, w: w, permits: make(chan struct{}, r.opts.Buffers)}
	l.still.L = &l.mu
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
	l.ctx, l.cancel = context.WithCancel(ctx)
	defer l.cancel()
	l.rolling = time.AfterFunc(time.Hour, l.onTime)
	l.rolling.Stop()
	readErr := l.readAll()
	l.finish()
	l.rolling.Stop()
	fault = l.fault
	if fault != nil || ctx.Err() != nil {
		if err := l.w.Abandon(); err != nil {
			fault = errors.Join(fault, fmt.Errorf("abandoning uncommitted rows: %w", err))
		}
	}
	// A cancellation is the doing of whoever owns the context, and known there.
	if errors.Is(fault, context.Canceled) {
		fault = nil
	}
	if !errors.Is(readErr, io.EOF) && !errors.Is(readErr, context.Canceled) {
		sourceErr = readErr
	}
	return sourceErr, fault
}

// readAll reads until the lane ends or has failed.
func (l *laneRun) readAll() error {
	waiter, _ := l.lane.(Waiter)
	for {
		if waiter != nil {
			waiter.Wait(l.ctx) // a lane that has nothing to read holds no memory
		}
		select {
		case l.permits <- struct{}{}:
		case <-l.ctx.Done():
			return l.ctx.Err()
		}
		s, err := l.slots.take(l.ctx)
		if err != nil {
			return err
		}
		if err := l.lane.Next(l.ctx, &s.batch); err != nil {
			l.slots.give(s)
			return err
		}
		s.batch.Lane, s.lane, s.read = l.id, l, time.Now()
		l.mu.Lock()
		l.opts.Stats.read(l.id, s.read)
		l.queue = append(l.queue, s)
		l.mu.Unlock()
		l.tasks.add(task{slot: s})
	}
}

// parse has the transform parse a slot, and goes on to write what has its turn then.
func (l *laneRun) parse(s *slot) {
	if l.ctx.Err() == nil {
		s.rows, s.bytes = int64(s.batch.Len()), s.batch.size()
		l.stages.enter(parsing)
		start := time.Now()
		s.output, s.err = s.transform.Apply(&s.batch)
		s.parsing = time.Since(start)
		l.opts.Stats.parsed(s.parsing)
	}
	l.mu.Lock()
	s.parsed = true
	l.pump()
}

// pump writes what has its turn, and has it committed when it is time, unless somebody is at it already: that one does
// the rest as well. It is called with l.mu locked, and returns with it unlocked.
func (l *laneRun) pump() {
	defer l.mu.Unlock()
	if l.busy {
		return
	}
	for {
		switch {
		case l.ctx.Err() != nil:
			l.drop()
			l.rest()
			return
		case l.due && l.dirty:
			l.busy = true
			go l.commitBeside()
			return
		case len(l.queue) == 0 || !l.queue[0].parsed:
			l.rest()
			return
		}
		s := l.queue[0]
		l.queue = l.queue[:copy(l.queue, l.queue[1:])]
		l.busy = true
		l.mu.Unlock()
		err := l.write(s)
		l.release(s)
		l.mu.Lock()
		l.busy = false
		l.failed(err)
		l.due = l.due || l.dirty && l.full()
	}
}

// rest tells whoever waits for it that there is nothing to do.
func (l *laneRun) rest() {
	if len(l.queue) == 0 && !l.busy {
		l.still.Broadcast()
	}
}

// drop lets go of the slots that are not going to be written. Those that are not parsed yet follow.
func (l *laneRun) drop() {
	left := l.queue[:0]
	for _, s := range l.queue {
		if s.parsed {
			l.release(s)
		} else {
			left = append(left, s)
		}
	}
	clear(l.queue[len(left):])
	l.queue = left
}

func (l *laneRun) release(s *slot) {
	l.slots.give(s)
	<-l.permits
}

// failed keeps the first fault, with which the lane ends. It is called with l.mu locked.
func (l *laneRun) failed(err error) {
	if err != nil && l.fault == nil {
		l.fault = err
		l.cancel()
	}
}

// onTime is called when the oldest row has waited long enough.
func (l *laneRun) onTime() {
	l.mu.Lock()
	// Whoever has the writer looks at the time when it is through.
	l.due = !l.busy && l.dirty && l.full()
	if !l.due {
		l.mu.Unlock()
		return
	}
	l.pump()
}

// commitBeside commits and hands the lane back to the workers. It has the writer.
func (l *laneRun) commitBeside() {
	err := l.commitInTurn()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = false
	l.failed(err)
	if len(l.queue) > 0 {
		l.tasks.add(task{lane: l})
	}
	l.rest()
}

// finish waits for what is on its way, and commits what is left if nothing has failed.
func (l *laneRun) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		l.drop()
	}
	for len(l.queue) > 0 || l.busy {
		l.still.Wait()
	}
	l.busy = true
	if l.fault == nil {
		l.mu.Unlock()
		err := l.commitInTurn()
		l.mu.Lock()
		l.failed(err)
	}
}

// write hands the output of a slot to the sink, and commits where the policy stops the lane.
func (l *laneRun) write(s *slot) error {
	span := Span{First: s.batch.First, Next: s.batch.Next, Of: s.batch.Of}
	var stop *RowError
	if s.err != nil {
		if !errors.As(s.err, &stop) {
			return s.err
		}
		span.Next = stop.Offset
	}
	if l.dirty && span.First > l.next { // positions are left out, and a commit that covers them would not say so
		if err := l.commit(); err != nil {
			return err
		}
	}
	l.next = span.Next
	l.stages.enter(encoding)
	start := time.Now()
	for _, t := range [...]Table{DeadLetters, Rows} {
		if r := s.output.Records[t]; r != nil {
			if err := l.w.Write(l.ctx, t, r, span); err != nil {
				return fmt.Errorf("writing %s: %w", t, err)
			}
		}
	}
	if !l.dirty && span.Next > span.First { // not if it stops at the first record
		l.dirty, l.oldest = true, start
		if l.opts.Roll.Every > 0 {
			l.rolling.Reset(l.opts.Roll.Every)
		}
	}
	l.opts.Stats.written(s, time.Since(start))
	if stop != nil {
		return errors.Join(l.commit(), stop)
	}
	return nil
}

func (l *laneRun) full() bool {
	size, roll := l.w.Size(), l.opts.Roll
	return size.Full || roll.Rows > 0 && size.Rows >= roll.Rows ||
		roll.Bytes > 0 && size.Bytes >= roll.Bytes ||
		roll.Every > 0 && time.Since(l.oldest) >= roll.Every
}

// commitInTurn commits when one of the places for that is free.
func (l *laneRun) commitInTurn() error {
	if !l.dirty {
		return nil
	}
	select {
	case l.commits <- struct{}{}:
	case <-l.ctx.Done():
		return nil
	}
	defer func() { <-l.commits }()
	return l.commit()
}

// commit makes durable what was written, and acknowledges it only then.
func (l *laneRun) commit() error {
	if !l.dirty || l.ctx.Err() != nil {
		return nil
	}
	l.stages.enter(encoding)
	l.rolling.Stop()
	size, start := l.w.Size(), time.Now()
	next, err := l.w.Commit(l.ctx)
	if err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	l.dirty, l.due = false, false
	l.countCommit(size, next, time.Since(start))
	if err := l.lane.Acknowledge(l.ctx, next); err != nil && l.ctx.Err() == nil {
		return fmt.Errorf("the rows before offset %d are durable, but acknowledging them failed: %w", next, err)
	}
	return nil
}

func (l *laneRun) countCommit(size Size, next int64, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var oldest time.Time
	if len(l.queue) > 0 {
		oldest = l.queue[0].read
	}
	l.opts.Stats.committed(l.id, size, next, oldest, took)
}
