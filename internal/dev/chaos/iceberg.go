package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/urlmill/urlmill/internal/dev/chaos/check"
	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
)

//go:embed iceberg.py
var icebergScript string

// icebergTable registers files in a table while members of the group are killed, and stopped between a commit's record and the
// names of its files, with others starting meanwhile. The table is read back by its snapshots.
func icebergTable(r *run) {
	rounds := pick(r, 30, 4)
	r.needPython()
	f := r.newFeed(&facts.Topic{Name: "iceberg", Partitions: 3})
	w := want{feed: f, out: r.path("out")}
	config := r.config(job{feed: f, group: "iceberg", out: w.out, parquet: `, partition_by: ["date(timestamp)"], iceberg: {table: web.clicks, every: 1s}`})
	for i := range rounds {
		// One goes to sleep behind a record, and another one starts meanwhile that has looked at the records before that.
		sleeps := r.startAs(r.env.faulty, config, fmt.Sprintf("URLMILL_FAULT=stop,recorded,%d", f.Partitions+1+r.rand.IntN(3)))
		f.produce(500)
		r.await("commits", func() bool { return sleeps.Ended() || stopped(sleeps.ID()) || r.reached(w, f.counts) })
		m := r.startAs(r.env.faulty, config, "URLMILL_FAULT=stop,table,1")
		r.await("a process to stop before it looks at the table", func() bool { return m.Ended() || stopped(m.ID()) })
		r.await("a process to stop behind a record", func() bool {
			f.produce(100)
			return sleeps.Ended() || stopped(sleeps.ID())
		})
		r.fault("SIGSTOP between record and names")
		m.Signal(syscall.SIGCONT)
		time.Sleep(r.randomly(3 * time.Second)) // the successor may have the lanes by then, or not
		sleeps.Signal(syscall.SIGCONT)
		r.awaitWith(m, "the successor to commit", func() bool { return r.reached(w, f.counts) })
		sleeps.Kill()
		r.fault("kill -9")
		if i%2 == 0 {
			m.Kill()
			r.fault("kill -9")
		} else {
			r.stop(m)
		}
	}
	r.finish(r.start(config), f, w)
	r.checkTable(w)
}

// checkTable reads the table of an output: its last snapshot has every row, and every snapshot has the files of those before.
func (r *run) checkTable(w want) {
	r.Helper()
	cmd := exec.Command(r.env.python, "-c", icebergScript, filepath.Join(w.out, "_catalog.db"), "web.clicks")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		r.Fatalf("pyiceberg: %v\n%s", err, stderr.String())
	}
	var snapshots []struct {
		Files []string
		Added int64
	}
	r.must(json.Unmarshal(text, &snapshots))
	before, added := map[string]bool{}, int64(0)
	for i, s := range snapshots {
		now := map[string]bool{}
		for _, name := range s.Files {
			if now[name] {
				r.Errorf("snapshot %d has %s twice", i, name)
			}
			now[name] = true
		}
		for name := range before {
			if !now[name] {
				r.Errorf("snapshot %d has lost %s", i, name)
			}
		}
		before = now
		added += s.Added
	}
	if len(snapshots) == 0 {
		r.Fatalf("the table has no snapshot")
	}
	w.options.Columns = columns(w.feed.Topic)
	c := check.New(w.options, w.feed.Topic)
	r.must(c.ReadFiles(snapshots[len(snapshots)-1].Files))
	r.Logf("the table, by its %d snapshots:", len(snapshots))
	r.compare(c, w)
	if c.Rows != added {
		r.Errorf("the table has %d rows, and its snapshots say that %d were added", c.Rows, added)
	}
}
