package kafka

import (
	"context"
	"errors"
	"slices"
	"sync"
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
	k := kafkatest.Fake(t, kfake.SeedTopics(2, "t"))
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

// TestGhostLeaves has the coordinator hang up on a member until that joins under another name: the old one leaves the group, and
// holds up nobody for its session timeout, which is longer than the test.
func TestGhostLeaves(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(2, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 2, 0, 10))
	var mu sync.Mutex
	var old string
	var left []string
	hangUp := true
	k.ControlKey(int16(kmsg.Heartbeat), func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		if !hangUp {
			return nil, nil, false
		}
		old = r.(*kmsg.HeartbeatRequest).MemberID
		return nil, errors.New("hang up"), true
	})
	k.ControlKey(int16(kmsg.JoinGroup), func(kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		if old != "" && hangUp { // the rejoin is refused as well, so that the name is forgotten
			hangUp = false
			return nil, errors.New("hang up"), true
		}
		return nil, nil, false
	})
	k.ControlKey(int16(kmsg.LeaveGroup), func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		leave := r.(*kmsg.LeaveGroupRequest)
		left = append(left, leave.MemberID)
		for _, m := range leave.Members {
			left = append(left, m.MemberID)
		}
		return nil, nil, false
	})
	c := newCollector(t)
	run := startRun(t, quick(k.ListenAddrs(), "t"), c)
	c.await("the old name to leave", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return old != "" && slices.Contains(left, old)
	})
	kafkatest.Produce(t, client, numbered("t", 2, 10, 20))
	c.await("all rows", func() bool { return c.distinct() == 20 })
	run.stop()
}
