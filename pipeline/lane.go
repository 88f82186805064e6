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
//
// The writer of the sink is used by one goroutine at a time without a lock being held: busy is that lock. A goroutine that
// finds it false under mu sets it and has the writer, and dirty, next and oldest with it, until it sets it to false under mu
// again. A goroutine that finds it true leaves what it has in the queue, instead of waiting: the one that has the writer looks
// there before it gives it up, so that nothing is forgotten.
//
//	pump          worker    sets busy, writes a slot without mu, clears busy, looks again
//	commitBeside  its own   gets the writer from pump, commits, clears busy, and queues the lane for a worker
//	onTime        timer     touches the writer only where busy is false, under mu
//	finish        reader    waits for the queue to be empty and busy to be false, and then keeps the writer for good
type laneRun struct {
	*runner
	lane Lane
	id   LaneID
	w    Writer

	ctx     context.Context // ends with the lane, and with its first fault
	cancel  context.CancelFunc
	permits chan struct{} // one for each batch that the lane may have in flight

	mu    sync.Mutex
	still sync.Cond // the queue is empty, and busy is false
	queue []*slot   // read and not written, in order
	busy  bool      // a goroutine has the writer, and what is below
	due   bool      // the time to commit has come
	fault error     // the first one

	dirty   bool      // positions have been written since the last commit
	next    int64     // the one after those
	oldest  time.Time // when the first of them was written
	rolling *time.Timer
}

// runLane implements the function that a Source calls for every lane. It returns the errors of the source, and of the sink
// only that the lane is lost, about which the source has to do something; other faults drain all lanes by fail.
func (r *runner) runLane(ctx context.Context, lane Lane) error {
	id := lane.ID()
	w, next, err := r.sink.Open(ctx, id)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) { // its owner has cancelled it, and knows why
			return nil
		}
		return r.blame(ctx, id, fmt.Errorf("sink: %w", err))
	}
	r.opts.Stats.laneStarted(id, next)
	defer r.opts.Stats.laneEnded(id)
	if err := lane.Start(ctx, next); err != nil {
		return errors.Join(err, w.Abandon())
	}
	l := &laneRun{runner: r, lane: lane, id: id, w: w, permits: make(chan struct{}, r.opts.Buffers)}
	l.still.L = &l.mu
	sourceErr, fault := l.run(ctx)
	return errors.Join(sourceErr, r.blame(ctx, id, fault))
}

// blame drains all lanes over a fault of the sink or the transform. It returns one that says that the lane is lost, for the source.
func (r *runner) blame(ctx context.Context, id LaneID, fault error) error {
	var row *RowError // names its lane itself
	switch {
	case fault == nil || errors.Is(context.Cause(ctx), ErrLaneLost): // faults follow from the loss, which the source knows
	case errors.Is(fault, ErrLaneLost): // the sink found out first
		return fault
	case errors.As(fault, &row):
		r.fail(fault)
	default:
		r.fail(fmt.Errorf("%s: %w", id, fault))
	}
	return nil
}

// run moves batches until the lane ends. It returns the source's error and any other fault. When it returns, no other goroutine
// uses the source's lane or its writer any more.
func (l *laneRun) run(ctx context.Context) (sourceErr, fault error) {
	l.ctx, l.cancel = context.WithCancel(ctx)
	defer l.cancel()
	l.rolling = time.AfterFunc(time.Hour, l.onTime) // armed by write, when there is something to commit
	l.rolling.Stop()
	readErr := l.readAll()
	l.finish()
	l.rolling.Stop()
	fault = l.fault // without mu: finish keeps busy set, and only a goroutine that has the writer sets a fault
	if fault != nil || ctx.Err() != nil {
		if err := l.w.Abandon(); err != nil {
			fault = errors.Join(fault, fmt.Errorf("abandoning uncommitted rows: %w", err))
		}
	} else if f, ok := As[Finisher](l.w); ok {
		fault = f.Finish()
	}
	// The owner of the context has cancelled it, and knows why.
	if errors.Is(fault, context.Canceled) {
		fault = nil
	}
	if !errors.Is(readErr, io.EOF) && !errors.Is(readErr, context.Canceled) {
		sourceErr = readErr
	}
	return sourceErr, fault
}

