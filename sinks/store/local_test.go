package store_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

var quiet = slog.New(slog.DiscardHandler)

// must ends the test at the first error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func prepare(t *testing.T, root string, sys store.FS) *store.Local {
	t.Helper()
	l := store.NewLocal(root, sys, quiet)
	must(t, l.Prepare(t.Context()))
	return l
}

func finish(t *testing.T, s store.Store, name, content string) store.Pending {
	t.Helper()
	f, err := s.Begin(t.Context(), name)
	must(t, err)
	_, err = f.Write([]byte(content))
	must(t, err)
	p, err := f.Finish()
	must(t, err)
	return p
}

// onEach runs a test on every file system: its root, and the calls of a process.
func onEach(t *testing.T, test func(t *testing.T, root string, sys store.FS)) {
	t.Run("system", func(t *testing.T) { test(t, t.TempDir(), store.System) })
	t.Run("disk", func(t *testing.T) { test(t, "/", storetest.NewDisk().Process()) })
	t.Run("without links", func(t *testing.T) { test(t, t.TempDir(), withoutLinks()) })
}

func withoutLinks() store.FS {
	return noLinks{storetest.Wrap(store.System, func(c storetest.Call) error {
		if c.Op == "link" || c.Op == "rename" {
			return errors.ErrUnsupported
		}
		return nil
	})}
}

// noLinks can only create exclusively by moving in one step, and cannot do that for files that were written with
// Begin: what a file system with neither would be refused for.
type noLinks struct{ store.FS }

func (n noLinks) Rename(from, to string) error {
	if strings.HasSuffix(from, ".new") {
		return store.System.Rename(from, to)
	}
	return errors.ErrUnsupported
}

func TestPublish(t *testing.T) {
	onEach(t, func(t *testing.T, root string, sys store.FS) {
		ctx, l := t.Context(), prepare(t, root, sys)
		a, b := finish(t, l, "a.txt", "content"), finish(t, l, "day=1/b.txt", "")
		if a.Bytes != 7 || a.Checksum != "xxh3:55f2b31a6acfaa64" {
			t.Errorf("%+v", a)
		}
		visible := func() []string {
			t.Helper()
			entries, err := l.List(ctx, ".", "")
			must(t, err)
			var names []string
			for _, e := range entries {
				if e.Name != "_tmp" {
					names = append(names, e.Name)
				}
			}
			return names
		}
		if got := visible(); len(got) != 0 {
			t.Errorf("%v visible before it was published", got)
		}
		all := []store.Pending{a, b}
		must(t, l.Settle(ctx, all), l.Publish(ctx, all), l.Publish(ctx, all))
		if got := visible(); !slices.Equal(got, []string{"a.txt", "day=1"}) {
			t.Errorf("visible: %v", got)
		}
		if got, err := l.Read(ctx, "a.txt"); string(got) != "content" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		var gone *store.GoneError
		if err := l.Settle(ctx, all); !errors.As(err, &gone) {
			t.Errorf("settling what is published gave %v", err)
		}
		must(t, l.Delete(ctx, "a.txt"))
		if err := l.Publish(ctx, all); !errors.As(err, &gone) {
			t.Errorf("publishing what is gone gave %v", err)
		}
		c := finish(t, l, "c.txt", "c")
		must(t, l.Discard(ctx, []store.Pending{c}), l.Discard(ctx, []store.Pending{c}), l.Close())
		if _, err := sys.Stat(filepath.Join(root, "_tmp")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Close leaves %v", err)
		}
	})
}

// A process that does the same has got as far as possible at any moment.
func TestPublishHalfDone(t *testing.T) {
	root := t.TempDir()
	l := prepare(t, root, store.System)
	p := finish(t, l, "a.txt", "content")
	must(t, os.Link(filepath.Join(root, p.Token), filepath.Join(root, "a.txt"))) // has not removed the other name yet
	must(t, l.Publish(t.Context(), []store.Pending{p}))
	if _, err := os.Stat(filepath.Join(root, p.Token)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the unfinished name is still there: %v", err)
	}
	must(t, l.Close())
}

