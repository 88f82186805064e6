package main

import (
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
)

// dedupeSteps are where a process that drops duplicates is killed, by the time that it gets there.
var dedupeSteps = []string{
	"journal,1", "journaled,1", "inner commit,1", "record,1", "recorded,1", "promote,1", "promoted,1", "journaled,5", "recorded,3",
	"promote,4", "promoted,5", "record,6",
}

// dropDuplicates has a process drop the duplicates of a topic in which every second record is one, of a record in any
// partition, and kills it at every step of a commit, and at any moment. Every page has to be there once.
func dropDuplicates(r *run) {
	for _, kind := range []struct{ name, settings string }{
		{"exact", ""},
		{"approximate", ", approximate: {memory: 256MiB, keys: 20000000}"},
	} {
		kills, rows := pick(r, 60, 6), pick(r, 4_000_000, 100_000)
		f := r.newFeed(&facts.Topic{Name: "dedupe-" + kind.name, Partitions: 4, Pages: true})
		w := want{feed: f, out: filepath.Join(r.dir, "out-"+kind.name)}
		seen := filepath.Join(r.dir, "seen-"+kind.name)
		job := job{feed: f, out: w.out, dedupe: fmt.Sprintf("{path: %q, mode: drop, memory: 32MiB%s}", seen, kind.settings)}
		begin := func(i int) string {
			// A new group has no member whose death it would have to wait for. The positions are in the output.
			job.group = fmt.Sprintf("dedupe-%s-%d", kind.name, i)
			return r.config(job)
		}
		f.begin(rows / (kills * 3))
		for i := range kills {
			if i%2 == 0 {
				m := r.startAs(r.env.faulty, begin(i), "URLMILL_FAULT=at,"+dedupeSteps[i/2%len(dedupeSteps)])
				r.await("a process to be killed at a step of a commit", m.Ended)
				if !m.endedBy(syscall.SIGKILL) {
					r.Fatalf("a process that was to be killed has ended with %v\n%s", m.Err(), m.text())
				}
				r.fault("kill -9 at a step of a commit")
				continue
			}
			before := sum(r.heads(w))
			m := r.start(begin(i))
			r.awaitWith(m, "a commit", func() bool { return sum(r.heads(w)) > before })
			time.Sleep(r.randomly(800 * time.Millisecond))
			m.Kill()
			r.fault("kill -9")
		}
		f.end(int64(rows))
		r.finish(r.start(begin(kills)), f, w)
	}
}
