package main

import (
	"fmt"
	"syscall"
	"time"

	"github.com/urlmill/urlmill/internal/chaos/facts"
)

// bareCalls are those before which a process on such a file system is killed.
var bareCalls = []string{"create", "link", "move", "remove", "rename", "stat", "syncdir", "write", "recorded"}

// bareFileSystem writes to a file system that cannot move a file to a name that must not be taken, and to one that has no
// links either, from machines that do not know each other's locks. The process is killed before calls of every kind, above all
// between those that stand for one move, and a compaction of another machine comes behind it.
func bareFileSystem(r *run) {
	for _, lacks := range []string{"norename", "nolink"} {
		f := r.newFeed(&facts.Topic{Name: "bare-" + lacks, Partitions: 2})
		w := want{feed: f, out: r.path(lacks)}
		for i := range pick(r, 120, 2*len(bareCalls)) {
			f.produce(40)
			config := r.config(job{feed: f, group: fmt.Sprint(lacks, i), out: w.out, rollRows: 20, rollEvery: 30 * time.Millisecond})
			call := bareCalls[i%len(bareCalls)]
			m := r.startAs(r.env.faulty, config, fmt.Sprintf("URLMILL_FAULT=%s;at,%s,%d", lacks, call, 1+r.rand.IntN(8)))
			r.await("a process to die or to finish", func() bool { return m.Ended() || r.reached(w, f.counts) })
			if m.Signal(syscall.SIGTERM); !m.Within(patience) {
				r.Fatalf("a process does not end\n%s", m.text())
			}
			switch {
			case m.endedBy(syscall.SIGKILL):
				r.fault("kill -9 before " + call)
			case m.Err() != nil:
				r.Errorf("%v\n%s", m.Err(), m.text())
			}
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
