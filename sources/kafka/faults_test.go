package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
	"github.com/urlmill/urlmill/pipeline"
)

// expectError checks that err is there and says all of words.
func expectError(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

// inTrouble reports whether a source has failed at something and tries it again.
func inTrouble(s *Source) func() bool {
	return func() bool { _, err := s.failing(); return err != nil }
}

func TestMissingTopic(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "here"), kfake.AllowAutoTopicCreation())
	opts := quick(k.ListenAddrs(), "here", "gone")
	opts.TopicTimeout = 300 * time.Millisecond
	err := startRun(t, opts, newCollector(t)).wait()
	expectError(t, err, `topic ["gone"] does not exist on `+k.ListenAddrs()[0], "--create --topic gone")
}

func TestWaitsForTopic(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t)
	client := kafkatest.Client(t, k.ListenAddrs())
	opts := quick(k.ListenAddrs(), "t")
	opts.TopicTimeout = 0
	c := newCollector(t)
	asked := kafkatest.Count(k, func(r kmsg.Request) bool { return len(r.(*kmsg.MetadataRequest).Topics) > 0 }, kmsg.Metadata)
	run := startRun(t, opts, c)
	c.await("looked for the topic more than once", func() bool { return asked.Load() > 1 })
	kafkatest.CreateTopic(t, client, "t", 1)
	kafkatest.Produce(t, client, numbered("t", 1, 0, 5))
	c.awaitRows(5)
	run.stop()
}

func TestBrokerDownAtStart(t *testing.T) {
	noLeaks(t)
	port := testproc.Ports(t, 1)[0]
	addrs := []string{fmt.Sprintf("127.0.0.1:%d", port)}
	c := newCollector(t)
	run := startRun(t, quick(addrs, "t"), c)
	c.await("trouble", inTrouble(run.source))
	k := kafkatest.Fake(t, kfake.Ports(port), kfake.SeedTopics(1, "t"))
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", 1, 0, 5))
	c.awaitRows(5)
	run.stop()
}

func TestBrokerDownForTooLong(t *testing.T) {
	noLeaks(t)
	opts := quick([]string{"127.0.0.1:1"}, "t")
	opts.ConnectTimeout = 200 * time.Millisecond
	err := startRun(t, opts, newCollector(t)).wait()
	expectError(t, err, "kafka: no broker of 127.0.0.1:1 after 200ms: dial tcp", "refused")
}

func TestStopWhileBrokerIsDown(t *testing.T) {
	noLeaks(t)
	c := newCollector(t)
	run := startRun(t, quick([]string{"127.0.0.1:1"}, "t"), c)
	c.await("trouble", inTrouble(run.source))
	run.stop()
	run = startRun(t, quick([]string{"127.0.0.1:1"}, "t"), newCollector(t))
	run.cancel()
	if err := run.wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}

// TestBrokerRestarts ends the broker in the middle and starts it again with its data.
func TestBrokerRestarts(t *testing.T) {
	noLeaks(t)
	dir := t.TempDir()
	port := kfake.Ports(testproc.Ports(t, 1)...)
	k := kafkatest.Fake(t, port, kfake.DataDir(dir), kfake.SyncWrites(), kfake.SeedTopics(2, "t"))
	addrs := k.ListenAddrs()
	kafkatest.Produce(t, kafkatest.Client(t, addrs), numbered("t", 2, 0, 1000))
	c := newCollector(t)
	c.maxRows = 20
	run := startRun(t, quick(addrs, "t"), c)
	c.awaitRows(100)
	k.Close()
	c.await("trouble", inTrouble(run.source))
	kafkatest.Fake(t, port, kfake.DataDir(dir), kfake.SyncWrites())
	kafkatest.Produce(t, kafkatest.Client(t, addrs), numbered("t", 2, 1000, 1200))
	c.await("all", func() bool { return c.distinct() == 1200 })
	run.stop()
	c.expectAll("t", 1200)
}

