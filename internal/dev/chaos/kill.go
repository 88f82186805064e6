package main

import (
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
)

// killAtRandom kills the process time and again while records arrive: two times of three while it commits, else at any
// moment from its start on.
func killAtRandom(r *run) {
	kills, rows := pick(r, 300, 12), pick(r, 46_000_000, 400_000)
	f := r.newFeed(&facts.Topic{Name: "kill", Partitions: 4})
	w := want{feed: f, out: filepath.Join(r.dir, "out")}
	config := r.config(job{feed: f, group: "kill", out: w.out})
	f.begin(rows / (kills * 5 / 2))
	for i := range kills {
		before := sum(r.heads(w))
		m := r.start(config)
		if i%3 != 0 {
			r.awaitWith(m, "a commit", func() bool { return sum(r.heads(w)) > before })
		}
		time.Sleep(r.randomly(800 * time.Millisecond))
		if m.Ended() {
			r.Fatalf("the process ended (%v) before it was killed:\n%s", m.Err(), m.text())
		}
		m.Kill()
		r.fault("kill -9")
		if i%10 == 9 {
			r.repair(w) // what the next start would do
		}
	}
	f.end(int64(rows))
	r.finish(r.start(config), f, w)
}

// killAtEveryStep kills the process before its n-th call to the file system, for every n, until it has made all calls
// that there are to make. Each process begins with what the last one has left.
func killAtEveryStep(r *run) {
	f := r.newFeed(&facts.Topic{Name: "steps", Partitions: 2, JSON: true})
	w := want{feed: f, out: filepath.Join(r.dir, "out")}
	for n := 1; ; n++ {
		f.produce(50)
		// A new group has no member whose death it would have to wait for. The positions are in the output.
		config := r.config(job{feed: f, group: fmt.Sprint("steps-", n), out: w.out, rollRows: 20, rollEvery: 30 * time.Millisecond})
		m := r.startAs(r.env.faulty, config, fmt.Sprint("URLMILL_FAULT=kill,", n))
		ends := f.counts
		r.await("a process to die or to finish", func() bool { return m.Ended() || r.reached(w, ends) })
		m.Signal(syscall.SIGTERM)
		r.await("a process to end", m.Ended)
		if m.endedBy(syscall.SIGKILL) {
			r.fault("kill -9 before a call")
			continue
		}
		if m.Err() != nil {
			r.Errorf("%v\n%s", m.Err(), m.text())
		}
		r.Logf("%d calls", n-1)
		break
	}
	config := r.config(job{feed: f, group: "steps", out: w.out})
	r.finish(r.start(config), f, w)
}

// zombies stops a process, lets another take its partitions over and commit, and wakes the first one up. It has lost
// its work, and goes on as a member of the group.
func zombies(r *run) {
	rounds, rows := pick(r, 20, 3), pick(r, 4_000_000, 100_000)
	f := r.newFeed(&facts.Topic{Name: "zombie", Partitions: 4})
	w := want{feed: f, out: filepath.Join(r.dir, "out")}
	config := r.config(job{feed: f, group: "zombie", out: w.out})
	f.begin(rows / (rounds * 6))
	progress := func(m *mill, what string) {
		before := r.heads(w)
		r.awaitWith(m, what, func() bool {
			for p, head := range r.heads(w) {
				if head <= before[p] {
					return false
				}
			}
			return true
		})
	}
	old := r.start(config)
	for range rounds {
		progress(old, "commits in all partitions")
		time.Sleep(r.randomly(300 * time.Millisecond))
		old.Signal(syscall.SIGSTOP)
		r.fault("SIGSTOP past the session timeout")
		successor := r.start(config)
		progress(successor, "the successor to commit in all partitions")
		old.Signal(syscall.SIGCONT)
		progress(successor, "commits by both")
		if old.Ended() {
			r.Fatalf("the process that was stopped has ended: %v\n%s", old.Err(), old.text())
		}
		r.stop(old)
		old = successor
	}
	f.end(int64(rows))
	r.finish(old, f, w)
}

// storm has three members come and go at random.
func storm(r *run) {
	lasts, rows := pick(r, 300, 20), pick(r, 22_000_000, 200_000)
	f := r.newFeed(&facts.Topic{Name: "storm", Partitions: 6, JSON: true})
	w := want{feed: f, out: filepath.Join(r.dir, "out")}
	config := r.config(job{feed: f, group: "storm", out: w.out})
	f.begin(rows / lasts)
	var members [3]*mill
	for deadline := time.Now().Add(time.Duration(lasts) * time.Second); time.Now().Before(deadline); {
		m := &members[r.rand.IntN(len(members))]
		switch {
		case *m == nil:
			*m = r.start(config)
			r.fault("member joins")
		case (*m).Ended():
			r.Fatalf("a member has ended: %v\n%s", (*m).Err(), (*m).text())
		case r.rand.IntN(3) == 0:
			(*m).Kill()
			*m = nil
			r.fault("member is killed")
		default:
			r.stop(*m)
			*m = nil
			r.fault("member leaves")
		}
		time.Sleep(r.randomly(2 * time.Second))
	}
	for _, m := range members {
		if m != nil {
			r.stop(m)
		}
	}
	f.end(int64(rows))
	r.finish(r.start(config), f, w)
}
