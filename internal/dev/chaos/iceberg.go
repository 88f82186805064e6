package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// keptTable has a table kept within bounds by urlmill compact while files are registered in it, and kills both at any moment. The table has
// every row once, whatever was merged and removed meanwhile.
func keptTable(r *run) {
	rounds := pick(r, 20, 3)
	r.needPython()
	f := r.newFeed(&facts.Topic{Name: "kept", Partitions: 3})
	w := want{feed: f, out: r.path("out")}
	config := r.config(job{feed: f, group: "kept", out: w.out, parquet: `, partition_by: ["date(timestamp)"], iceberg: {table: web.clicks, every: 1s}`})
	keep := func(flags ...string) *mill {
		return r.command(r.env.binary, nil, append([]string{"compact", w.out, "--config", config, "--max-snapshots", "10"}, flags...)...)
	}
	var m, keeper *mill
	tabled := func() bool { // there is a table to be kept
		_, err := os.Stat(filepath.Join(w.out, "_catalog.db"))
		return err == nil && r.reached(w, f.counts)
	}
	for i := range rounds {
		if m == nil || m.Ended() {
			m = r.start(config)
		}
		f.produce(300)
		r.awaitWith(m, "the first commits", tabled)
		if keeper == nil || keeper.Ended() {
			keeper = keep("--watch", "1s", "--load", "100")
		}
		for until := time.Now().Add(2*time.Second + r.randomly(3*time.Second)); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
			f.produce(30)
		}
		if i%3 != 1 {
			keeper.Kill()
			r.fault("kill -9 of urlmill compact")
		}
		if i%3 != 0 {
			m.Kill()
			r.fault("kill -9")
		}
	}
	if keeper.Ended() {
		keeper = keep("--watch", "1s", "--load", "100")
	}
	if m.Ended() {
		m = r.start(config)
	}
	r.settle(m, f)
	r.stop(keeper)
	last := keep()
	r.await("a last look at the table", last.Ended)
	if last.Err() != nil {
		r.Errorf("urlmill compact: %v\n%s", last.Err(), last.text())
	}
	r.verify(w)
	snapshots := r.snapshots(w)
	files, merged := snapshots[len(snapshots)-1].Files, 0
	for _, name := range files {
		if strings.Contains(name, "/_iceberg/data/") {
			merged++
		}
	}
	r.Logf("the table has %d files, %d of them merged, and %d snapshots", len(files), merged, len(snapshots))
	if merged == 0 || len(snapshots) > 11 {
		r.Errorf("the table was not kept: %d files, %d merged, %d snapshots", len(files), merged, len(snapshots))
	}
	w.options.Columns = columns(f.Topic)
	c := check.New(w.options, f.Topic)
	r.must(c.ReadFiles(files))
	r.compare(c, w)
	r.out.Rows += f.Rows()
}

// tableSnapshot is what a snapshot names, and how many rows it says were added.
type tableSnapshot struct {
	Files []string
	Added int64
}

// snapshots returns those of the table of an output, in their order.
func (r *run) snapshots(w want) (all []tableSnapshot) {
	r.Helper()
	cmd := exec.Command(r.env.python, "-c", icebergScript, filepath.Join(w.out, "_catalog.db"), "web.clicks")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		r.Fatalf("pyiceberg: %v\n%s", err, stderr.String())
	}
	r.must(json.Unmarshal(text, &all))
	if len(all) == 0 {
		r.Fatalf("the table has no snapshot")
	}
	return all
}

// checkTable reads the table of an output: its last snapshot has every row, and every snapshot has the files of those before.
func (r *run) checkTable(w want) {
	r.Helper()
	snapshots := r.snapshots(w)
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
	w.options.Columns = columns(w.feed.Topic)
	c := check.New(w.options, w.feed.Topic)
	r.must(c.ReadFiles(snapshots[len(snapshots)-1].Files))
	r.Logf("the table, by its %d snapshots:", len(snapshots))
	r.compare(c, w)
	if c.Rows != added {
		r.Errorf("the table has %d rows, and its snapshots say that %d were added", c.Rows, added)
	}
}
