package kafka

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// roll runs three members of a group, restarts one after the other while records come, and returns how many lanes were handed
// out to those that were not restarted meanwhile, which is one for each time that one of their partitions was stopped and began
// again. Members have a name in the group if named says so.
func roll(t *testing.T, k *kafkatest.Cluster, topic string, named bool) (interrupted int, moved []pipeline.LaneID) {
	const members, partitions = 3, 6
	k.CreateTopic(t, topic, partitions)
	client := k.Client(t)
	produced := 0
	produce := func() {
		kafkatest.Produce(t, client, numbered(topic, partitions, produced, produced+60))
		produced += 60
	}
	var rows []row
	runs, collectors := make([]*running, members), make([]*collector, members)
	start := func(i int) {
		o := realOptions(t, k, topic)
		if named {
			o.InstanceID = fmt.Sprint("mill-", i)
		}
		runs[i] = startRun(t, o, collectors[i])
	}
	for i := range members {
		collectors[i] = newCollector(t)
		start(i)
	}
	own := func(i int) []pipeline.LaneID {
		var ids []pipeline.LaneID
		for _, l := range runs[i].source.Lags() {
			ids = append(ids, l.Lane)
		}
		return ids
	}
	settled := func() bool {
		return !slices.ContainsFunc([]int{0, 1, 2}, func(i int) bool { return len(own(i)) != partitions/members })
	}
	collectors[0].await("two partitions each", settled)
	for i := range members {
		produce()
		before := own(i)
		handed := make([]int, members)
		for j, c := range collectors {
			c.mu.Lock()
			handed[j] = c.lanes
			c.mu.Unlock()
		}
		runs[i].stop()
		produce()
		start(i)
		collectors[i].await("two partitions each again", settled)
		produce() // without a name, others may have read all that came meanwhile
		collectors[i].await("records", func() bool { return len(collectors[i].rows) > 0 })
		for _, id := range own(i) {
			if !slices.Contains(before, id) {
				moved = append(moved, id)
			}
		}
		for j, c := range collectors {
			c.mu.Lock()
			if j != i {
				interrupted += c.lanes - handed[j]
			}
			c.mu.Unlock()
		}
	}
	all := func() bool {
		rows = rows[:0]
		for _, c := range collectors {
			c.mu.Lock()
			rows = append(rows, c.rows...)
			c.mu.Unlock()
		}
		return len(rows) >= produced
	}
	for limit := time.Now().Add(waitLimit); !all(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%d of %d rows", len(rows), produced)
		}
	}
	for _, r := range runs {
		r.stop()
	}
	sum := newCollector(t)
	sum.rows = rows
	if repeated := sum.expectAll(topic, produced); repeated != 0 {
		t.Errorf("%d rows twice", repeated)
	}
	return interrupted, moved
}

