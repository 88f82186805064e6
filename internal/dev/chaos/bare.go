package main

import (
	"fmt"
	"syscall"
	"time"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
)

// bareCalls are those before which a process on such a file system is killed: a move is a link and a removal there.
var bareCalls = []string{"remove", "create", "remove", "link", "remove", "rename", "remove", "syncdir", "remove", "stat", "remove", "recorded"}

// bareFileSystem writes to a file system that cannot move a file to a name that must not be taken, from machines that do not
// know each other's locks. The process is killed before calls of every kind, above all between those that stand for one move, and
// a compaction of another machine comes behind it. A file system that has no links either is refused.
func bareFileSystem(r *run) {
	f := r.newFeed(&facts.Topic{Name: "bare", Partitions: 2})
	w := want{feed: f, out: r.path("out")}
	begin := func(group, fault string) *mill {
		config := r.config(job{feed: f, group: group, out: w.out, rollRows: 20, rollEvery: 30 * time.Millisecond})
		return r.startAs(r.env.faulty, config, "URLMILL_FAULT="+fault)
	}
	f.produce(40)
	r.refuses(begin("refused", "nolink"), "exactly-once delivery is not possible there")
	for i := range pick(r, 120, 2*len(bareCalls)) {
		call := bareCalls[i%len(bareCalls)]
		m := begin(fmt.Sprint("bare-", i), fmt.Sprintf("norename;at,%s,%d", call, 1+r.rand.IntN(12)))
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
		f.produce(40)
		if sum(r.heads(w)) == 0 {
			continue
		}
		c := r.command(r.env.faulty, []string{"URLMILL_FAULT=norename"}, "compact", w.out, "--min-age", "0s")
		r.await("a compaction", c.Ended)
		if c.Err() != nil {
			r.Errorf("compacting: %v\n%s", c.Err(), c.text())
		}
	}
	r.finish(begin("bare", "norename"), f, w)
}
