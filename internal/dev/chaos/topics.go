package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// transactions has a producer that aborts every other transaction on average, with a kill every now and then. What was
// aborted must not be in the output.
func transactions(r *run) {
	rounds := pick(r, 600, 24)
	f := r.newFeed(&facts.Topic{Name: "transactions", Partitions: 3})
	w := want{feed: f, out: filepath.Join(r.dir, "out")}
	client := r.env.cluster.Client(r, kgo.TransactionalID("chaos"), kgo.ProducerBatchCompression(kgo.ZstdCompression()))
	config := r.config(job{feed: f, group: "transactions", out: w.out})
	m := r.start(config)
	ctx := context.Background()
	for i := range rounds {
		r.must(client.BeginTransaction())
		commit := kgo.TryCommit
		if r.rand.IntN(2) == 0 {
			commit = kgo.TryAbort
		}
		n := 1 + r.rand.Int64N(400)
		for p := range f.counts {
			for j := range n {
				if commit == kgo.TryCommit {
					client.Produce(ctx, f.next(p), f.acknowledged)
				} else { // what would be at home in the output, if it were not for where it comes from
					client.Produce(ctx, f.record(p, f.counts[p]+j), f.aborted)
				}
			}
		}
		r.must(client.Flush(ctx))
		r.must(client.EndTransaction(ctx, commit))
		if commit == kgo.TryAbort {
			r.fault("transaction aborted")
		}
		if i%20 == 10 {
			m.Kill()
			r.fault("kill -9")
			m = r.start(config)
		}
	}
	r.finish(m, f, w)
}

// aborted takes notice of a record that is not to be read.
func (f *feed) aborted(_ *kgo.Record, err error) {
	if err != nil {
		f.failed.Do(func() { f.r.Errorf("producing what is to be aborted: %v", err) })
	}
}

// compacted reads a topic that is being compacted: of every key the last record has to be there, and none twice.
func compacted(r *run) {
	rounds := pick(r, 12, 3)
	const keys = 300
	f := r.newFeed(&facts.Topic{Name: "compacted", Partitions: 1, Keys: keys, Step: 150}, "cleanup.policy", "compact", "min.cleanable.dirty.ratio", "0.01", "segment.ms", "100",
		"delete.retention.ms", "0")
	w := want{feed: f, out: filepath.Join(r.dir, "out"), excusedRows: -1}
	config := r.config(job{feed: f, group: "compacted", out: w.out, rollRows: 100})
	for range rounds {
		f.produce(3000)
		// A record that comes after segment.ms begins another segment, and the one before can be compacted.
		most := int64(0)
		r.await("a compaction", func() bool {
			time.Sleep(150 * time.Millisecond)
			f.produce(1)
			size := r.logSize(f.Name, 0)
			most = max(most, size)
			return size < most
		})
		r.fault("compaction of what was not read yet")
		m := r.start(config)
		ends := r.ends(f.client, f.Name, 1)
		r.awaitWith(m, "a commit", func() bool { return r.reached(w, ends) })
		m.Kill()
		r.fault("kill -9")
	}
	last := map[string]int64{}
	for n := range f.counts[0] + 1 { // the last one comes when the process settles
		key, _ := f.AppendKey(nil, 0, n)
		last[string(key)] = n
	}
	w.excused = func(_ int, n int64) bool {
		key, _ := f.AppendKey(nil, 0, n)
		return last[string(key)] != n
	}
	r.finish(r.start(config), f, w)
	if r.out.Skipped == 0 {
		r.Errorf("nothing was compacted away")
	}
	r.out.Skipped = 0 // by nobody but the broker
}

// logSize returns the size of a partition's log.
func (r *run) logSize(topic string, partition int) (size int64) {
	r.Helper()
	for _, name := range r.segments(topic, partition) {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted just now
		}
		r.must(err)
		size += info.Size()
	}
	return size
}

func (r *run) segments(topic string, partition int) []string {
	r.Helper()
	names, err := filepath.Glob(filepath.Join(r.env.cluster.Broker(0).DataDir(), fmt.Sprintf("%s-%d", topic, partition), "*.log"))
	r.must(err)
	return names
}

// partitionsAdded adds partitions to a topic that is being read.
func partitionsAdded(r *run) {
	most := pick(r, 24, 4)
	f := r.newFeed(&facts.Topic{Name: "growing", Partitions: 1})
	w := want{feed: f, out: filepath.Join(r.dir, "out")}
	config := r.config(job{feed: f, group: "growing", out: w.out})
	m := r.start(config)
	for len(f.counts) < most {
		f.produce(2000)
		f.grow(f.Partitions + 1)
		r.fault("partition added")
		if len(f.counts)%6 == 0 {
			m.Kill()
			r.fault("kill -9")
			m = r.start(config)
		}
		time.Sleep(r.randomly(500 * time.Millisecond))
	}
	f.produce(2000)
	r.finish(m, f, w)
}

// retention has the broker delete records that were not read yet. The process stops at that, and leaves them out when it
// is told to; the commit records say which.
func retention(r *run) {
	rounds := pick(r, 12, 3)
	f := r.newFeed(&facts.Topic{Name: "retention", Partitions: 2, JSON: true})
	w := want{feed: f, out: filepath.Join(r.dir, "out")}
	strict := r.config(job{feed: f, group: "retention", out: w.out})
	skip := r.config(job{feed: f, group: "retention", out: w.out, source: ", on_truncated: skip"})
	gaps := make([][]gap, len(f.counts))
	for range rounds {
		f.produce(3000)
		m := r.start(skip)
		r.awaitWith(m, "a commit", func() bool { return r.reached(w, f.counts) })
		r.stop(m)
		from := slices.Clone(f.counts)
		f.produce(3000)
		for p := range f.counts {
			to := from[p] + 1 + r.rand.Int64N(3000)
			gaps[p] = append(gaps[p], gap{from[p], to})
			w.excusedRows += to - from[p]
			kafkatest.DeleteBefore(r, f.client, f.Name, int32(p), to)
			r.fault("retention has overtaken the position")
		}
		r.refuses(r.start(strict), "on_truncated")
	}
	w.excused = func(p int, n int64) bool {
		return slices.ContainsFunc(gaps[p], func(g gap) bool { return n >= g.from && n < g.to })
	}
	r.finish(r.start(skip), f, w)
	r.leftOut(w)
}
