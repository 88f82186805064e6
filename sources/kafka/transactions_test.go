package kafka

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// writer is a transactional producer of partition 0 that notes what it commits.
type writer struct {
	t       *testing.T
	client  *kgo.Client
	topic   string
	name    string
	begun   bool
	pending []string
	n       int
}

func newWriter(t *testing.T, addrs []string, topic, name string, opts ...kgo.Opt) *writer {
	// The brokers abort what is open for longer, and a busy machine takes its time.
	opts = append([]kgo.Opt{kgo.TransactionalID(t.Name() + name), kgo.TransactionTimeout(10 * time.Minute)}, opts...)
	return &writer{t: t, client: kafkatest.Client(t, addrs, opts...), topic: topic, name: name}
}

// write writes n records within a transaction. Their keys are the name and a number below keys.
func (w *writer) write(n, keys int) {
	w.t.Helper()
	if !w.begun {
		if err := w.client.BeginTransaction(); err != nil {
			w.t.Fatal(err)
		}
		w.begun = true
	}
	var records []*kgo.Record
	for range n {
		value := fmt.Sprintf("%s-%d", w.name, w.n)
		records = append(records, &kgo.Record{Topic: w.topic, Key: fmt.Appendf(nil, "%s%d", w.name, w.n%keys), Value: []byte(value)})
		w.pending = append(w.pending, value)
		w.n++
	}
	kafkatest.Produce(w.t, w.client, records)
}

// end ends the transaction and returns what it has committed.
func (w *writer) end(how kgo.TransactionEndTry) []string {
	w.t.Helper()
	if !w.begun {
		return nil
	}
	if err := w.client.EndTransaction(context.Background(), how); err != nil {
		w.t.Fatal(err)
	}
	values := w.pending
	w.pending, w.begun = nil, false
	if how == kgo.TryAbort {
		return nil
	}
	return values
}

// interleave has two transactional producers and one without transactions write a topic in turn, and returns what is
// committed in the end, sorted.
func interleave(t *testing.T, addrs []string, topic string, steps, keys int) []string {
	t.Helper()
	writers := []*writer{newWriter(t, addrs, topic, "a"), newWriter(t, addrs, topic, "b")}
	plain := kafkatest.Client(t, addrs)
	var want []string
	end := func(w *writer, how kgo.TransactionEndTry) { want = append(want, w.end(how)...) }
	r := rand.New(rand.NewPCG(3, 4))
	for i := range steps {
		w := writers[r.IntN(2)]
		switch r.IntN(6) {
		case 0:
			end(w, kgo.TryCommit)
		case 1, 2:
			end(w, kgo.TryAbort)
		case 3:
			value := fmt.Sprint("plain-", i)
			kafkatest.Produce(t, plain, []*kgo.Record{{Topic: topic, Key: fmt.Appendf(nil, "plain%d", i%keys), Value: []byte(value)}})
			want = append(want, value)
		default:
			w.write(1+r.IntN(5), keys)
		}
	}
	// An abort at the end of the log, with as much before it as does not fit into one fetch.
	for range 5 {
		writers[0].write(100, keys)
	}
	end(writers[0], kgo.TryAbort)
	end(writers[1], kgo.TryCommit)
	slices.Sort(want)
	return want
}

// readAll reads to the end of partition 0 of the only topic and returns the values, sorted.
func readAll(t *testing.T, opts Options, end int64) []string {
	t.Helper()
	c := newCollector(t)
	run := startRun(t, opts, c)
	c.await("the end of the log", func() bool {
		lags := run.source.Lags()
		return len(lags) == 1 && lags[0].Acknowledged >= end && lags[0].Behind() == 0
	})
	run.stop()
	var values []string
	for _, r := range c.sorted() {
		values = append(values, r.value)
	}
	slices.Sort(values)
	return values
}

// endOffset returns the offset after the last record or marker of partition 0.
func endOffset(t *testing.T, addrs []string, topic string) int64 {
	t.Helper()
	o := quick(addrs, topic)
	s, err := newSession(o.withDefaults(), testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	end, err := s.listOffset(context.Background(), laneOf(topic), latestTime, false)
	if err != nil {
		t.Fatal(err)
	}
	return end
}

func checkCommitted(t *testing.T, addrs []string, o Options, want []string) {
	t.Helper()
	end := endOffset(t, addrs, o.Topics[0])
	group := o.Group
	for _, size := range []int{1, 700, 1 << 20} { // a batch each, some, all
		o.MaxBytes, o.Group = size, fmt.Sprint(group, size)
		if diff := cmp.Diff(want, readAll(t, o, end)); diff != "" {
			t.Errorf("fetches of %d bytes: %s", size, diff)
		}
	}
	o.Isolation, o.Group = ReadUncommitted, group+"u"
	if got := readAll(t, o, end); len(got) <= len(want) {
		t.Errorf("%d rows uncommitted, %d committed", len(got), len(want))
	}
}

func TestReadCommitted(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t, kfake.SeedTopics(1, "t"))
	want := interleave(t, k.ListenAddrs(), "t", 80, 1000)
	checkCommitted(t, k.ListenAddrs(), quick(k.ListenAddrs(), "t"), want)
}

