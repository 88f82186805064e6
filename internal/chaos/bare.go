package main

import (
	"fmt"
	"syscall"
	"time"

	"github.com/urlmill/urlmill/internal/chaos/facts"
)

// bareFileSystem writes to a file system that cannot move a file to a name that must not be taken, and to one that has no
// links either, from machines that do not know each other's locks. The process is killed before its n-th call, for every n, and
// a compaction of another machine comes behind it.
func bareFileSystem(r *run) {
	for _, lacks := range []string{"norename", "nolink"} {
		f := r.newFeed(&facts.Topic{Name: "bare-" + lacks, Partitions: 2})
		w := want{feed: f, out: r.path(lacks)}
		step := pick(r, 1, 3)
		for n := 1; ; n += step {
			f.produce(40)
			config := r.config(job{feed: f, group: fmt.Sprint(lacks, n), out: w.out, rollRows: 20, rollEvery: 30 * time.Millisecond})
			m := r.startAs(r.env.faulty, config, fmt.Sprintf("URLMILL_FAULT=%s;kill,%d", lacks, n))
			r.await("a process to die or to finish", func() bool { return m.Ended() || r.reached(w, f.counts) })
			m.Signal(syscall.SIGTERM)
			r.await("a process to end", m.Ended)
			if !m.endedBy(syscall.SIGKILL) {
				if m.Err() != nil {
					r.Errorf("%v\n%s", m.Err(), m.text())
				}
				break
			}
			r.fault("kill -9 before a call")
			if sum(r.heads(w)) == 0 {
				continue
			}
			c := r.command(r.env.faulty, []string{"URLMILL_FAULT=" + lacks}, "compact", w.out, "--min-age", "0s")
			r.await("a compaction", c.Ended)
			if c.Err() != nil {
				r.Errorf("compacting: %v\n%s", c.Err(), c.text())
			}
		}
		config := r.config(job{feed: f, group: lacks, out: w.out})
		r.finish(r.startAs(r.env.faulty, config, "URLMILL_FAULT="+lacks), f, w)
	}
}