// TestRollingRestart restarts three members one by one at Apache Kafka: those with instance IDs come back to their partitions, and
// the others read on.
func TestRollingRestart(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Start(t, kafkatest.Options{})
	t.Run("with instance_id", func(t *testing.T) {
		interrupted, moved := roll(t, k, "static", true)
		t.Logf("partitions of other members that stopped: %d, that moved: %d", interrupted, len(moved))
		if interrupted != 0 || len(moved) != 0 {
			t.Errorf("partitions of other members that stopped: %d, that moved: %v", interrupted, moved)
		}
	})
	t.Run("without", func(t *testing.T) { // what it would cost, for the documentation
		interrupted, moved := roll(t, k, "dynamic", false)
		t.Logf("partitions of other members that stopped: %d, that moved: %d", interrupted, len(moved))
		if interrupted == 0 {
			t.Error("no partition was stopped: the test tells nothing")
		}
	})
	t.Run("partitions added while all were away", func(t *testing.T) {
		k.CreateTopic(t, "grows", 2)
		client := k.Client(t)
		kafkatest.Produce(t, client, numbered("grows", 2, 0, 10))
		c := newCollector(t)
		start := func(name string) *running {
			o := realOptions(t, k, "grows")
			o.InstanceID = name
			source := newSource(t, o)
			source.watch = 200 * time.Millisecond
			return startSource(t, source, c)
		}
		runs := []*running{start("a"), start("b")}
		has := func() bool { return len(runs[0].source.Lags()) == len(runs[1].source.Lags()) }
		c.await("a partition each", func() bool { return len(runs[0].source.Lags()) == 1 && has() })
		c.awaitRows(10)
		for _, r := range runs {
			r.stop()
		}
		kafkatest.AddPartitions(t, client, "grows", 4)
		k.Produce(t, numbered("grows", 4, 10, 100)) // by a client that knows of them
		runs = []*running{start("a"), start("b")}
		c.awaitRows(100)
		c.await("two partitions each", func() bool { return len(runs[0].source.Lags()) == 2 && has() })
		for _, r := range runs {
			r.stop()
		}
		c.expectAll("grows", 100)
	})
	t.Run("the same name twice", func(t *testing.T) {
		k.CreateTopic(t, "twice", 1)
		o := realOptions(t, k, "twice")
		o.InstanceID = "mill"
		c := newCollector(t)
		first := startRun(t, o, c)
		c.await("a lane", func() bool { return len(first.source.Lags()) == 1 })
		others := newCollector(t)
		second := startRun(t, o, others)
		expectError(t, first.wait(), `another process has joined the group with instance_id "mill"`, "each process its own")
		others.await("the lane at the second", func() bool { return len(second.source.Lags()) == 1 })
		second.stop()
	})
}

// TestIdentityIsKept has the coordinator hang up on a member and refuse its next join: it joins again by the same name, since
// another one would leave the old one in the group until its session timeout.
func TestIdentityIsKept(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(2, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 2, 0, 10))
	var mu sync.Mutex
	var joins []string
	fenced := false
	k.ControlKey(int16(kmsg.Heartbeat), func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		if fenced {
			return nil, nil, false
		}
		fenced, joins = true, nil
		answer := r.ResponseKind().(*kmsg.HeartbeatResponse)
		answer.ErrorCode = 27 // a rebalance
		return answer, nil, true
	})
	k.ControlKey(int16(kmsg.JoinGroup), func(r kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		mu.Lock()
		defer mu.Unlock()
		joins = append(joins, r.(*kmsg.JoinGroupRequest).MemberID)
		if fenced && len(joins) == 1 {
			return nil, fmt.Errorf("hang up"), true
		}
		return nil, nil, false
	})
	c := newCollector(t)
	run := startRun(t, quick(k.ListenAddrs(), "t"), c)
	c.await("a second join", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return fenced && len(joins) >= 2
	})
	kafkatest.Produce(t, client, numbered("t", 2, 10, 20))
	c.await("all rows", func() bool { return c.distinct() == 20 })
	run.stop()
	if joins[0] == "" || joins[0] != joins[1] {
		t.Errorf("joins as %q", joins)
	}
}

// TestNearReplica reads from the followers in the own rack.
func TestNearReplica(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Start(t, kafkatest.Options{Brokers: 2, Racks: []string{"a", "b"}})
	const partitions = 4
	for rack, broker := range map[string]string{"a": "broker=1 leader=2", "b": "broker=2 leader=1"} {
		topic := "near-" + rack
		kafkatest.CreateReplicated(t, k.Client(t), topic, partitions, 2)
		k.Produce(t, numbered(topic, partitions, 0, 100))
		o := realOptions(t, k, topic)
		o.Rack, o.Group = rack, "group "+rack
		log := new(testproc.Log)
		source, err := New(o, codec.NewLines(codec.LinesOptions{}), slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		if err != nil {
			t.Fatal(err)
		}
		c := newCollector(t)
		run := startSource(t, source, c)
		c.awaitRows(100)
		k.Produce(t, numbered(topic, partitions, 100, 200))
		c.awaitRows(200)
		run.stop()
		if repeated := c.expectAll(topic, 200); repeated != 0 {
			t.Errorf("%d rows twice", repeated)
		}
		text := log.String()
		if n := strings.Count(text, "nearer than the leader"); n != partitions/2 || strings.Count(text, broker) != n {
			t.Errorf("rack %s: %d partitions are read from a nearer replica:\n%s", rack, n, text)
		}
	}
}
