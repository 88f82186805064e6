package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/pipeline"
)

func TestMembersJoinAndLeave(t *testing.T) {
	noLeaks(t)
	const partitions = 6
	k := kafkatest.Fake(t, kfake.SeedTopics(partitions, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	c := newCollector(t) // of both members
	c.maxRows = 5
	produced := 0
	produce := func(n int) {
		kafkatest.Produce(t, client, numbered("t", partitions, produced, produced+n))
		produced += n
	}
	has := func(r *running, lanes int) func() bool {
		return func() bool { return len(r.source.Lags()) == lanes }
	}
	produce(300)
	first := startRun(t, quick(k.ListenAddrs(), "t"), c)
	c.await("all lanes with the first", has(first, partitions))
	produce(300)
	second := startRun(t, quick(k.ListenAddrs(), "t"), c)
	c.await("half of the lanes with the second", has(second, partitions/2))
	produce(300)
	c.await("half of the lanes with the first", has(first, partitions/2))
	first.stop()
	produce(300)
	c.await("all lanes with the second", has(second, partitions))
	produce(300)
	c.awaitRows(produced)
	second.stop()
	if repeated := c.expectAll("t", produced); repeated != 0 {
		t.Errorf("%d rows were read twice, though every lane drained", repeated)
	}
}

// TestSlowLaneIsLost has a lane that does not let go when the group rebalances.
func TestSlowLaneIsLost(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(2, "t"))
	opts := quick(k.ListenAddrs(), "t")
	opts.RebalanceTimeout = time.Second
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", 2, 0, 10))

	var lost atomic.Int32
	var held sync.Map
	c := newCollector(t)
	c.hold = func(ctx context.Context, id pipeline.LaneID) {
		if _, again := held.LoadOrStore(id, true); again {
			return // after the rebalance
		}
		<-ctx.Done()
		if errors.Is(context.Cause(ctx), pipeline.ErrLaneLost) {
			lost.Add(1)
		}
	}
	first := startRun(t, opts, c)
	c.awaitRows(10)
	other := newCollector(t)
	second := startRun(t, opts, other)
	// Nothing was acknowledged: all of it is read again, by whoever has the lanes now.
	c.await("all rows again", func() bool {
		other.mu.Lock()
		defer other.mu.Unlock()
		return len(c.rows)+len(other.rows) >= 20
	})
	// The group may have given them to others a moment before.
	c.await("both lanes are told that they are lost", func() bool { return lost.Load() == 2 })
	first.stop()
	second.stop()
}

// TestFencedCommitLosesLanes has the brokers refuse a commit, as they do after the member was given up.
func TestFencedCommitLosesLanes(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", 1, 0, 10))
	var refused atomic.Bool
	k.ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
		commit := req.(*kmsg.OffsetCommitRequest)
		if commit.Topics[0].Partitions[0].Offset != 10 || refused.Swap(true) {
			return nil, nil, false
		}
		resp := commit.ResponseKind().(*kmsg.OffsetCommitResponse)
		topic := kmsg.NewOffsetCommitResponseTopic()
		topic.Topic = "t"
		partition := kmsg.NewOffsetCommitResponseTopicPartition()
		partition.ErrorCode = kerr.UnknownMemberID.Code
		topic.Partitions = append(topic.Partitions, partition)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	var ackErr error
	var cause error
	lanes := 0
	drain := make(chan struct{})
	source := newSource(t, quick(k.ListenAddrs(), "t"))
	err := source.Run(context.Background(), drain, func(ctx context.Context, l pipeline.Lane) error {
		lanes++
		b := &pipeline.Batch{MaxRows: 100, MaxBytes: 1 << 20}
		if err := errors.Join(l.Start(ctx, pipeline.Unknown), l.Next(ctx, b)); err != nil {
			return err
		}
		if lanes == 1 {
			ackErr = l.Acknowledge(ctx, b.Next)
			cause = context.Cause(ctx)
			return nil
		}
		if b.First != 0 {
			t.Errorf("the next generation begins at %d, want 0: nothing was committed", b.First)
		}
		close(drain)
		return l.Acknowledge(ctx, b.Next)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(ackErr, pipeline.ErrLaneLost) || !errors.Is(cause, pipeline.ErrLaneLost) {
		t.Errorf("the acknowledgement returned %v, the context's cause is %v", ackErr, cause)
	}
	if lanes != 2 {
		t.Errorf("%d lanes", lanes)
	}
}

// TestStaleAcknowledgement acknowledges after the lane's function has returned, in a generation that still stands
// or in the next.
func TestStaleAcknowledgement(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 10))
	lanes := make(chan pipeline.Lane, 1)
	source := newSource(t, quick(k.ListenAddrs(), "t"))
	drain := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- source.Run(context.Background(), drain, func(ctx context.Context, l pipeline.Lane) error {
			err := l.Start(ctx, pipeline.Unknown)
			lanes <- l
			return err
		})
	}()
	lane := <-lanes
	for len(source.Lags()) > 0 {
		time.Sleep(time.Millisecond)
	}
	if err := lane.Acknowledge(context.Background(), 10); !errors.Is(err, pipeline.ErrLaneLost) {
		t.Errorf("acknowledged after the end: %v", err)
	}
	close(drain)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := kafkatest.Committed(t, client, "g", "t", 0); got != 0 {
		t.Errorf("committed %d, want 0, the start", got)
	}
}

