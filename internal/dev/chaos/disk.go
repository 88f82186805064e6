package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
)

// storeErrors has calls to the file system fail: it is full, read-only, or broken, for some calls or for good. The
// process stops with the reason, or goes on if the call did not matter; the next one takes over.
func storeErrors(r *run) {
	rounds := pick(r, 150, 12)
	f := r.newFeed(&facts.Topic{Name: "disk", Partitions: 2})
	w := want{feed: f, out: filepath.Join(r.dir, "out")}
	reasons := map[string]string{
		"ENOSPC": syscall.ENOSPC.Error(), "EROFS": syscall.EROFS.Error(), "EIO": syscall.EIO.Error(),
	}
	for i := range rounds {
		f.produce(500)
		kind := []string{"ENOSPC", "EROFS", "EIO"}[i%3]
		fault := fmt.Sprintf("URLMILL_FAULT=%s,%d,%d", kind, 1+r.rand.IntN(60), []int{1, 3, 1_000_000}[r.rand.IntN(3)])
		config := r.config(job{feed: f, group: fmt.Sprint("disk-", i), out: w.out, rollRows: 100, rollEvery: 30 * time.Millisecond})
		m := r.startAs(r.env.faulty, config, fault)
		r.await("a process to stop or to finish", func() bool { return m.Ended() || r.reached(w, f.counts) })
		if m.Ended() {
			r.refuses(m, reasons[kind])
		} else {
			m.Signal(syscall.SIGTERM)
			r.await("a process to end", m.Ended)
		}
		if strings.Contains(m.text(), "fault: ") {
			r.fault(kind + " from the file system")
		}
	}
	r.finish(r.start(r.config(job{feed: f, group: "disk", out: w.out})), f, w)
}

// fullDisk fills a real file system, mounts it read-only, and gives it space again. It takes root.
func fullDisk(r *run) {
	rounds := pick(r, 10, 2)
	dir, ok := r.tmpfs(64 << 20)
	if !ok {
		return
	}
	f := r.newFeed(&facts.Topic{Name: "full", Partitions: 2})
	w := want{feed: f, out: filepath.Join(dir, "out"), dir: filepath.Join(r.dir, "copy")}
	config := r.config(job{feed: f, group: "full", out: w.out, rollRows: 10_000})
	ballast := filepath.Join(dir, "_ballast")
	for i := range rounds {
		f.produce(100_000)
		if i%2 == 0 {
			// So much is left that it starts, and gets somewhere.
			r.must(fill(ballast, int64(r.rand.IntN(32))<<10))
			r.refuses(r.start(config), syscall.ENOSPC.Error())
			r.must(os.Remove(ballast))
			r.fault("file system full")
		} else {
			r.mount(dir, "ro")
			r.refuses(r.start(config), "read-only")
			r.mount(dir, "rw")
			r.fault("file system read-only")
		}
		m := r.start(config)
		r.awaitWith(m, "everything to be committed", func() bool { return r.reached(w, f.counts) })
		r.stop(m)
	}
	// A copy can be read when the file system is gone.
	m := r.start(config)
	r.awaitWith(m, "everything to be committed", func() bool { return r.reached(w, f.counts) })
	r.stop(m)
	r.must(os.CopyFS(w.dir, os.DirFS(w.out)))
	r.check(w)
}

func (r *run) mount(dir, option string) {
	r.Helper()
	if text, err := exec.Command("mount", "-o", "remount,"+option, dir).CombinedOutput(); err != nil {
		r.Fatalf("remounting: %v: %s", err, text)
	}
}

// fill fills a file system with a file, but for so many bytes.
func fill(name string, leave int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, 64<<10)
	for {
		if _, err = f.Write(block); err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return f.Truncate(max(0, info.Size()-leave))
}