func TestRetentionOvertakesCommit(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 10))
	c := newCollector(t)
	run := startRun(t, quick(k.ListenAddrs(), "t"), c)
	c.awaitRows(10)
	run.stop()
	kafkatest.Produce(t, client, numbered("t", 1, 10, 20))
	kafkatest.DeleteBefore(t, client, "t", 0, 15)
	err := startRun(t, quick(k.ListenAddrs(), "t"), c).wait()
	var outOfRange *OffsetOutOfRangeError
	if !errors.As(err, &outOfRange) || outOfRange.Offset != 10 || outOfRange.First != 15 || outOfRange.Next != 20 {
		t.Errorf("ended with %#v", err)
	}
	expectError(t, err, "t/0: offset 10 is out of range: the log has 15 up to 20", "deleted 5 offsets", "--to-earliest", "restore")
	if n := len(c.rows); n != 10 {
		t.Errorf("%d rows, want 10", n)
	}
}

func TestLogEndsBeforeCommit(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 10))
	c := newCollector(t)
	c.start = func(pipeline.LaneID) int64 { return 99 }
	err := startRun(t, quick(k.ListenAddrs(), "t"), c).wait()
	expectError(t, err, "t/0: offset 99 is out of range: the log has 0 up to 10", "created anew")
}

// TestRetentionOvertakesStart has the log's start move between the look-up of the first offset and the first
// fetch.
func TestRetentionOvertakesStart(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 20))
	kafkatest.DeleteBefore(t, client, "t", 0, 5)
	once := true
	k.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
		if !once {
			return nil, nil, false
		}
		once = false
		resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		p := kmsg.NewListOffsetsResponseTopicPartition()
		p.Offset = 2 // as it was a moment ago
		topic := kmsg.NewListOffsetsResponseTopic()
		topic.Topic, topic.Partitions = "t", append(topic.Partitions, p)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	c := newCollector(t)
	run := startRun(t, quick(k.ListenAddrs(), "t"), c)
	c.awaitRows(15)
	run.stop()
	if first := c.sorted()[0].offset; first != 5 {
		t.Errorf("began at %d, want 5", first)
	}
}

// TestHoles reads a log with a committed and an aborted transaction, whose markers are no rows, and a compacted
// one.
func TestHoles(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t)
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.CreateTopic(t, client, "t", 1, "cleanup.policy", "compact", "min.cleanable.dirty.ratio", "0", "segment.bytes", "100")
	keyed := func(key, value string) *kgo.Record {
		return &kgo.Record{Topic: "t", Key: []byte(key), Value: []byte(value)}
	}
	for i := range 30 {
		kafkatest.Produce(t, client, []*kgo.Record{keyed("a", strings.Repeat("x", 60)), keyed("b", strings.Repeat("y", 60+i))})
	}
	txn := kafkatest.Client(t, k.ListenAddrs(), kgo.TransactionalID("x"))
	for _, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort, kgo.TryCommit} {
		if err := txn.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		kafkatest.Produce(t, txn, []*kgo.Record{keyed("c", "z")})
		if err := txn.EndTransaction(context.Background(), end); err != nil {
			t.Fatal(err)
		}
	}
	k.Compact()
	c := newCollector(t)
	run := startRun(t, quick(k.ListenAddrs(), "t"), c)
	c.await("the end of the log", func() bool {
		lags := run.source.Lags()
		return len(lags) == 1 && lags[0].Position == 66 && lags[0].Acknowledged == 66
	})
	run.stop()
	rows := c.sorted()
	if len(rows) >= 60 || len(rows) < 3 {
		t.Fatalf("%d rows: not compacted", len(rows))
	}
	for _, r := range rows {
		if r.key != "a" && r.key != "b" && r.key != "c" {
			t.Errorf("a row that nobody produced: %+v", r)
		}
	}
	if last := rows[len(rows)-1]; last.offset != 64 || last.key != "c" {
		t.Errorf("the last row is %+v", last)
	}
}

