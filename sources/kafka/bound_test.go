package kafka

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/pipeline"
)

// startBounded runs a source that ends at a time, or at what there is.
func startBounded(t *testing.T, o Options, until time.Time, c *collector) *running {
	t.Helper()
	s := newSource(t, o)
	s.EndAt(until)
	return startSource(t, s, c)
}

// readsUntil runs a bounded source to its end, and checks how many rows it reads.
func readsUntil(t *testing.T, o Options, until time.Time, want int) *collector {
	t.Helper()
	c := newCollector(t)
	c.gaps = true
	if err := startBounded(t, o, until, c).wait(); err != nil {
		t.Fatal(err)
	}
	if len(c.rows) != want {
		t.Fatalf("%d rows, want %d", len(c.rows), want)
	}
	return c
}

func TestUntilEnd(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t)
	untilEnd(t, k.ListenAddrs(), quick(k.ListenAddrs(), "until"))
}

// untilEnd reads a topic with an empty partition in steps: each run ends with what there was at its start, also where that is
// nothing, and commits it.
func untilEnd(t *testing.T, addrs []string, o Options) {
	client := kafkatest.Client(t, addrs)
	kafkatest.CreateTopic(t, client, "until", 3)
	readsUntil(t, o, time.Time{}, 0)
	kafkatest.Produce(t, client, numbered("until", 2, 0, 100))
	c := newCollector(t)
	var late sync.Once
	c.maxRows, c.hold = 10, func(context.Context, pipeline.LaneID) { // one batch is read: what comes now came after the start
		late.Do(func() { kafkatest.Produce(t, client, numbered("until", 3, 100, 160)) })
	}
	if err := startBounded(t, o, time.Time{}, c).wait(); err != nil {
		t.Fatal(err)
	}
	c.expectAll("until", 100)
	for p, want := range []int64{50, 50, 0} {
		if got := kafkatest.Committed(t, client, o.Group, "until", int32(p)); got != want {
			t.Errorf("partition %d is committed up to %d, want %d", p, got, want)
		}
	}
	readsUntil(t, o, time.Time{}, 60)
	readsUntil(t, o, time.Time{}, 0)
	latest := o
	latest.Group, latest.Start = o.Group+"latest", StartLatest
	readsUntil(t, latest, time.Time{}, 0)
	kafkatest.Produce(t, client, numbered("until", 3, 160, 190))
	readsUntil(t, latest, time.Time{}, 30)
}

func TestUntilTime(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t)
	untilTime(t, k.ListenAddrs(), quick(k.ListenAddrs(), "times.until"))
}

// untilTime ends each partition before its first record of a time or later, and one that has none such at its end.
func untilTime(t *testing.T, addrs []string, o Options) {
	client := kafkatest.Client(t, addrs)
	kafkatest.CreateTopic(t, client, "times.until", 2)
	base := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	var records []*kgo.Record
	for i, second := range []int{0, 1, 5, 2, 6, 7} { // the record of second 2 comes behind one of second 5
		records = append(records, &kgo.Record{Topic: "times.until", Value: fmt.Append(nil, i), Timestamp: base.Add(time.Duration(second) * time.Second)})
	}
	for i := range 3 {
		records = append(records, &kgo.Record{Topic: "times.until", Partition: 1, Value: fmt.Append(nil, "old", i), Timestamp: base})
	}
	kafkatest.Produce(t, client, records)
	readsUntil(t, o, base.Add(4500*time.Millisecond), 2+3)
	readsUntil(t, o, base.Add(4500*time.Millisecond), 0)
	readsUntil(t, o, base.Add(5*time.Second+time.Nanosecond), 2) // a fraction of a millisecond leaves nothing out
	readsUntil(t, o, time.Time{}, 2)
}

func TestUntilEndOfTransactions(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t)
	untilEndOfTransactions(t, k.ListenAddrs(), quick(k.ListenAddrs(), "until.transactions"))
}

// untilEndOfTransactions ends behind markers and behind what was aborted, and before an open transaction.
func untilEndOfTransactions(t *testing.T, addrs []string, o Options) {
	topic := o.Topics[0]
	client := kafkatest.Client(t, addrs)
	kafkatest.CreateTopic(t, client, topic, 1)
	w := newWriter(t, addrs, topic, "w")
	w.write(5, 100)
	w.end(kgo.TryCommit)
	awaitMarkers(t, client, topic)
	readsUntil(t, o, time.Time{}, 5) // the last offset is a marker
	w.write(4, 100)
	w.end(kgo.TryAbort)
	awaitMarkers(t, client, topic)
	readsUntil(t, o, time.Time{}, 0) // nothing but what was aborted
	kafkatest.Produce(t, client, numbered(topic, 1, 0, 3))
	w.write(2, 100)
	kafkatest.Produce(t, client, numbered(topic, 1, 3, 6))
	readsUntil(t, o, time.Time{}, 3) // the rest is behind an open transaction
	w.end(kgo.TryCommit)
	awaitMarkers(t, client, topic)
	readsUntil(t, o, time.Time{}, 5)
}

