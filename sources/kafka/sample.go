package kafka

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// Sample reads some records of every partition and leaves no trace: it is no member of the group, commits nothing, and
// knows nothing of what the group has committed. It implements [pipeline.Source] with lanes that begin by the start
// policy, latest being the last records that there are, and end at the offset that was the last one when they began.
type Sample struct {
	source *Source
	last   int64
}

// NewSample returns a source of samples, or every problem of opts. Of a partition whose start is latest it reads the last
// offsets, as many as last says. The number of records is not bounded: the caller ends the lanes when it has enough.
func NewSample(opts Options, factory codec.Factory, last int64, log *slog.Logger) (*Sample, error) {
	source, err := New(opts, factory, log)
	if err != nil {
		return nil, err
	}
	return &Sample{source: source, last: last}, nil
}

// Run implements [pipeline.Source].
func (s *Sample) Run(ctx context.Context, drain <-chan struct{}, each func(context.Context, pipeline.Lane) error) error {
	return s.source.run(ctx, drain, each, func(c *consumer) error { return s.read(ctx, drain, c) })
}

// read hands out the lanes of all partitions, in a generation that no group knows of: it has no GroupID, by which commitAll
// knows that nothing is to be committed.
func (s *Sample) read(ctx context.Context, drain <-chan struct{}, c *consumer) error {
	assignments := map[string][]kafkago.PartitionAssignment{}
	for topic, n := range c.known {
		for p := range n {
			assignments[topic] = append(assignments[topic], kafkago.PartitionAssignment{ID: p, Offset: -1})
		}
	}
	g := newGeneration(ctx, c, &kafkago.Generation{Assignments: assignments})
	defer g.cancel(nil)
	over := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-drain:
			g.end()
		case <-over:
		}
	})
	defer waiting.Wait()
	defer close(over)
	c.turns.begin(g.lanes())
	var lanes sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for topic, partitions := range assignments {
		for _, p := range partitions {
			l := &sampleLane{lane: newLane(g, pipeline.LaneID{Stream: topic, Partition: int32(p.ID)}, -1), last: s.last}
			lanes.Go(func() {
				err := handOut(c, l)
				mu.Lock()
				failed = errors.Join(failed, err)
				mu.Unlock()
			})
		}
	}
	lanes.Wait()
	return failed
}

// handOut runs a lane to its end.
func handOut(c *consumer, l *sampleLane) error {
	defer l.close()
	return c.each(l.ctx, l)
}

// sampleLane is a lane that ends, and of which the group does not hear.
type sampleLane struct {
	*lane
	last int64 // offsets to read at most, if the start is latest
}

// Start implements [pipeline.Lane]. The sink's position does not count.
func (l *sampleLane) Start(ctx context.Context, _ int64) error {
	committed := l.g.session.opts.Isolation == ReadCommitted
	var err error
	if l.end, err = l.resolve(ctx, start{timestamp: latestTime}, committed); err != nil {
		return err
	}
	from, err := l.resolve(ctx, start{timestamp: earliestTime}, committed)
	if err != nil {
		return err
	}
	switch policy := l.g.source.start; policy.timestamp {
	case earliestTime:
	case latestTime:
		from = max(from, l.end-l.last)
	default:
		if from, err = l.resolve(ctx, policy, committed); err != nil {
			return err
		}
	}
	l.origin = fromFirst // retention may move it on: a sample wants some records, not these
	l.position.Store(from)
	l.fetchFrom(from)
	return nil
}

// Acknowledge implements [pipeline.Lane] and commits nothing.
func (l *sampleLane) Acknowledge(context.Context, int64) error { return nil }
