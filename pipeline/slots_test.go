package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/pipelinetest"
)

// counting counts the batches that are in flight: a transform belongs to each.
type counting struct {
	pipelinetest.Transform
	made, working, most *atomic.Int32
}

func (c *counting) Apply(b *pipeline.Batch) (pipeline.Output, error) {
	n := c.working.Add(1)
	defer c.working.Add(-1)
	for {
		most := c.most.Load()
		if n <= most || c.most.CompareAndSwap(most, n) {
			break
		}
	}
	return c.Transform.Apply(b)
}

// However many lanes there are, they share the batches and the workers, and every lane comes to its end in order.
func TestLanesShareBatchesAndWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var made, working, most atomic.Int32
		opts := options(nil)
		opts.Workers = rapid.IntRange(1, 4).Draw(t, "workers")
		opts.Buffers = rapid.IntRange(1, 5).Draw(t, "buffers")
		opts.Batches = rapid.IntRange(1, 6).Draw(t, "batches")
		opts.NewTransform = func() pipeline.Transform {
			made.Add(1)
			return &counting{made: &made, working: &working, most: &most}
		}
		src := &pipelinetest.Source{}
		for p := range int32(rapid.IntRange(1, 40).Draw(t, "lanes")) {
			src.Lanes = append(src.Lanes, &pipelinetest.Lane{
				Name:     pipeline.LaneID{Stream: "t", Partition: p},
				Records:  records(fmt.Sprintf("p%d-", p), rapid.IntRange(0, 200).Draw(t, "records")),
				PerBatch: rapid.IntRange(1, 20).Draw(t, "per batch"),
			})
		}
		var sink pipelinetest.Sink
		if err := pipeline.Run(context.Background(), nil, src, &sink, opts); err != nil {
			t.Fatal(err)
		}
		for _, l := range src.Lanes {
			if got := sink.Committed(l.Name, pipeline.Rows); !slices.Equal(got, l.Records) {
				t.Fatalf("%s: %d rows of %d, or not in order", l.Name, len(got), len(l.Records))
			}
		}
		if n := int(made.Load()); n > opts.Batches {
			t.Fatalf("%d batches, %d allowed", n, opts.Batches)
		}
		if n := int(most.Load()); n > opts.Workers {
			t.Fatalf("%d batches were parsed at a time by %d workers", n, opts.Workers)
		}
	})
}

// Lanes that have nothing to read do not hold up the others, though there are more of them than batches.
func TestIdleLanesHoldNothing(t *testing.T) {
	src := &pipelinetest.Source{}
	for p := range int32(20) {
		l := &pipelinetest.Lane{Name: pipeline.LaneID{Stream: "idle", Partition: p}, Endless: true}
		src.Lanes = append(src.Lanes, l)
	}
	busy := lane(1000)
	busy.Endless = true
	src.Lanes = append(src.Lanes, busy)
	var sink pipelinetest.Sink
	opts := options(&pipelinetest.Transform{})
	opts.Batches, opts.Roll.Rows = 1, 100
	opts.Stats = new(pipeline.Stats)
	drain := make(chan struct{})
	done := make(chan error, 1)
	go func() { done <- pipeline.Run(t.Context(), drain, src, &sink, opts) }()
	for opts.Stats.Totals().Rows < 1000 {
		select {
		case err := <-done:
			t.Fatalf("ended with %v after %d rows", err, opts.Stats.Totals().Rows)
		case <-t.Context().Done():
			t.Fatal("the idle lanes hold the batches")
		default:
			time.Sleep(time.Millisecond)
		}
	}
	close(drain)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := sink.Committed(busy.Name, pipeline.Rows); !slices.Equal(got, busy.Records) {
		t.Errorf("%d rows", len(got))
	}
}

// huge is a transform that says to hold a lot once it has worked.
type huge struct {
	pipelinetest.Transform
	used bool
}

func (h *huge) Apply(b *pipeline.Batch) (pipeline.Output, error) {
	h.used = true
	return h.Transform.Apply(b)
}

func (h *huge) Memory() int64 {
	if h.used {
		return 1 << 40
	}
	return 0
}

// traced is a transform around another.
type traced struct{ pipeline.Transform }

func (t traced) Unwrap() pipeline.Transform { return t.Transform }

// A batch that has become larger than is planned for is let go of, also when something is put round its transform.
func TestLargeBatchesDoNotStay(t *testing.T) {
	for _, wrap := range []func(pipeline.Transform) pipeline.Transform{
		func(x pipeline.Transform) pipeline.Transform { return x },
		func(x pipeline.Transform) pipeline.Transform { return traced{x} },
	} {
		made := 0
		opts := options(nil)
		opts.Batches = 1
		opts.NewTransform = func() pipeline.Transform { made++; return wrap(new(huge)) }
		var sink pipelinetest.Sink
		l := lane(160)
		if err := pipeline.Run(t.Context(), nil, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{l}}, &sink, opts); err != nil {
			t.Fatal(err)
		}
		if made < 10 || len(sink.Committed(l.Name, pipeline.Rows)) != 160 {
			t.Errorf("%d batches were made for 10", made)
		}
	}
}

// meeting is a transform whose first batches wait for each other.
type meeting struct {
	pipelinetest.Transform
	here *atomic.Int32
	met  chan struct{}
}

func (m *meeting) Apply(b *pipeline.Batch) (pipeline.Output, error) {
	if m.here.Add(1) == 2 {
		close(m.met)
	}
	select {
	case <-m.met:
		return m.Transform.Apply(b)
	case <-time.After(time.Minute):
		return pipeline.Output{}, errors.New("no other batch of the lane is being parsed")
	}
}

// The batches of one lane, such as those of one large file, are parsed side by side, and written in their order.
func TestOneLaneIsParsedSideBySide(t *testing.T) {
	here, met := new(atomic.Int32), make(chan struct{})
	opts := options(nil)
	opts.Workers = 2
	opts.NewTransform = func() pipeline.Transform { return &meeting{here: here, met: met} }
	l := lane(1000)
	var sink pipelinetest.Sink
	if err := pipeline.Run(t.Context(), nil, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{l}}, &sink, opts); err != nil {
		t.Fatal(err)
	}
	if got := sink.Committed(l.Name, pipeline.Rows); !slices.Equal(got, l.Records) {
		t.Errorf("%d rows of %d, or not in order", len(got), len(l.Records))
	}
}
