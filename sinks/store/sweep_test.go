package store_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// sweep collects what Sweep shows, by name, and has garbage decide.
func sweep(t *testing.T, l *store.Local, garbage func(store.Leftover) bool) map[string]store.Leftover {
	t.Helper()
	seen := map[string]store.Leftover{}
	must(t, l.Sweep(t.Context(), func(f store.Leftover) bool {
		seen[f.Name] = f
		return garbage(f)
	}))
	return seen
}

func dead(f store.Leftover) bool { return f.Dead }

func TestSweep(t *testing.T) {
	disk := storetest.NewDisk()
	deadProcess := disk.Process()
	gone := prepare(t, "/", deadProcess)
	finish(t, gone, "gone.txt", "123")
	if _, err := gone.Begin(t.Context(), "halfway.txt"); err != nil {
		t.Fatal(err)
	}
	deadProcess.Kill()
	alive := prepare(t, "/", disk.Process())
	finish(t, alive, "alive.txt", "12345")

	l := prepare(t, "/", disk.Process())
	finish(t, l, "own.txt", "")
	seen := sweep(t, l, func(store.Leftover) bool { return false })
	if len(seen) != 3 {
		t.Fatalf("seen %v", seen)
	}
	f := seen["gone.txt"]
	if !f.Dead || f.Bytes != 3 || f.Run != gone.Run() || time.Since(f.Modified) > time.Hour {
		t.Errorf("%+v", f)
	}
	if f := seen["alive.txt"]; f.Dead || f.Bytes != 5 || f.Run != alive.Run() {
		t.Errorf("%+v", f)
	}
	if !seen["halfway.txt"].Dead {
		t.Errorf("%+v", seen["halfway.txt"])
	}
	// What somebody wants to publish can be published.
	must(t, l.Publish(t.Context(), []store.Pending{seen["gone.txt"].Pending}))
	sweep(t, l, dead)
	if seen := sweep(t, l, dead); len(seen) != 1 || seen["alive.txt"].Dead {
		t.Errorf("then seen %v", seen)
	}
	if got := disk.Tree(); strings.Contains(got, gone.Run()) || !strings.Contains(got, alive.Run()) {
		t.Errorf("left:\n%s", got)
	}
	must(t, alive.Close(), l.Close())
}

// Locks of another kernel may not be seen, so a free one says nothing, at first.
func TestSweepAfterReboot(t *testing.T) {
	root := t.TempDir()
	before := prepare(t, root, boot{store.System, "before"})
	finish(t, before, "x.txt", "")
	if _, err := before.Begin(t.Context(), "y.txt"); err != nil {
		t.Fatal(err)
	}
	must(t, before.Close()) // lets go of the lock as the end of the process would
	l := prepare(t, root, boot{store.System, "after"})
	if seen := sweep(t, l, dead); len(seen) != 2 || seen["x.txt"].Dead {
		t.Errorf("seen %v", seen)
	}
	old := time.Now().Add(-25 * time.Hour)
	must(t, os.Chtimes(filepath.Join(root, "_tmp", before.Run()), old, old))
	if seen := sweep(t, l, dead); len(seen) != 2 || !seen["x.txt"].Dead {
		t.Errorf("a day later: %v", seen)
	}
	if seen := sweep(t, l, dead); len(seen) != 0 {
		t.Errorf("left: %v", seen)
	}
	must(t, l.Close())
}

type boot struct {
	store.FS
	id string
}

func (b boot) Boot() string { return b.id }

func TestSweepSparesTheForeign(t *testing.T) {
	root := t.TempDir()
	foreign := filepath.Join(root, "_tmp", "foreign")
	must(t, os.MkdirAll(foreign, 0o700), os.WriteFile(filepath.Join(foreign, "mine"), nil, 0o600),
		os.Mkdir(filepath.Join(root, "_tmp", "unlocked"), 0o700))
	l := prepare(t, root, store.System)
	if seen := sweep(t, l, dead); len(seen) != 0 {
		t.Errorf("seen %v", seen)
	}
	if _, err := os.Stat(filepath.Join(foreign, "mine")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, "_tmp", "unlocked")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory of a process that died at once is left: %v", err)
	}
	must(t, l.Close())
}

func TestSweepErrors(t *testing.T) {
	var log bytes.Buffer
	root := t.TempDir()
	gone := prepare(t, root, store.System)
	finish(t, gone, "x.txt", "")
	must(t, gone.Close())
	l := store.NewLocal(root, failOn("remove", "x.txt", syscall.EIO), slog.New(slog.NewTextHandler(&log, nil)))
	must(t, l.Prepare(t.Context()))
	sweep(t, l, dead)
	if !strings.Contains(log.String(), "cannot remove an unfinished file") {
		t.Errorf("logged %q", log.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Sweep(ctx, dead); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	must(t, l.Close())
	other := store.NewLocal(root, failOn("readdir", "_tmp", syscall.EIO), quiet)
	if err := other.Sweep(t.Context(), dead); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
	if err := store.NewLocal(t.TempDir(), store.System, quiet).Sweep(t.Context(), dead); err != nil {
		t.Error(err)
	}
}
