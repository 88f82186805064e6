package kafka

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/sources/codec"
)

// TestSample reads samples by every start policy, with a broker that fails the test at any request of a group.
func TestSample(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(2, "t"))
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", 2, 0, 100))
	asked := kafkatest.Count(k, nil, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.Heartbeat, kmsg.LeaveGroup, kmsg.OffsetCommit, kmsg.FindCoordinator, kmsg.OffsetFetch)
	for policy, want := range map[string]int{
		StartEarliest: 100, StartCommitted: 100, StartLatest: 20,
		time.Now().Add(time.Hour).UTC().Format(time.RFC3339): 0, time.Unix(0, 0).UTC().Format(time.RFC3339): 100,
	} {
		t.Run(policy, func(t *testing.T) {
			opts := quick(k.ListenAddrs(), "t")
			opts.Start = policy
			s, err := NewSample(opts, codec.NewLines(codec.LinesOptions{}), 10, testLog(t))
			if err != nil {
				t.Fatal(err)
			}
			c := newCollector(t)
			if err := s.Run(context.Background(), nil, c.each); err != nil {
				t.Fatal(err)
			}
			if len(c.rows) != want {
				t.Errorf("%d rows, want %d", len(c.rows), want)
			}
			for _, r := range c.rows {
				if policy == StartLatest && r.value < fmt.Sprintf("t-%07d", 80) {
					t.Errorf("%s is not among the last ones", r.value)
				}
			}
		})
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the broker was asked %d times about a group", n)
	}
}

// TestSampleEnds checks that a sample of a topic that nobody writes to ends, and one of a topic that is not there.
func TestSampleEnds(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(3, "empty"))
	opts := quick(k.ListenAddrs(), "empty")
	s, err := NewSample(opts, codec.NewLines(codec.LinesOptions{}), 10, testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	c := newCollector(t)
	if err := s.Run(context.Background(), nil, c.each); err != nil || len(c.rows) != 0 || c.lanes != 3 {
		t.Errorf("%d rows of %d lanes, %v", len(c.rows), c.lanes, err)
	}
	opts = quick(k.ListenAddrs(), "missing")
	opts.TopicTimeout = time.Millisecond
	if s, err = NewSample(opts, codec.NewLines(codec.LinesOptions{}), 10, testLog(t)); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), nil, c.each); err == nil {
		t.Error("no error for a topic that is not there")
	}
}
