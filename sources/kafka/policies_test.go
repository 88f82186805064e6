package kafka

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/pipeline"
)

func laneOf(topic string) pipeline.LaneID { return pipeline.LaneID{Stream: topic} }

// at returns a sink's positions.
func at(next int64) func(pipeline.LaneID) int64 {
	return func(pipeline.LaneID) int64 { return next }
}

func TestPositions(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t)
	positions(t, k.ListenAddrs(), quick(k.ListenAddrs(), "positions"))
}

// positions reads a topic whose log has the offsets 5 to 20, for a group that has committed 10, with sinks that are
// somewhere.
func positions(t *testing.T, addrs []string, o Options) {
	const topic = "positions"
	client := kafkatest.Client(t, addrs)
	kafkatest.CreateTopic(t, client, topic, 1)
	kafkatest.Produce(t, client, numbered(topic, 1, 0, 20))
	kafkatest.DeleteBefore(t, client, topic, 0, 5)
	group := o.Group
	for i, test := range []struct {
		sink                 int64
		onAhead, onTruncated string
		first                int64    // offset that is read first
		words                []string // of the error
	}{
		{sink: 10, first: 10},
		{sink: 12, first: 12}, // a crash after the sink's commit
		{sink: 20, first: 20},
		{sink: 7, words: []string{"committed offset 10, but the output ends at offset 7", "3 offsets", "on_group_ahead: rewind", "--to-offset 7", "on_group_ahead: skip"}},
		{sink: 7, onAhead: PolicyRewind, first: 7},
		{sink: 7, onAhead: PolicySkip, first: 10},
		{sink: 2, onAhead: PolicyRewind, words: []string{"offset 2 is out of range: the log has 5 up to 20", "deleted 3 offsets", "restore", "on_truncated: skip the lane goes on at offset 5"}},
		{sink: 2, onAhead: PolicyRewind, onTruncated: PolicySkip, first: 5},
		{sink: 2, onAhead: PolicySkip, first: 10},
		{sink: 25, words: []string{"offset 25 is out of range: the log has 5 up to 20", "created anew", "restore", "an output of its own"}},
		{sink: 25, onTruncated: PolicySkip, words: []string{"offset 25 is out of range"}},
		{sink: pipeline.Unknown, first: 10},
	} {
		t.Run(fmt.Sprintf("%d %s %s", test.sink, test.onAhead, test.onTruncated), func(t *testing.T) {
			o := o
			o.Group, o.OnAhead, o.OnTruncated = fmt.Sprint(group, i), test.onAhead, test.onTruncated
			kafkatest.Commit(t, client, o.Group, topic, 0, 10)
			c := newCollector(t)
			c.start = at(test.sink)
			run := startRun(t, o, c)
			if test.words != nil {
				expectError(t, run.wait(), test.words...)
				if got := kafkatest.Committed(t, client, o.Group, topic, 0); got != 10 {
					t.Errorf("the group has committed %d, want 10 as before", got)
				}
				if len(c.rows) > 0 {
					t.Errorf("%d rows were read", len(c.rows))
				}
				return
			}
			c.await("the end", func() bool {
				lags := run.source.Lags()
				return len(lags) == 1 && lags[0].Position == 20 && lags[0].HighWatermark == 20 && len(c.rows) == int(20-test.first)
			})
			run.stop()
			if got := kafkatest.Committed(t, client, o.Group, topic, 0); got != 20 {
				t.Errorf("the group has committed %d, and all of 20 records were read", got)
			}
			if rows := c.sorted(); len(rows) > 0 && (rows[0].offset != test.first || c.spans[0].First != test.first) {
				t.Errorf("began at %d, the first batch at %d, want %d", rows[0].offset, c.spans[0].First, test.first)
			}
		})
	}
}

func TestAheadErrorIsTyped(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 20))
	kafkatest.Commit(t, client, "g", "t", 0, 10)
	c := newCollector(t)
	c.start = at(3)
	var ahead *AheadError
	if err := startRun(t, quick(k.ListenAddrs(), "t"), c).wait(); !errors.As(err, &ahead) || ahead.Position != 3 || ahead.Committed != 10 {
		t.Errorf("ended with %v", err)
	}
}

// TestRetentionOvertakesLatest deletes what came after the offset that latest stood for, before the first fetch: latest
// is not asked again, as that would leave out what is still there.
func TestRetentionOvertakesLatest(t *testing.T) {
	noLeaks(t)
	for policy, words := range map[string][]string{PolicyStop: {"offset 10 is out of range: the log has 20 up to 30", "on_truncated: skip"}, PolicySkip: nil} {
		k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
		client := kafkatest.Client(t, k.ListenAddrs())
		kafkatest.Produce(t, client, numbered("t", 1, 0, 10))
		o := quick(k.ListenAddrs(), "t")
		o.Start, o.OnTruncated = StartLatest, policy
		var deleted atomic.Bool
		k.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			return nil, errors.New("hang up"), !deleted.Load()
		})
		c := newCollector(t)
		run := startRun(t, o, c)
		c.await("a lane that has begun", begunAt(run.source, 10))
		kafkatest.Produce(t, client, numbered("t", 1, 10, 30))
		kafkatest.DeleteBefore(t, client, "t", 0, 20)
		deleted.Store(true)
		if words != nil {
			expectError(t, run.wait(), words...)
			continue
		}
		c.awaitRows(10)
		run.stop()
		if rows := c.sorted(); len(rows) != 10 || rows[0].offset != 20 {
			t.Errorf("%d rows, the first is %+v", len(rows), rows[0])
		}
	}
}

// TestRetentionOvertakesReading deletes what is next while a lane reads: the gap is in the span of a batch.
func TestRetentionOvertakesReading(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 10))
	o := quick(k.ListenAddrs(), "t")
	o.OnTruncated = PolicySkip
	c := newCollector(t)
	c.gaps = true
	var deleted atomic.Bool
	k.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		if deleted.Load() || req.(*kmsg.FetchRequest).Topics[0].Partitions[0].FetchOffset < 10 {
			return nil, nil, false
		}
		return nil, errors.New("hang up"), true
	})
	run := startRun(t, o, c)
	c.awaitRows(10)
	kafkatest.Produce(t, client, numbered("t", 1, 10, 30))
	kafkatest.DeleteBefore(t, client, "t", 0, 20)
	deleted.Store(true)
	c.awaitRows(20)
	run.stop()
	rows := c.sorted()
	if n := len(c.spans); n < 2 || c.spans[n-1].Next != 30 || !slices.ContainsFunc(c.spans, func(s pipeline.Span) bool { return s.First == 20 }) {
		t.Errorf("no batch begins behind the gap: %+v", c.spans)
	}
	for _, s := range c.spans {
		if s.First < 20 && s.Next > 10 {
			t.Errorf("the batch %+v covers what was never read", s)
		}
	}
	if len(rows) != 20 || rows[10].offset != 20 {
		t.Errorf("%d rows, the 11th is %+v", len(rows), rows[10])
	}
}
