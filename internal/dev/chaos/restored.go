package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
)

// restored puts an output back from a copy. The process stops at that, because the group is ahead, and reads again what is
// missing when it is told to; a state of duplicates that has seen it all before is in no way of it.
func restored(r *run) {
	for _, drop := range []bool{false, true} {
		rounds := pick(r, 8, 2)
		name := fmt.Sprint("restored-", drop)
		f := r.newFeed(&facts.Topic{Name: name, Partitions: 3, Pages: drop})
		w := want{feed: f, out: r.path(name)}
		j := job{feed: f, group: name, out: w.out}
		if drop {
			j.dedupe = fmt.Sprintf("{path: %q, mode: drop, memory: 32MiB}", r.path("seen"))
		}
		strict := r.config(j)
		j.source = ", on_group_ahead: rewind"
		rewind := r.config(j)
		commits := func(config string) {
			f.produce(1000)
			m := r.start(config)
			r.awaitWith(m, "a commit", func() bool { return r.reached(w, f.counts) })
			r.stop(m)
		}
		for range rounds {
			commits(strict)
			backup := r.path("backup")
			r.must(os.CopyFS(backup, os.DirFS(w.out)))
			commits(strict)
			r.must(os.RemoveAll(w.out))
			r.must(os.Rename(backup, w.out))
			r.fault("output put back from a copy")
			r.refuses(r.start(strict), "on_group_ahead")
			m := r.start(rewind)
			if r.rand.IntN(2) == 0 {
				before := sum(r.heads(w))
				r.awaitWith(m, "a commit", func() bool { return sum(r.heads(w)) > before })
				m.Kill()
				r.fault("kill -9")
				m = r.start(rewind)
			}
			r.awaitWith(m, "a commit", func() bool { return r.reached(w, f.counts) })
			r.stop(m)
		}
		r.finish(r.start(strict), f, w)
	}
}

// fullState fills the file system of a state of duplicates: the process stops and says why, and the next one goes on when
// there is room.
func fullState(r *run) {
	rounds, perRound := pick(r, 8, 2), pick(r, 100_000, 60_000)
	dir, ok := r.tmpfs(4 << 20)
	if !ok {
		return
	}
	f := r.newFeed(&facts.Topic{Name: "state", Partitions: 3, Pages: true})
	w := want{feed: f, out: r.path("out")}
	config := r.config(job{
		feed: f, group: "state", out: w.out, dedupe: fmt.Sprintf("{path: %q, mode: drop, memory: 16MiB}", filepath.Join(dir, "seen")),
	})
	room := int64(4 << 20)
	for i := range rounds {
		f.produce(perRound)
		if i > 0 {
			r.must(fill(filepath.Join(dir, "ballast"), r.rand.Int64N(1<<20)))
		}
		r.refuses(r.start(config), syscall.ENOSPC.Error())
		r.fault("file system of the state full")
		_ = os.Remove(filepath.Join(dir, "ballast")) // the first time it is full by itself
		room += 64 << 20
		r.mount(dir, fmt.Sprint("size=", room))
		m := r.start(config)
		r.awaitWith(m, "everything to be committed", func() bool { return r.reached(w, f.counts) })
		m.Kill()
		r.fault("kill -9")
	}
	r.finish(r.start(config), f, w)
}

// tmpfs mounts a file system of so many bytes until the scenario is over. It takes root, and returns false without.
func (r *run) tmpfs(size int64) (dir string, ok bool) {
	r.Helper()
	dir = r.TempDir()
	if text, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprint("size=", size), "tmpfs", dir).CombinedOutput(); err != nil {
		r.Logf("no file system of its own, which takes root (%v: %s)", err, text)
		return "", false
	}
	r.Cleanup(func() {
		r.endMills()
		if text, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			r.Errorf("umount: %v: %s", err, text)
		}
	})
	return dir, true
}
