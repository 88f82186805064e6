package kafka

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/pipeline"
)

// TestHeartbeatsWhileDraining has a rebalance wait for lanes that take their time: meanwhile the member says that it is alive, as
// kafka-go does not, and what it then commits counts.
func TestHeartbeatsWhileDraining(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.NumBrokers(3), kfake.SeedTopics(2, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 2, 0, 10))
	c, other := newCollector(t), newCollector(t)
	release := make(chan struct{})
	c.hold = func(ctx context.Context, _ pipeline.LaneID) {
		select {
		case <-release:
		case <-ctx.Done():
		}
	}
	var joins, beats atomic.Int64
	k.ControlKey(int16(kmsg.JoinGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		joins.Add(1)
		return nil, nil, false
	})
	first := startRun(t, quick(k.ListenAddrs(), "t"), c)
	c.awaitRows(10)
	before := joins.Load()
	second := startRun(t, quick(k.ListenAddrs(), "t"), other)
	c.await("the second member to join", func() bool { return joins.Load() > before })
	k.ControlKey(int16(kmsg.Heartbeat), func(kmsg.Request) (kmsg.Response, error, bool) { // the second one has no place yet
		k.KeepControl()
		beats.Add(1)
		return nil, nil, false
	})
	c.await("heartbeats", func() bool { return beats.Load() > 10 })
	close(release)
	c.await("a lane each", func() bool { return len(first.source.Lags()) == 1 && len(second.source.Lags()) == 1 })
	first.stop()
	second.stop()
	if n := len(c.rows) + len(other.rows); n != 10 {
		t.Errorf("%d rows of 10 records: what the first member committed was lost", n)
	}
}
