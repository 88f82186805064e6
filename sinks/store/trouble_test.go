package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// A directory is removed, with what is in it, before each of the calls that publish a file, once or for ever.
func TestPublishIntoARemovedDirectory(t *testing.T) {
	for at, reached := 0, true; reached; at++ {
		for _, times := range []int{1, 3} {
			root := t.TempDir()
			dir, calls := filepath.Join(root, "dt=1"), -1
			l := prepare(t, root, storetest.Wrap(store.System, func(storetest.Call) error {
				if calls++; calls >= at && calls < at+times {
					must(t, os.RemoveAll(dir))
				}
				return nil
			}))
			p := finish(t, l, "dt=1/hour=2/x.txt", "content")
			must(t, l.Settle(t.Context(), []store.Pending{p}))
			calls = -1
			if err := l.Publish(t.Context(), []store.Pending{p}); err != nil {
				t.Fatalf("before %d calls from %d on: %v", times, at, err)
			}
			reached = calls >= at
			// If it is not there, it has been there.
			if _, err := os.Stat(filepath.Join(root, p.Token)); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("before %d calls from %d on: it is not published", times, at)
			}
			must(t, l.Close())
		}
	}
	l := prepare(t, t.TempDir(), failOn("rename", "x.txt", syscall.ENOENT)) // removed again and again
	p := finish(t, l, "dt=1/x.txt", "")
	if err := l.Publish(t.Context(), []store.Pending{p}); !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), "a directory is missing") {
		t.Errorf("got %v", err)
	}
	must(t, l.Settle(t.Context(), []store.Pending{p}), l.Discard(t.Context(), []store.Pending{p}), l.Close())
}

// What would keep files from being published is found before the commit.
func TestSettleTriesTheDirectory(t *testing.T) {
	for fault, want := range map[error]string{
		syscall.EXDEV:  "dt=1 is on another file system",
		syscall.EACCES: "no permission to write in ",
		syscall.EROFS:  "mounted read-only",
	} {
		moves := 0
		root := t.TempDir()
		must(t, os.Mkdir(filepath.Join(root, "dt=1"), 0o700))
		l := prepare(t, root, storetest.Wrap(store.System, func(c storetest.Call) error {
			if c.Op == "move" {
				moves++
				return fault
			}
			return nil
		}))
		p := finish(t, l, "dt=1/hour=2/x.txt", "content")
		err := l.Settle(t.Context(), []store.Pending{p})
		if !errors.Is(err, fault) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Join(root, "dt=1")) {
			t.Errorf("got %v", err)
		}
		fault = nil
		must(t, l.Settle(t.Context(), []store.Pending{p}), l.Settle(t.Context(), []store.Pending{p}))
		if moves != 2 {
			t.Errorf("tried %d times", moves)
		}
		must(t, l.Discard(t.Context(), []store.Pending{p}), l.Close())
		if left, _ := os.ReadDir(root); len(left) != 1 {
			t.Errorf("left: %v", left)
		}
	}
}

// When a directory could not be made durable, nothing is believed of the disk any more.
func TestFailedSyncIsFinal(t *testing.T) {
	fault := error(syscall.EIO)
	l := prepare(t, t.TempDir(), storetest.Wrap(store.System, func(c storetest.Call) error {
		if c.Op == "syncdir" && strings.HasSuffix(c.Path, "dir") {
			return fault
		}
		return nil
	}))
	ctx, p := t.Context(), finish(t, l, "x.txt", "")
	if err := l.Create(ctx, "dir/a", nil); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
	fault = nil
	for what, err := range map[string]error{
		"create": l.Create(ctx, "dir/b", nil), "sync": l.Sync(ctx, "dir"), "settle": l.Settle(ctx, []store.Pending{p}), "publish": l.Publish(ctx, []store.Pending{p}),
	} {
		if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "could not be made durable before") {
			t.Errorf("%s: got %v", what, err)
		}
	}
	must(t, l.Close())
}

// What another machine has made is found though this one takes it for missing.
func TestStaleLookups(t *testing.T) {
	root := t.TempDir()
	one, two := prepare(t, root, store.System), prepare(t, root, storetest.Stale(store.System))
	if _, err := two.Read(t.Context(), "a/b"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := two.Open(t.Context(), "dt=1/x.txt"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	p := finish(t, one, "dt=1/x.txt", "content")
	must(t, one.Create(t.Context(), "a/b", []byte("object")), one.Publish(t.Context(), []store.Pending{p}))
	if got, err := two.Read(t.Context(), "a/b"); string(got) != "object" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	o, err := two.Open(t.Context(), "dt=1/x.txt")
	must(t, err)
	must(t, o.Close(), two.Publish(t.Context(), []store.Pending{p}), one.Close(), two.Close())
}
