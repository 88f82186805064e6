package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// feed fills a topic. What is in a record follows from its partition and number, and where it is, from what the broker has
// acknowledged: [facts.Topic] knows both.
type feed struct {
	*facts.Topic
	r       *run
	cluster *kafkatest.Cluster
	client  *kgo.Client
	total   atomic.Int64

	failed sync.Once

	mu     sync.Mutex
	counts []int64 // of records that were handed to the client, by partition

	cancel context.CancelFunc // of what runs in the background
	done   chan struct{}
	arena  []byte
}

// newFeed creates a topic and a feed for it. configs are as those of [kafkatest.CreateTopic].
func (r *run) newFeed(topic *facts.Topic, configs ...string) *feed {
	r.Helper()
	// The times of records are long ago.
	configs = append([]string{"retention.ms", "-1"}, configs...)
	r.env.cluster.CreateTopic(r, topic.Name, topic.Partitions, configs...)
	r.Cleanup(func() { r.deleteTopic(r.env.cluster, topic.Name) })
	return r.feedOf(r.env.cluster, topic)
}

// feedOf returns a feed of a topic that is there and empty.
func (r *run) feedOf(c *kafkatest.Cluster, topic *facts.Topic, opts ...kgo.Opt) *feed {
	r.Helper()
	opts = append([]kgo.Opt{
		kgo.ProducerBatchCompression(kgo.ZstdCompression()),
		kgo.ProducerLinger(5 * time.Millisecond),
		kgo.MaxBufferedRecords(100_000),
	}, opts...)
	return &feed{Topic: topic, r: r, cluster: c, client: c.Client(r, opts...), counts: make([]int64, topic.Partitions)}
}

// add hands n records of every partition to the client, and as many again that repeat their pages where there are such.
func (f *feed) add(ctx context.Context, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Pages {
		n *= 2
	}
	for range n {
		for p := range f.counts {
			f.client.Produce(ctx, f.next(p), f.acknowledged)
		}
	}
}

// acknowledged notes where a record is. It is called in the order of a partition's records.
func (f *feed) acknowledged(record *kgo.Record, err error) {
	if err == nil {
		f.total.Add(1)
		f.Acknowledged(int(record.Partition), record.Offset)
		return
	}
	f.failed.Do(func() { f.r.Errorf("producing: %v", err) })
}

// next makes the next record of a partition.
func (f *feed) next(p int) *kgo.Record {
	f.counts[p]++
	return f.record(p, f.counts[p]-1)
}

// clientHeaders are the headers of records as the client has them, by their numbers.
var clientHeaders = func() (all [16][]kgo.RecordHeader) {
	for i := range all {
		for _, h := range new(facts.Topic).Headers(0, int64(i)) {
			all[i] = append(all[i], kgo.RecordHeader{Key: h.Key, Value: h.Value})
		}
	}
	return all
}()

// record makes a record. Values and keys are pieces of large blocks, since the client keeps them for a while.
func (f *feed) record(p int, i int64) *kgo.Record {
	const block, most = 1 << 20, 2 << 10
	if cap(f.arena)-len(f.arena) < most {
		f.arena = make([]byte, 0, block)
	}
	record := &kgo.Record{
		Topic: f.Name, Partition: int32(p), Timestamp: time.UnixMilli(f.Time(p, i)), Headers: clientHeaders[i%int64(len(clientHeaders))],
	}
	start := len(f.arena)
	f.arena = f.AppendValue(f.arena, p, i)
	record.Value = f.arena[start:len(f.arena):len(f.arena)]
	start = len(f.arena)
	if key, ok := f.AppendKey(f.arena, p, i); ok {
		f.arena = key
		record.Key = key[start:len(key):len(key)]
	}
	return record
}

// in produces records through another client, in batches of their own.
func (f *feed) in(client *kgo.Client, records []*kgo.Record) {
	f.r.Helper()
	for _, record := range records {
		client.Produce(context.Background(), record, f.acknowledged)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	f.r.must(client.Flush(ctx))
}

// flush waits until all is acknowledged.
func (f *feed) flush() {
	f.r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	f.r.must(f.client.Flush(ctx))
}

// produce adds n records to every partition, and waits until they are acknowledged.
func (f *feed) produce(n int) {
	f.r.Helper()
	f.add(context.Background(), n)
	f.flush()
}

// begin produces so many records a second in the background, until end is called.
func (f *feed) begin(perSecond int) {
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel, f.done = cancel, make(chan struct{})
	f.r.Cleanup(f.halt)
	const step = 20 * time.Millisecond
	go func() {
		defer close(f.done)
		start, made := time.Now(), 0
		for ctx.Err() == nil {
			due := int(time.Since(start).Seconds() * float64(perSecond))
			if n := (due - made) / len(f.counts); n > 0 {
				f.add(context.Background(), n)
				made += n * len(f.counts)
			}
			time.Sleep(step)
		}
	}()
}

// halt ends what begin has begun.
func (f *feed) halt() {
	f.cancel()
	<-f.done
}

// end ends it, adds what is missing to so many records in all, and waits until all are acknowledged.
func (f *feed) end(atLeast int64) {
	f.r.Helper()
	f.halt()
	n := int64(len(f.counts))
	for {
		missing := (atLeast - sum(f.counts) + n - 1) / n
		if missing <= 0 {
			break
		}
		f.add(context.Background(), int(min(missing, 50_000)))
	}
	f.flush()
}
