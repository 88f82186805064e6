package pipeline

import (
	"context"
	"runtime/pprof"
	"sync"
)

// stage is what a goroutine is doing.
type stage int

const (
	consuming stage = iota
	parsing
	encoding
	numStages
)

// stageLabels are the labels "stage" by which CPU profiles are divided.
var stageLabels = [numStages]pprof.LabelSet{
	consuming: pprof.Labels("stage", "consume"),
	parsing:   pprof.Labels("stage", "parse"),
	encoding:  pprof.Labels("stage", "encode"),
}

// stages are contexts with the labels, made once: workers change their labels with every batch.
type stages [numStages]context.Context

func newStages() *stages {
	s := new(stages)
	for i, labels := range stageLabels {
		s[i] = pprof.WithLabels(context.Background(), labels)
	}
	return s
}

// enter sets what the calling goroutine is doing from now on.
func (s *stages) enter(at stage) { pprof.SetGoroutineLabels(s[at]) }

// task is something for a worker to do: a slot to parse, or else a lane that may have something to write.
type task struct {
	slot *slot
	lane *laneRun
}

// tasks is the queue of the workers: one entry a batch, first in, first out. What is in it is bounded by the slots
// and the lanes, so that adding to it never waits: a goroutine may add while it holds the mutex of a lane.
type tasks struct {
	mu     sync.Mutex
	some   sync.Cond
	queue  []task
	closed bool
}

func newTasks() *tasks {
	t := &tasks{}
	t.some.L = &t.mu
	return t
}

func (t *tasks) add(x task) {
	t.mu.Lock()
	t.queue = append(t.queue, x)
	t.mu.Unlock()
	t.some.Signal()
}

// next returns the next task, for which it waits, and false when the queue is closed and empty.
func (t *tasks) next() (task, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) == 0 {
		if t.closed {
			return task{}, false
		}
		t.some.Wait()
	}
	x := t.queue[0]
	t.queue[0] = task{} // the array may live on, and must not keep the slot alive
	t.queue = t.queue[1:]
	return x, true
}

func (t *tasks) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.some.Broadcast()
}

// work does tasks until the queue is closed.
func (t *tasks) work() {
	for {
		x, ok := t.next()
		switch {
		case !ok:
			return
		case x.slot != nil:
			x.slot.lane.parse(x.slot)
		default:
			x.lane.mu.Lock()
			x.lane.pump() // unlocks it
		}
	}
}