func realTransactions(t *testing.T, k *kafkatest.Cluster) {
	k.CreateTopic(t, "transactions", 1)
	want := interleave(t, []string{k.Addr()}, "transactions", 80, 1000)
	checkCommitted(t, []string{k.Addr()}, realOptions(t, k, "transactions"), want)
}

// realCompactedTransactions reads a log whose committed and aborted records compaction has thinned out: nothing that was
// aborted may show up, and the last committed value of every key has to.
func realCompactedTransactions(t *testing.T, k *kafkatest.Cluster) {
	const topic, keys = "transactions.compacted", 5
	k.CreateTopic(t, topic, 1, "cleanup.policy", "compact", "min.cleanable.dirty.ratio", "0.01", "segment.ms", "100", "delete.retention.ms", "0")
	written := interleave(t, []string{k.Addr()}, topic, 120, keys)
	client := k.Client(t)
	for try, began := 0, time.Now(); time.Since(began) < waitLimit; try++ {
		// The last segment is never compacted. A record that comes later than segment.ms begins another.
		time.Sleep(200 * time.Millisecond)
		kafkatest.Produce(t, client, []*kgo.Record{{Topic: topic, Key: []byte("roll"), Value: fmt.Append(nil, "roll-", try)}})
		o := realOptions(t, k, topic)
		o.Group += fmt.Sprint(try)
		got := readAll(t, o, endOffset(t, []string{k.Addr()}, topic))
		got = slices.DeleteFunc(got, func(v string) bool { return strings.HasPrefix(v, "roll") })
		checkCompacted(t, written, got, keys)
		if t.Failed() || len(got) < len(written)/2 {
			t.Logf("%d of %d records are left after %d tries", len(got), len(written), try+1)
			return
		}
	}
	t.Error("the broker does not compact the topic")
}

// checkCompacted checks that got is what compaction may leave of what interleave has written.
func checkCompacted(t *testing.T, written, got []string, keys int) {
	t.Helper()
	for _, v := range got {
		if _, ok := slices.BinarySearch(written, v); !ok {
			t.Errorf("%q was never committed", v)
		}
	}
	last := make(map[string]int)
	for _, v := range written {
		name, text, _ := strings.Cut(v, "-")
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprint(name, " ", n%keys)
		last[key] = max(last[key], n)
	}
	for key, n := range last {
		name, _, _ := strings.Cut(key, " ")
		if _, ok := slices.BinarySearch(got, fmt.Sprintf("%s-%d", name, n)); !ok {
			t.Errorf("%s-%d, the last value of its key, is lost", name, n)
		}
	}
}

func TestOpenTransaction(t *testing.T) {
	noLeaks(t)
	k := kafkatest.Fake(t)
	openTransaction(t, k.ListenAddrs(), quick(k.ListenAddrs(), "open"))
}

// openTransaction checks that nothing behind an open transaction is read before its end.
func openTransaction(t *testing.T, addrs []string, o Options) {
	client := kafkatest.Client(t, addrs)
	kafkatest.CreateTopic(t, client, "open", 1)
	kafkatest.Produce(t, client, numbered("open", 1, 0, 5))
	w := newWriter(t, addrs, "open", "w")
	w.write(3, 100)
	kafkatest.Produce(t, client, numbered("open", 1, 5, 10))
	c := newCollector(t)
	run := startRun(t, o, c)
	c.await("what is before the open transaction", func() bool {
		lags := run.source.Lags()
		return len(lags) == 1 && lags[0].Acknowledged == 5 && lags[0].HighWatermark == 13 && lags[0].LastStable == 5 && lags[0].Behind() == 0
	})
	if got := c.sorted(); len(got) != 5 {
		t.Errorf("%d rows", len(got))
	}
	latest := o
	latest.Start, latest.Group = StartLatest, o.Group+"latest"
	d := newCollector(t)
	second := startRun(t, latest, d)
	d.await("the end of what is committed", func() bool {
		lags := second.source.Lags()
		return len(lags) == 1 && lags[0].Acknowledged == 5
	})
	w.end(kgo.TryCommit)
	c.awaitRows(13)
	d.awaitRows(8)
	run.stop()
	second.stop()
	if n := len(d.rows); n != 8 {
		t.Errorf("%d rows from the end of what was committed, want 8", n)
	}
}
