package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
)

// dated is what files by date and in an order are told.
const dated = `, partition_by: ["date(timestamp)"], sort_by: [path]`

// lateRows writes sorted files into directories by date, with a folder for rows that come late, and kills the process.
func lateRows(r *run) {
	kills, rows := pick(r, 60, 6), pick(r, 4_000_000, 60_000)
	// A day is 20,000 records of a partition, and every seventh is of one of the 40 days before.
	f := r.newFeed(&facts.Topic{Name: "late", Partitions: 3, Late: 7, Step: 24 * 60 * 60 * 1000 / pick(r, int64(20_000), 4000)})
	w := want{feed: f, out: r.path("out"), late: r.path("out-late")}
	w.options.SortBy, w.options.Dates = "path", []string{w.out}
	config := r.config(job{feed: f, group: "late", out: w.out, parquet: dated + fmt.Sprintf(", late: {path: %q, after: 24h}", w.late)})
	f.begin(rows / (kills * 2))
	for range kills {
		before := sum(r.heads(w))
		m := r.start(config)
		r.awaitWith(m, "a commit", func() bool { return sum(r.heads(w)) > before })
		time.Sleep(r.randomly(800 * time.Millisecond))
		m.Kill()
		r.fault("kill -9")
	}
	f.end(int64(rows))
	r.finish(r.start(config), f, w)
}

// expired moves directories of old dates away, as somebody does whose files are kept for so long, while rows for them still
// come and members of the group die between the record of a commit and the names of its files. What is in the output and what
// was moved away is all that there is.
func expired(r *run) {
	rounds := pick(r, 20, 3)
	f := r.newFeed(&facts.Topic{Name: "expired", Partitions: 4, Late: 3, Step: 100_000})
	w := want{feed: f, out: r.path("out"), removed: r.path("removed")}
	w.options.Dates = []string{w.out, w.removed}
	config := r.config(job{feed: f, group: "expired", out: w.out, parquet: dated})
	stays := r.start(config)
	f.produce(200)
	r.awaitWith(stays, "a commit", func() bool { return r.reached(w, f.counts) })
	for i := range rounds {
		dies := r.startAs(r.env.faulty, config, fmt.Sprintf("URLMILL_FAULT=at,recorded,%d", 1+r.rand.IntN(3)))
		r.await("a member to die behind a record", func() bool {
			f.produce(30)
			if r.moveAway(w, i) {
				r.fault("directories of old dates moved away")
			}
			return dies.Ended()
		})
		if !dies.endedBy(syscall.SIGKILL) {
			r.Fatalf("a process that was to be killed has ended with %v\n%s", dies.Err(), dies.text())
		}
		r.fault("kill -9 behind a record")
		f.produce(30)
		r.awaitWith(stays, "the other to take over", func() bool { return r.reached(w, f.counts) })
		if i%8 == 7 {
			stays.Kill()
			r.fault("kill -9")
			stays = r.start(config)
		}
	}
	r.finish(stays, f, w)
}

// moveAway moves some of the directories of dates, and reports whether it has found any.
func (r *run) moveAway(w want, round int) (moved bool) {
	r.Helper()
	dirs, err := filepath.Glob(filepath.Join(w.out, "dt=*"))
	r.must(err)
	for _, dir := range dirs {
		if r.rand.IntN(3) > 0 {
			continue
		}
		r.temps++
		to := filepath.Join(w.removed, fmt.Sprint(round, "-", r.temps))
		r.must(os.MkdirAll(to, 0o755))
		r.must(os.Rename(dir, filepath.Join(to, filepath.Base(dir))))
		moved = true
	}
	return moved
}

// movedAway returns the files that were moved away, by the names that they had in the output.
func (r *run) movedAway(w want) map[string]bool {
	r.Helper()
	if w.removed == "" {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(w.removed, "*", "*", "*.parquet"))
	r.must(err)
	names := make(map[string]bool, len(found))
	for _, file := range found {
		dir := filepath.Dir(file)
		names[filepath.Join(filepath.Base(dir), filepath.Base(file))] = true
	}
	return names
}

// compaction merges files beside members of a group that come and go, and is killed.
func compaction(r *run) {
	rounds, rows := pick(r, 60, 8), pick(r, 3_000_000, 100_000)
	f := r.newFeed(&facts.Topic{Name: "compaction", Partitions: 4})
	w := want{feed: f, out: r.path("out")}
	config := r.config(job{feed: f, group: "compaction", out: w.out, parquet: ", sort_by: [path]", rollRows: 5000})
	w.options.SortBy = "path"
	f.begin(rows / (rounds * 2))
	m := r.start(config)
	r.awaitWith(m, "a commit", func() bool { return sum(r.heads(w)) > 0 })
	for i := range rounds {
		args := []string{"compact", w.out, "--min-age", "0s", "--target-size", fmt.Sprint(64<<r.rand.IntN(5), "KiB")}
		switch i % 3 {
		case 0:
			c := r.command(r.env.binary, nil, args...)
			r.await("a compaction", c.Ended)
			if c.Err() != nil {
				r.Errorf("compacting: %v\n%s", c.Err(), c.text())
			}
			r.fault("compaction beside a writer")
		case 1:
			c := r.command(r.env.faulty, []string{fmt.Sprint("URLMILL_FAULT=kill,", 1+r.rand.IntN(200))}, args...)
			r.await("a compaction to die or to finish", c.Ended)
			if c.endedBy(syscall.SIGKILL) {
				r.fault("compaction killed before a call")
			} else if c.Err() != nil {
				r.Errorf("compacting: %v\n%s", c.Err(), c.text())
			}
		case 2:
			c := r.command(r.env.binary, nil, args...)
			time.Sleep(r.randomly(300 * time.Millisecond))
			m.Kill()
			r.fault("kill -9 of a writer during a compaction")
			m = r.start(config)
			r.await("a compaction", c.Ended)
		}
	}
	f.end(int64(rows))
	r.settle(m, f)
	last := r.command(r.env.binary, nil, "compact", w.out, "--min-age", "0s")
	r.await("a compaction", last.Ended)
	r.check(w)
}
