package pipeline

import (
	"context"
	"slices"
	"sync"
	"time"
)

// slot is a batch on its way through a lane, with the transform whose output lives as long as the batch. It has one owner at a
// time: the lane's reader from take to the queue, the worker that parses it, the goroutine that has the lane's writer, and
// the pool. Others only look at parsed and read, under the lane's mutex.
type slot struct {
	batch     Batch
	transform Transform
	lane      *laneRun // whose records it has

	// Set once parsed is.
	output Output
	err    error // of the transform

	rows, bytes int64         // of the batch as read; a transform may take rows out of it
	read        time.Time     // when it was
	parsing     time.Duration // that the transform has taken
	parsed      bool          // guarded by the lane's mutex
}

// memory returns the bytes that the slot holds.
func (s *slot) memory() int64 {
	n := s.batch.Memory()
	if t, ok := As[Holder](s.transform); ok {
		n += t.Memory()
	}
	return n
}

// slotPool lends slots to lanes, in the order in which they ask, and as many as Options.Batches at a time: that is
// what bounds the memory of all batches together, however many lanes there are. While a lane waits, no slot is idle and none
// may be made.
type slotPool struct {
	opts *Options

	mu      sync.Mutex
	idle    []*slot      // the last one back is the first to go: its memory is warm
	made    int          // idle and lent
	waiting []chan *slot // in the order in which they asked
}

// take returns a slot, for which it waits until ctx ends.
func (p *slotPool) take(ctx context.Context) (*slot, error) {
	p.mu.Lock()
	if s := p.next(); s != nil { // jumps no queue: no lane waits while there are any
		p.mu.Unlock()
		return s, nil
	}
	turn := make(chan *slot, 1) // with room for the slot, since give sends it under the lock
	p.waiting = append(p.waiting, turn)
	p.mu.Unlock()
	select {
	case s := <-turn:
		return s, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	i := slices.Index(p.waiting, turn)
	if i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
	p.mu.Unlock()
	if i < 0 { // give was faster: the slot is in turn, and would be lost
		p.give(<-turn)
	}
	return nil, ctx.Err()
}

// next returns an idle slot, or a new one if there may be more, or nil. It is called with p.mu locked.
func (p *slotPool) next() *slot {
	if n := len(p.idle); n > 0 {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return s
	}
	if p.made == p.opts.Batches {
		return nil
	}
	p.made++
	s := &slot{transform: p.opts.NewTransform()}
	s.batch.MaxRows, s.batch.MaxBytes = p.opts.BatchRows, p.opts.BatchBytes
	return s
}

// give takes a slot back and hands it to the lane that has waited longest. One that a few huge records have made larger than
// BatchMemory is left to the garbage collector, and a new one may be made in its place.
func (p *slotPool) give(s *slot) {
	s.lane, s.output, s.err, s.parsed = nil, Output{}, nil, false
	tooLarge := s.memory() > p.opts.BatchMemory // before the lock, as the slot is still the caller's
	p.mu.Lock()
	defer p.mu.Unlock()
	if tooLarge {
		p.made--
	} else {
		p.idle = append(p.idle, s)
	}
	for len(p.waiting) > 0 {
		s := p.next()
		if s == nil {
			return
		}
		p.waiting[0] <- s // has a place for it
		p.waiting = slices.Delete(p.waiting, 0, 1)
	}
}
