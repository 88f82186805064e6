package kafka

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/pipeline"
)

// deleteTopic has a topic deleted.
func deleteTopic(t *testing.T, client *kgo.Client, name string) {
	t.Helper()
	req := kmsg.NewPtrDeleteTopicsRequest()
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = &name
	req.Topics, req.TopicNames = append(req.Topics, topic), append(req.TopicNames, name)
	resp, err := req.RequestWith(t.Context(), client)
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// remake deletes a topic and makes another one of its name.
func remake(t *testing.T, addrs []string, topic string) {
	t.Helper()
	client := kafkatest.Client(t, addrs)
	deleteTopic(t, client, topic)
	req := kmsg.NewPtrCreateTopicsRequest()
	made := kmsg.NewCreateTopicsRequestTopic()
	made.Topic, made.NumPartitions, made.ReplicationFactor = topic, 1, 1
	req.Topics = append(req.Topics, made)
	for deadline := time.Now().Add(waitLimit); ; {
		resp, err := req.RequestWith(t.Context(), client)
		if err == nil {
			err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
		}
		if err == nil {
			break
		}
		if time.Now().After(deadline) { // a real cluster needs a moment to forget it
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// TestTopicRecreated reads 100 records, and then the topic is another one, which has more of them.
func TestTopicRecreated(t *testing.T) {
	noLeaks(t)
	for name, opts := range map[string][]kfake.Opt{
		"by ID":           nil,
		"fetched by name": {kfake.MaxVersions(kversion.V2_8_0())}, // fetches by ID came with 3.1
		"without IDs":     {kfake.MaxVersions(kversion.V2_7_0())},
	} {
		another := name == "without IDs"
		for _, running := range []bool{false, true} {
			if running && another {
				continue // the addresses of a process stay
			}
			t.Run(fmt.Sprintf("%s, running %t", name, running), func(t *testing.T) {
				k := kafkatest.Fake(t, append(opts, kfake.SeedTopics(1, "t"), kfake.ClusterID("one"))...)
				then := k
				if another {
					then = kafkatest.Fake(t, append(opts, kfake.SeedTopics(1, "t"), kfake.ClusterID("two"))...)
				}
				// Fetched by its name, a topic that is replaced and full within a moment is not told from the old one.
				filled := !running || name == "by ID"
				recreated(t, k.ListenAddrs(), then.ListenAddrs(), quick(k.ListenAddrs(), "t"), running, filled)
			})
		}
	}
}

// recreated reads a topic, has it replaced by one with more records or an empty one, and reads that one, at other brokers
// perhaps.
func recreated(t *testing.T, addrs, then []string, o Options, running, filled bool) {
	topic := o.Topics[0]
	kafkatest.Produce(t, kafkatest.Client(t, addrs), numbered(topic, 1, 0, 100))
	c := newCollector(t)
	c.marks = map[pipeline.LaneID]pipeline.Mark{}
	source := newSource(t, o)
	source.watch = 100 * time.Millisecond
	run := startSource(t, source, c)
	c.awaitRows(100)
	if !running {
		run.stop()
	}
	fill := func() { kafkatest.Produce(t, kafkatest.Client(t, then), numbered(topic, 1, 100, 250)) }
	if addrs[0] == then[0] {
		remake(t, addrs, topic)
	}
	if filled {
		fill()
	}
	o.Brokers = then
	if !running {
		run = startRun(t, o, c)
	}
	err := run.wait()
	var is *RecreatedError
	if !errors.As(err, &is) || is.Was == is.Now || is.Position != 100 {
		t.Errorf("ended with %#v", err)
	}
	expectError(t, err, topic+"/0: this is not the topic", "offset 100", "on_recreated: restart", "an output")
	if len(c.rows) != 100 {
		t.Errorf("%d rows were read before it was noticed", len(c.rows))
	}
	c.ended = nil
	if !filled {
		fill()
	}
	o.OnRecreated = PolicyRestart
	run = startRun(t, o, c)
	c.awaitRows(250)
	run.stop()
	kafkatest.Produce(t, kafkatest.Client(t, then), numbered(topic, 1, 250, 260))
	o.OnRecreated = PolicyStop // it has been accepted
	run = startRun(t, o, c)
	c.awaitRows(260)
	run.stop()
	if repeated := c.expectAll(topic, 260); repeated != 0 {
		t.Errorf("%d rows twice", repeated)
	}
	first := pipeline.LaneID{Stream: topic}
	second := pipeline.LaneID{Stream: topic, Session: parseIdentity(c.spans[len(c.spans)-1].Of).session()}
	if len(c.marks) != 2 || c.marks[first].Next != 100 || c.marks[second].Next != 160 || c.marks[first].Of == c.marks[second].Of {
		t.Errorf("positions: %+v", c.marks)
	}
}

// TestTopicRecreatedRestarts has the policy known to a process that runs, and then the topic made anew twice.
func TestTopicRecreatedRestarts(t *testing.T) {
	noLeaks(t)
	for _, keeps := range []bool{true, false} { // the sink keeps positions
		k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
		kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", 1, 0, 100))
		c := newCollector(t)
		if keeps {
			c.marks = map[pipeline.LaneID]pipeline.Mark{}
		}
		o := quick(k.ListenAddrs(), "t")
		o.OnRecreated, o.Start = PolicyRestart, StartEarliest
		run := startRun(t, o, c)
		c.awaitRows(100)
		remake(t, k.ListenAddrs(), "t")
		kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", 1, 100, 250))
		c.awaitRows(250)
		remake(t, k.ListenAddrs(), "t")
		kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", 1, 250, 500))
		c.awaitRows(500)
		run.stop()
		if repeated := c.expectAll("t", 500); repeated != 0 {
			t.Errorf("%d rows twice", repeated)
		}
		if keeps && len(c.marks) != 3 {
			t.Errorf("positions: %+v", c.marks)
		}
		if got := kafkatest.Committed(t, kafkatest.Client(t, k.ListenAddrs()), "g", "t", 0); got != 250 {
			t.Errorf("the group has committed %d", got)
		}
	}
}

// TestIdentityIsTakenOver reads on for an output that was written when identities were not recorded, and for one that knows
// the cluster alone.
func TestIdentityIsTakenOver(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"), kfake.ClusterID("one"))
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", 1, 0, 100))
	for _, of := range []string{"", "one"} {
		c := newCollector(t)
		lane := pipeline.LaneID{Stream: "t"}
		c.marks = map[pipeline.LaneID]pipeline.Mark{lane: {Next: 40, Of: of}}
		o := quick(k.ListenAddrs(), "t")
		o.Group += of
		run := startRun(t, o, c)
		c.awaitRows(60)
		run.stop()
		if is := parseIdentity(c.marks[lane].Of); is.cluster != "one" || is.topic == [16]byte{} || len(c.marks) != 1 {
			t.Errorf("after %q: %+v", of, c.marks)
		}
	}
}

func TestIdentity(t *testing.T) {
	id, other := [16]byte{1, 255, 254}, [16]byte{2}
	for _, i := range []identity{{}, {cluster: "c"}, {cluster: "a/b c"}, {"c", id}, {"a/b", id}, {"", id}} {
		if back := parseIdentity(i.String()); back != i {
			t.Errorf("%+v became %+v", i, back)
		}
	}
	for _, c := range []struct {
		a, b identity
		same bool
	}{
		{identity{}, identity{"c", id}, true},
		{identity{cluster: "c"}, identity{"c", id}, true},
		{identity{"c", id}, identity{"c", id}, true},
		{identity{"c", id}, identity{"c", other}, false},
		{identity{"c", id}, identity{"d", id}, false},
		{identity{cluster: "c"}, identity{"d", id}, false},
	} {
		if c.a.same(c.b) != c.same || c.b.same(c.a) != c.same {
			t.Errorf("%+v and %+v: want %t", c.a, c.b, c.same)
		}
	}
	if s := (identity{"c", id}).session(); len(s) != 12 || s == (identity{"c", other}).session() {
		t.Error(s)
	}
}

// TestPositionFails ends the run when the sink cannot say how far it is.
func TestPositionFails(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	source := newSource(t, quick(k.ListenAddrs(), "t"))
	source.Resume(failing{})
	expectError(t, startSource(t, source, newCollector(t)).wait(), "the disk is gone")
}

type failing struct{}

func (failing) Position(context.Context, pipeline.LaneID) (pipeline.Mark, error) {
	return pipeline.Mark{}, errors.New("the disk is gone")
}
