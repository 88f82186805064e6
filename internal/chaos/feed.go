package main

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/kafkatest"
)

// feed fills a topic. The records of a partition are numbered from 0: number n of partition p is a URL with the path
// /p/n. What it counts has been acknowledged by the broker when the feed is done.
type feed struct {
	r      *run
	topic  string
	client *kgo.Client
	total  atomic.Int64

	// repeats has every record followed by one with the URL of an earlier record of any partition and something added that
	// makes no other page of it.
	repeats bool

	failed sync.Once

	mu     sync.Mutex
	counts []int64 // by partition

	cancel context.CancelFunc // of what runs in the background
	done   chan struct{}
	arena  []byte
}

// newFeed creates a topic and a feed for it. configs are as those of [kafkatest.CreateTopic].
func (r *run) newFeed(topic string, partitions int, configs ...string) *feed {
	r.Helper()
	r.env.cluster.CreateTopic(r, topic, partitions, configs...)
	r.Cleanup(func() { r.deleteTopic(r.env.cluster, topic) })
	return r.feedOf(r.env.cluster, topic, partitions)
}

// feedOf returns a feed of a topic that is there and empty.
func (r *run) feedOf(c *kafkatest.Cluster, topic string, partitions int, opts ...kgo.Opt) *feed {
	r.Helper()
	opts = append([]kgo.Opt{
		kgo.ProducerBatchCompression(kgo.ZstdCompression()),
		kgo.ProducerLinger(5 * time.Millisecond),
		kgo.MaxBufferedRecords(100_000),
	}, opts...)
	return &feed{r: r, topic: topic, client: c.Client(r, opts...), counts: make([]int64, partitions)}
}

// add hands n records of every partition to the client.
func (f *feed) add(ctx context.Context, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		for p := range f.counts {
			f.client.Produce(ctx, &kgo.Record{Topic: f.topic, Partition: int32(p), Value: f.value(p)}, f.acknowledged)
			f.counts[p]++
			if f.repeats {
				f.client.Produce(ctx, &kgo.Record{Topic: f.topic, Partition: int32(p), Value: f.repeat()}, f.acknowledged)
			}
		}
	}
}

func (f *feed) acknowledged(_ *kgo.Record, err error) {
	if err == nil {
		f.total.Add(1)
		return
	}
	f.failed.Do(func() { f.r.Errorf("producing: %v", err) })
}

// value makes the next record of a partition. Values are pieces of large blocks, since the client keeps them for a while.
func (f *feed) value(p int) []byte {
	const block, most = 1 << 20, 64
	if cap(f.arena)-len(f.arena) < most {
		f.arena = make([]byte, 0, block)
	}
	start := len(f.arena)
	f.arena = append(f.arena, "https://c.example/"...)
	f.arena = strconv.AppendInt(f.arena, int64(p), 10)
	f.arena = append(f.arena, '/')
	f.arena = strconv.AppendInt(f.arena, f.counts[p], 10)
	return f.arena[start:len(f.arena):len(f.arena)]
}

// repeat makes a record that repeats one of any partition.
func (f *feed) repeat() []byte {
	p := rand.IntN(len(f.counts))
	for f.counts[p] == 0 {
		p = (p + 1) % len(f.counts)
	}
	value := strconv.AppendInt([]byte("https://www.c.example:443/"), int64(p), 10)
	value = strconv.AppendInt(append(value, '/'), rand.Int64N(f.counts[p]), 10)
	return append(value, "?utm_source=again#top"...)
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
		have := int64(0)
		for _, c := range f.counts {
			have += c
		}
		missing := (atLeast - have + n - 1) / n
		if missing <= 0 {
			break
		}
		f.add(context.Background(), int(min(missing, 50_000)))
	}
	f.flush()
}
