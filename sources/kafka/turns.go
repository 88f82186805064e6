package kafka

import (
	"context"
	"sync"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

const (
	// maxFetches bounds the fetches that one broker is asked for at the same time, and with that the
	// connections to it, for kafka-go's transport sends one request at a time on each.
	maxFetches = 64
	// maxCommits bounds the requests about offsets to the group's coordinator.
	maxCommits = 16
	// minWait is what brokers are given at least to wait for records, however many lanes there are.
	minWait = 10 * time.Millisecond
	// noBroker stands for the leader of a partition that has not been asked yet.
	noBroker = -1
)

// places bounds how many goroutines do something at the same time: as many as it has capacity.
type places chan struct{}

// enter waits for a place; leave is to follow if there is no error.
func (p places) enter(ctx context.Context) error {
	select {
	case p <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p places) leave() { <-p }

// turns lets the lanes of a run take turns at fetching. Which broker leads a partition is known from its last fetch alone:
// until then, and after a fetch that failed before a broker was chosen, lanes share the places of noBroker. A leader that has
// moved since costs one fetch that is counted at the old broker.
type turns struct {
	mu      sync.Mutex
	lanes   int
	leaders map[pipeline.LaneID]int32 // of partitions, as of their last fetch
	brokers map[int32]places          // for each leader; kept for the run
}

func newTurns() *turns {
	return &turns{leaders: make(map[pipeline.LaneID]int32), brokers: make(map[int32]places)}
}

// begin says how many lanes there are from now on, and forgets who led their partitions.
func (t *turns) begin(lanes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lanes = lanes
	clear(t.leaders)
}

// take waits until the leader of a partition may be asked once more. If there is no error, the caller has to call done once,
// with the broker that was asked. A broker that does not answer holds up only the lanes that it leads.
func (t *turns) take(ctx context.Context, id pipeline.LaneID) (done func(leader int32), err error) {
	t.mu.Lock()
	leader, known := t.leaders[id]
	if !known {
		leader = noBroker
	}
	at := t.brokers[leader]
	if at == nil {
		at = make(places, maxFetches)
		t.brokers[leader] = at
	}
	t.mu.Unlock()
	if err := at.enter(ctx); err != nil {
		return nil, err
	}
	return func(leader int32) {
		at.leave() // of the broker that was expected to lead, also if another one was asked
		t.mu.Lock()
		defer t.mu.Unlock()
		t.leaders[id] = leader
	}, nil
}

// wait returns how long a broker may wait for records, so that every lane has its turn within most: with twice as many lanes
// as places, half of it.
func (t *turns) wait(most time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lanes <= maxFetches {
		return most
	}
	return min(most, max(minWait, most*maxFetches/time.Duration(t.lanes)))
}