// TestLaneErrorStopsRun has one lane fail: the other commits what it has read, and the run returns the error.
func TestLaneErrorStopsRun(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(2, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 2, 0, 10))
	broken := errors.New("broken")
	ready := make(chan struct{})
	source := newSource(t, quick(k.ListenAddrs(), "t"))
	err := source.Run(context.Background(), nil, func(ctx context.Context, l pipeline.Lane) error {
		if l.ID().Partition == 0 {
			<-ready
			return broken
		}
		b := &pipeline.Batch{MaxRows: 100, MaxBytes: 1 << 20}
		if err := errors.Join(l.Start(ctx, pipeline.Unknown), l.Next(ctx, b)); err != nil {
			return err
		}
		next := b.Next
		close(ready)
		if err := l.Next(ctx, b); !errors.Is(err, io.EOF) {
			t.Errorf("the other lane's Next returned %v, want io.EOF", err)
		}
		return l.Acknowledge(ctx, next)
	})
	if !errors.Is(err, broken) {
		t.Errorf("the run ended with %v", err)
	}
	if got := kafkatest.Committed(t, client, "g", "t", 1); got != 5 {
		t.Errorf("the other lane committed %d, want 5", got)
	}
}

// TestCommitSurvivesBrokenConnections has the coordinator hang up on commits.
func TestCommitSurvivesBrokenConnections(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 10))
	for range 3 {
		k.ControlKey(int16(kmsg.OffsetCommit), func(kmsg.Request) (kmsg.Response, error, bool) {
			return nil, errors.New("hang up"), true
		})
	}
	c := newCollector(t)
	run := startRun(t, quick(k.ListenAddrs(), "t"), c)
	c.awaitRows(10)
	run.stop()
	if got := kafkatest.Committed(t, client, "g", "t", 0); got != 10 {
		t.Errorf("committed %d, want 10", got)
	}
}

// TestLaneLostBySink has a sink that finds that somebody else has committed to a lane: the member joins anew, and goes
// on with all of its lanes.
func TestLaneLostBySink(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(2, "t"))
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", 2, 0, 10))
	source := newSource(t, quick(k.ListenAddrs(), "t"))
	c := newCollector(t)
	var fenced atomic.Bool
	ctx, drain, done := t.Context(), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- source.Run(ctx, drain, func(ctx context.Context, l pipeline.Lane) error {
			if l.ID().Partition == 1 && fenced.CompareAndSwap(false, true) {
				if err := l.Start(ctx, pipeline.Unknown); err != nil {
					return err
				}
				return fmt.Errorf("somebody was faster: %w", pipeline.ErrLaneLost)
			}
			return c.each(ctx, l)
		})
	}()
	c.await("all rows", func() bool { return c.distinct() == 10 })
	close(drain)
	if err := <-done; err != nil {
		t.Errorf("the run ended with %v", err)
	}
}