func TestPublishNeverReplaces(t *testing.T) {
	onEach(t, func(t *testing.T, root string, sys store.FS) {
		l := prepare(t, root, sys)
		must(t, l.Create(t.Context(), "taken", []byte("older and longer")))
		p := finish(t, l, "taken", "newer")
		err := l.Publish(t.Context(), []store.Pending{p})
		if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "is not replaced") {
			t.Errorf("got %v", err)
		}
		if got, _ := l.Read(t.Context(), "taken"); string(got) != "older and longer" {
			t.Errorf("replaced by %q", got)
		}
		must(t, l.Discard(t.Context(), []store.Pending{p}), l.Close())
	})
}

func TestKeysStayInside(t *testing.T) {
	l, ctx := prepare(t, t.TempDir(), store.System), t.Context()
	for _, key := range []string{"../out", "/etc/passwd", "a/../../b", ""} {
		out := []store.Pending{{Name: key, Token: "_tmp/x"}}
		_, read := l.Read(ctx, key)
		_, opened := l.Open(ctx, key)
		_, listed := l.List(ctx, key, "")
		_, begun := l.Begin(ctx, key)
		for what, err := range map[string]error{
			"create": l.Create(ctx, key, nil), "read": read, "open": opened, "list": listed, "begin": begun,
			"delete": l.Delete(ctx, key), "sync": l.Sync(ctx, key), "publish": l.Publish(ctx, out),
			"publish from": l.Publish(ctx, []store.Pending{{Name: "x", Token: key}}),
			"settle":       l.Settle(ctx, []store.Pending{{Name: "x", Token: key}}),
			"discard":      l.Discard(ctx, []store.Pending{{Name: "x", Token: key}}),
		} {
			if err == nil || !strings.Contains(err.Error(), "is not the name of a file in the directory") {
				t.Errorf("%s %q: %v", what, key, err)
			}
		}
	}
	must(t, l.Close())
}

func TestPrepareRefuses(t *testing.T) {
	dir := t.TempDir()
	file, dangling := filepath.Join(dir, "file"), filepath.Join(dir, "dangling")
	must(t, os.WriteFile(file, nil, 0o600), os.Mkdir(dangling, 0o700), os.Symlink("/nonexistent/x", filepath.Join(dangling, "_tmp")))
	tests := map[string][]string{
		file:                           {file, "is a file, not a directory", "give a directory"},
		filepath.Join(file, "below"):   {"a part of its path is a file"},
		filepath.Join(dir, "no", "no"): {filepath.Join(dir, "no") + " does not exist", "mkdir -p"},
		dangling:                       {"cannot be claimed"},
	}
	for path, want := range tests {
		err := store.NewLocal(path, store.System, quiet).Prepare(t.Context())
		if err == nil {
			t.Errorf("%s: prepared", path)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", path, err, w)
			}
		}
	}
}

func TestPrepareMakesTheDirectory(t *testing.T) {
	root := filepath.Join(t.TempDir(), "new")
	l := prepare(t, root, store.System)
	must(t, l.Prepare(t.Context())) // again is nothing
	if l.Location() != root || len(l.Run()) != 8 {
		t.Errorf("%s, %s", l.Location(), l.Run())
	}
	must(t, l.Close(), l.Close())
	if entries, err := os.ReadDir(root); len(entries) != 0 || err != nil {
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := l.Begin(t.Context(), "x"); err == nil {
		t.Error("Begin after Close")
	}
}

func TestAccessErrors(t *testing.T) {
	for fault, want := range map[error]string{
		syscall.EROFS:  "mounted read-only",
		syscall.ENOSPC: "no space left",
		syscall.EACCES: "make it writable for the user with id",
		syscall.EIO:    "cannot write in ",
	} {
		sys := storetest.Wrap(store.System, func(c storetest.Call) error {
			if c.Op == "mkdir" {
				return fault
			}
			return nil
		})
		root := t.TempDir()
		err := store.NewLocal(root, sys, quiet).Prepare(t.Context())
		if !errors.Is(err, fault) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), root) {
			t.Errorf("%v: got %v", fault, err)
		}
	}
}
