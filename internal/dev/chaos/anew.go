package main

import (
	"slices"
	"time"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// addedWhileDown has a process begin at the end of a topic, and adds partitions to it while the process is down. What was
// there at its first start is left out; what came later is not, in whatever partition.
func addedWhileDown(r *run) {
	most := pick(r, 16, 4)
	f := r.newFeed(&facts.Topic{Name: "latest", Partitions: 1})
	w := want{feed: f, out: r.path("out")}
	config := r.config(job{feed: f, group: "latest", out: w.out, start: "latest"})
	f.produce(1000)
	w.excused, w.excusedRows = func(p int, n int64) bool { return p == 0 && n < 1000 }, 1000
	m := r.start(config)
	// It has to be there before anything comes that it is to read.
	r.awaitWith(m, "its first position", func() bool { return kafkatest.Committed(r, f.client, "latest", f.Name, 0) == 1000 })
	for f.Partitions < most {
		f.produce(500)
		r.awaitWith(m, "a commit", func() bool { return r.reached(w, f.counts) })
		if f.Partitions%2 == 0 {
			m.Kill()
			r.fault("kill -9")
		} else {
			r.stop(m)
		}
		f.grow(f.Partitions + 1 + r.rand.IntN(2))
		f.produce(1 + r.rand.IntN(1000))
		r.fault("partitions added while it is down")
		m = r.start(config)
		r.awaitWith(m, "a commit", func() bool { return r.heads(w)[0] >= f.counts[0] })
	}
	r.finish(m, f, w)
}

// grow adds partitions up to so many.
func (f *feed) grow(partitions int) {
	f.client = f.cluster.Client(f.r) // which learns of all partitions
	kafkatest.AddPartitions(f.r, f.client, f.Name, partitions)
	f.counts, f.Partitions = append(f.counts, make([]int64, partitions-f.Partitions)...), partitions
}

// gap is a stretch of offsets that nobody has anymore.
type gap struct{ from, to int64 }

// overtaken has the broker delete records that a running process has not fetched yet, because it cannot reach the broker for
// a while. Told to, it goes on behind the gap, and the commit records say what was left out.
func overtaken(r *run) {
	rounds := pick(r, 20, 3)
	f := r.newFeed(&facts.Topic{Name: "overtaken", Partitions: 2})
	w := want{feed: f, out: r.path("out")}
	proxy := r.env.cluster.Broker(0).Proxy()
	m := r.start(r.config(job{
		feed: f, group: "overtaken", out: w.out, source: ", on_truncated: skip", brokers: r.env.cluster.ProxyAddrs(), session: 6 * time.Second,
	}))
	gaps := make([][]gap, f.Partitions)
	for range rounds {
		f.produce(2000)
		r.awaitWith(m, "a commit", func() bool { return r.reached(w, f.counts) })
		proxy.Cut()
		from := slices.Clone(f.counts)
		f.produce(2000)
		for p := range f.counts {
			to := from[p] + 1 + r.rand.Int64N(2000)
			gaps[p] = append(gaps[p], gap{from[p], to})
			w.excusedRows += to - from[p]
			kafkatest.DeleteBefore(r, f.client, f.Name, int32(p), to)
			r.fault("retention has overtaken a running process")
		}
		proxy.Restore()
		r.awaitWith(m, "a commit behind the gap", func() bool { return r.reached(w, f.counts) })
	}
	w.excused = func(p int, n int64) bool {
		return slices.ContainsFunc(gaps[p], func(g gap) bool { return n >= g.from && n < g.to })
	}
	r.finish(m, f, w)
	r.leftOut(w)
}

// leftOut checks that the commit records tell of exactly the positions that were left out.
func (r *run) leftOut(w want) {
	r.Helper()
	left := int64(0)
	for _, l := range r.verify(w).Lanes {
		for _, g := range l.LeftOut {
			left += g.Next - g.First
		}
	}
	if left != w.excusedRows {
		r.Errorf("the commit records tell of %d positions that were left out, and %d were", left, w.excusedRows)
	}
}

// madeAnew deletes a topic and makes one of its name that grows beyond the position. The process stops at that, and reads the
// new one from its beginning when it is told to.
func madeAnew(r *run) {
	rounds := pick(r, 6, 2)
	f := r.newFeed(&facts.Topic{Name: "anew", Partitions: 2})
	w := want{feed: f, out: r.path("out")}
	j := job{feed: f, group: "anew", out: w.out}
	strict := r.config(j)
	j.source = ", on_recreated: restart"
	restart := r.config(j)
	f.produce(1000)
	m := r.start(strict)
	r.awaitWith(m, "a commit", func() bool { return r.reached(w, f.counts) })
	r.stop(m)
	for range rounds {
		// Every topic has offsets of its own: those of another one are told apart by the times of their records.
		before := f
		r.deleteTopic(f.cluster, f.Name)
		r.await("the topic to be gone", func() bool { return !r.exists(f) })
		f = r.newFeed(&facts.Topic{Name: "anew", Partitions: 2, Session: before.Session + 1})
		w.feed, w.earlier = f, append(w.earlier, before.Topic)
		f.produce(2000 + r.rand.IntN(1000)) // which is beyond where the position was
		r.fault("topic made anew")
		r.refuses(r.start(strict), "on_recreated")
		m = r.start(restart)
		r.settle(m, f)
	}
	r.check(w)
}