// awaitMarkers waits for the markers of a transaction that has ended: a broker answers before it has written them.
func awaitMarkers(t *testing.T, client *kgo.Client, topic string) {
	t.Helper()
	end := func(isolation int8) int64 {
		req := kmsg.NewPtrListOffsetsRequest()
		req.ReplicaID, req.IsolationLevel = -1, isolation
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Timestamp = latestTime
		of := kmsg.NewListOffsetsRequestTopic()
		of.Topic, of.Partitions = topic, append(of.Partitions, p)
		req.Topics = append(req.Topics, of)
		resp, err := req.RequestWith(context.Background(), client)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Topics[0].Partitions[0].Offset
	}
	for committed := int8(1); end(committed) < end(0); {
		time.Sleep(10 * time.Millisecond)
	}
}

// TestUntilEndOfHoles checks that a lane ends of which the log has no records before its end any more, while the log says that it
// goes on; and that its position stays where it is.
func TestUntilEndOfHoles(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 10))
	// The end is looked up as 12, as if there had been two more records, and so are the answers to fetches.
	k.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		r := req.(*kmsg.ListOffsetsRequest)
		if r.Topics[0].Partitions[0].Timestamp != latestTime {
			return nil, nil, false
		}
		resp := r.ResponseKind().(*kmsg.ListOffsetsResponse)
		p := kmsg.NewListOffsetsResponseTopicPartition()
		p.Offset = 12
		topic := kmsg.NewListOffsetsResponseTopic()
		topic.Topic, topic.Partitions = "t", append(topic.Partitions, p)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	k.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		r := req.(*kmsg.FetchRequest)
		asked := r.Topics[0]
		if asked.Partitions[0].FetchOffset < 10 {
			return nil, nil, false
		}
		resp := r.ResponseKind().(*kmsg.FetchResponse)
		p := kmsg.NewFetchResponseTopicPartition()
		p.HighWatermark, p.LastStableOffset, p.RecordBatches = 12, 12, []byte{}
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID, topic.Partitions = asked.Topic, asked.TopicID, append(topic.Partitions, p)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	readsUntil(t, quick(k.ListenAddrs(), "t"), time.Time{}, 10)
	if got := kafkatest.Committed(t, client, "g", "t", 0); got != 10 {
		t.Errorf("committed up to %d, want 10", got)
	}
}

// TestUntilEndOfDeleted checks that a lane ends all of whose records retention has deleted meanwhile.
func TestUntilEndOfDeleted(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 10))
	kafkatest.Commit(t, client, "g", "t", 0, 3)
	kafkatest.DeleteBefore(t, client, "t", 0, 10)
	o := quick(k.ListenAddrs(), "t")
	o.OnTruncated = PolicySkip
	readsUntil(t, o, time.Time{}, 0)
	o.OnTruncated = PolicyStop
	c := newCollector(t)
	if err := startBounded(t, o, time.Time{}, c).wait(); err == nil {
		t.Error("no error for records that were never read")
	}
}

// TestUntilBehindTheLog checks that a position behind the end of the log is an error, and not an end.
func TestUntilBehindTheLog(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 10))
	c := newCollector(t)
	c.start = func(pipeline.LaneID) int64 { return 20 }
	if err := startBounded(t, quick(k.ListenAddrs(), "t"), time.Time{}, c).wait(); err == nil {
		t.Error("no error")
	}
}

func TestUntilEndOfMembers(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t)
	untilEndOfMembers(t, k.ListenAddrs(), quick(k.ListenAddrs(), "until.members"))
}

// untilEndOfMembers has three members read two partitions: each ends when its own are done, and one that has none at once.
func untilEndOfMembers(t *testing.T, addrs []string, o Options) {
	topic := o.Topics[0]
	client := kafkatest.Client(t, addrs)
	kafkatest.CreateTopic(t, client, topic, 2)
	kafkatest.Produce(t, client, numbered(topic, 2, 0, 2000))
	c := newCollector(t)
	c.maxRows, c.gaps = 50, true
	runs := []*running{startBounded(t, o, time.Time{}, c), startBounded(t, o, time.Time{}, c), startBounded(t, o, time.Time{}, c)}
	for _, r := range runs {
		if err := r.wait(); err != nil {
			t.Error(err)
		}
	}
	c.expectAll(topic, 2000)
	for p := range int32(2) {
		if got := kafkatest.Committed(t, client, o.Group, topic, p); got != 1000 {
			t.Errorf("partition %d is committed up to %d", p, got)
		}
	}
}

// TestUntilIsStopped checks that a drain ends a bounded run early, and that the next one goes on.
func TestUntilIsStopped(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", 1, 0, 1000))
	c := newCollector(t)
	c.maxRows = 10
	run := startBounded(t, quick(k.ListenAddrs(), "t"), time.Time{}, c)
	c.awaitRows(20)
	run.stop()
	read := len(c.rows)
	readsUntil(t, quick(k.ListenAddrs(), "t"), time.Time{}, 1000-read)
}