// damageFetches has every fetch of the record at offset 5 answered with a wrong checksum.
func damageFetches(k *kfake.Cluster) {
	k.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		fetch := req.(*kmsg.FetchRequest)
		if fetch.Topics[0].Partitions[0].FetchOffset != 5 {
			return nil, nil, false
		}
		set := (&kmsg.RecordBatch{FirstOffset: 5, Length: 49 + 6, Magic: 2, CRC: 1, NumRecords: 1, Records: make([]byte, 6)}).AppendTo(nil)
		p := kmsg.NewFetchResponseTopicPartition()
		p.HighWatermark, p.RecordBatches = 6, set
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.Partitions = "t", append(topic.Partitions, p)
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
}

func TestCorruptBatchStopsLoudly(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 5))
	damageFetches(k)
	c := newCollector(t)
	opts := quick(k.ListenAddrs(), "t")
	opts.OnCorrupt = PolicyStop
	err := startRun(t, opts, c).wait()
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || corrupt.Offset != 5 {
		t.Errorf("ended with %#v", err)
	}
	expectError(t, err, "t/0: the records from offset 5 on cannot be read", "CRC-32C", "on_corrupt: dead_letter", "offset 6")
	if got := kafkatest.Committed(t, client, "g", "t", 0); len(c.rows) != 5 || got != 5 {
		t.Errorf("%d rows, committed %d: what came before is to be kept", len(c.rows), got)
	}
}

func TestCorruptBatchBecomesARow(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	for _, span := range [][2]int{{0, 5}, {5, 6}, {6, 10}} {
		kafkatest.Produce(t, client, numbered("t", 1, span[0], span[1]))
	}
	damageFetches(k)
	o := quick(k.ListenAddrs(), "t")
	o.OnCorrupt, o.MaxBytes = PolicyDeadLetter, 1 // one batch at a time
	c := newCollector(t)
	run := startRun(t, o, c)
	c.awaitRows(10)
	run.stop()
	for i, r := range c.sorted() {
		if r.offset != int64(i) || (r.fault == "record-corrupt") != (i == 5) {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	if got := kafkatest.Committed(t, client, "g", "t", 0); got != 10 {
		t.Errorf("committed %d", got)
	}
}

// TestFetchErrorsAreRetried answers fetches with the errors of a leader that moves.
func TestFetchErrorsAreRetried(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	kafkatest.Produce(t, kafkatest.Client(t, k.ListenAddrs()), numbered("t", 1, 0, 5))
	for _, code := range []int16{kerr.NotLeaderForPartition.Code, kerr.LeaderNotAvailable.Code, kerr.UnknownTopicOrPartition.Code, kerr.KafkaStorageError.Code, 0} {
		k.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
			if code == 0 {
				return nil, errors.New("hang up"), true
			}
			p := kmsg.NewFetchResponseTopicPartition()
			p.ErrorCode = code
			topic := kmsg.NewFetchResponseTopic()
			topic.Topic, topic.Partitions = "t", append(topic.Partitions, p)
			resp := req.ResponseKind().(*kmsg.FetchResponse)
			resp.Topics = append(resp.Topics, topic)
			return resp, nil, true
		})
	}
	c := newCollector(t)
	run := startRun(t, quick(k.ListenAddrs(), "t"), c)
	c.awaitRows(5)
	run.stop()
	if repeated := c.expectAll("t", 5); repeated != 0 {
		t.Errorf("%d rows twice", repeated)
	}
}

func TestTopicDeletedWhileRunning(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	client := kafkatest.Client(t, k.ListenAddrs())
	kafkatest.Produce(t, client, numbered("t", 1, 0, 5))
	opts := quick(k.ListenAddrs(), "t")
	opts.TopicTimeout = time.Second
	c := newCollector(t)
	run := startRun(t, opts, c)
	c.awaitRows(5)
	req := kmsg.NewPtrDeleteTopicsRequest()
	topic, name := kmsg.NewDeleteTopicsRequestTopic(), "t"
	topic.Topic = &name
	req.Topics, req.TopicNames = append(req.Topics, topic), append(req.TopicNames, name)
	if _, err := req.RequestWith(context.Background(), client); err != nil {
		t.Fatal(err)
	}
	expectError(t, run.wait(), "t/0", "was the topic deleted?")
}