// readAll reads until the lane ends or has failed. The permit is taken before the slot: slots are shared by all lanes, and a
// lane that may not have another batch must not hold one while it waits.
func (l *laneRun) readAll() error {
	waiter, _ := As[Waiter](l.lane)
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
		l.queue = append(l.queue, s) // before a worker can see it: pump writes in the order of this queue
		l.mu.Unlock()
		l.tasks.add(task{slot: s})
	}
}

// parse runs the transform of a slot, and goes on to write what has its turn then. It is called by a worker, with slots of
// one lane in no order: a slot whose turn has not come waits in the queue, and its transform's memory with it.
func (l *laneRun) parse(s *slot) {
	if l.ctx.Err() == nil { // a slot of a lane that has ended is only given back
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

// pump writes what has its turn, and starts a commit when it is time, unless another goroutine has the writer: that one does
// this as well. It is called with l.mu locked, and returns with it unlocked.
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
			l.busy = true // for commitBeside, to which the writer goes over
			go l.commitBeside()
			return
		case len(l.queue) == 0 || !l.queue[0].parsed: // the worker that parses the first one calls pump when it is done
			l.rest()
			return
		}
		s := l.queue[0]
		l.queue = l.queue[:copy(l.queue, l.queue[1:])] // in place: it has at most Buffers entries, and never grows anew
		l.busy = true
		l.mu.Unlock()
		err := l.write(s)
		l.release(s) // the output aliases the transform's memory, which the sink has copied from
		l.mu.Lock()
		l.busy = false
		l.failed(err)
		l.due = l.due || l.dirty && l.full()
	}
}

// rest wakes finish if there is nothing left to do. It is called with l.mu locked.
func (l *laneRun) rest() {
	if len(l.queue) == 0 && !l.busy {
		l.still.Broadcast()
	}
}

// drop gives back the slots that are not going to be written. A worker may be at those that are not parsed yet; parse calls
// pump when it is through, and that drops them. It is called with l.mu locked.
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

// release gives a slot back, and with it the permit to read another batch.
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

// onTime is called by the timer when the oldest row has waited long enough: without it, a lane that gets no further records
// would never commit its last ones. The timer may be of a commit that has been made meanwhile, so everything is looked at.
func (l *laneRun) onTime() {
	l.mu.Lock()
	// A goroutine that has the writer has due and dirty as well, and looks at the time when it is through.
	if l.busy || !l.dirty || !l.full() {
		l.mu.Unlock()
		return
	}
	l.due = true
	l.pump()
}

// commitBeside commits and hands the lane back to the workers. It has the writer. It does not call pump itself: encoding is
// for the workers, of which there are as many as cores, and there may be a goroutine like this for each lane.
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

// finish waits for what is on its way, and commits what is left if nothing has failed. It leaves busy set, so that neither a
// timer that fires late nor an entry that is still in the queue of the workers touches the writer.
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

// write hands the output of a slot to the sink, and commits where the policy stops the lane. Its caller has the writer.
func (l *laneRun) write(s *slot) error {
	span := Span{First: s.batch.First, Next: s.batch.Next, Of: s.batch.Of}
	var stop *RowError
	if s.err != nil {
		if !errors.As(s.err, &stop) {
			return s.err
		}
		span.Next = stop.Offset // the output has the rows before it
	}
	if l.dirty && span.First > l.next { // positions are left out, and a commit that covers them would not say so
		if err := l.commit(); err != nil {
			return err
		}
	}
	l.next = span.Next
	l.stages.enter(encoding)
	start := time.Now()
	for _, t := range [...]Table{DeadLetters, Rows} { // the order that Writer.Write promises to sinks
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

// full reports whether a limit of the roll is reached, or the sink asks for a commit. It uses the writer: its caller has it,
// or holds l.mu while busy is false.
func (l *laneRun) full() bool {
	size, roll := l.w.Size(), l.opts.Roll
	return size.Full || roll.Rows > 0 && size.Rows >= roll.Rows ||
		roll.Bytes > 0 && size.Bytes >= roll.Bytes ||
		roll.Every > 0 && time.Since(l.oldest) >= roll.Every
}

// commitInTurn commits when fewer than maxCommits lanes do. Its caller has the writer. A lane that ends while it waits commits
// nothing, which is no fault: run abandons what was written.
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

// commit makes durable what was written, and acknowledges it only then: the position that the sink returns is the only one
// that the source is ever given. Its caller has the writer.
//
// An acknowledgement that fails because the lane has ended meanwhile is no fault: the rows are durable. A sink that keeps
// positions says so at the next start; with another one the source reads them again.
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
