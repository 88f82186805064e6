package outfile

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func open(t *testing.T, path string) *Dir {
	t.Helper()
	d, err := Open(path, slog.New(slog.DiscardHandler), System)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func create(t *testing.T, d *Dir, content string) *File {
	t.Helper()
	f, err := d.Create()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	return f
}

// visible returns the names that are in dir besides the place for unfinished files.
func visible(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Name() != tmpName {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestPublish(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	d := open(t, path)
	f := create(t, d, "content")
	if f.Size() != 7 {
		t.Errorf("size %d", f.Size())
	}
	if err := f.Publish("early"); err == nil {
		t.Error("published before it was finished")
	}
	if err := f.Remove(); err != nil {
		t.Fatal(err)
	}
	f = create(t, d, "content")
	if err := f.Finish(); err != nil {
		t.Fatal(err)
	}
	if got := visible(t, path); got != nil {
		t.Errorf("%v visible before it was published", got)
	}
	if err := errors.Join(f.Publish("a.txt"), d.Sync()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(path, "a.txt")); string(got) != "content" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if f.Path() != filepath.Join(path, "a.txt") {
		t.Errorf("path %s", f.Path())
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(path); len(entries) != 1 {
		t.Errorf("%v left after Close", entries)
	}
}

func TestNeverReplaces(t *testing.T) {
	d := open(t, t.TempDir())
	if err := os.WriteFile(filepath.Join(d.Path(), "taken"), []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	rename := map[string]func(string, string) error{"system": renameNoReplace, "link": linkNoReplace}
	for name, rename := range rename {
		t.Run(name, func(t *testing.T) {
			f := create(t, d, "newer")
			if err := f.Finish(); err != nil {
				t.Fatal(err)
			}
			f.dir = &Dir{path: d.path, ops: failing{Ops: System, rename: rename}}
			err := f.Publish("taken")
			if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "is there already and is not replaced") {
				t.Errorf("got %v", err)
			}
			if got, _ := os.ReadFile(filepath.Join(d.Path(), "taken")); string(got) != "older" {
				t.Errorf("replaced by %q", got)
			}
			if err := f.Remove(); err != nil {
				t.Error(err)
			}
		})
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestLinkNoReplaceMoves(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.WriteFile(from, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := linkNoReplace(from, to); err != nil {
		t.Fatal(err)
	}
	if got := visible(t, dir); len(got) != 1 || got[0] != "to" {
		t.Errorf("got %v", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dangling := filepath.Join(dir, "dangling")
	if err := errors.Join(os.Mkdir(dangling, 0o700), os.Symlink("/nonexistent/x", filepath.Join(dangling, tmpName))); err != nil {
		t.Fatal(err)
	}
	tests := map[string][]string{
		file:                           {file, "is a file, not a directory", "give a directory"},
		filepath.Join(file, "below"):   {"a part of its path is a file"},
		filepath.Join(dir, "no", "no"): {filepath.Join(dir, "no") + " does not exist", "mkdir -p"},
		dangling:                       {"cannot be claimed"},
	}
	for path, want := range tests {
		_, err := Open(path, slog.New(slog.DiscardHandler), System)
		if err == nil {
			t.Errorf("%s: opened", path)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", path, err, w)
			}
		}
	}
}

func TestExplainAccess(t *testing.T) {
	for err, want := range map[error]string{
		syscall.EROFS:  "mounted read-only",
		syscall.ENOSPC: "no space left",
		syscall.EACCES: "make it writable for the user with id",
		syscall.EIO:    "cannot write in /out",
	} {
		got := explainAccess("/out", err)
		if !strings.Contains(got.Error(), want) || !errors.Is(got, err) {
			t.Errorf("%v: got %q", err, got)
		}
	}
}

// failing is a system with faults.
type failing struct {
	Ops
	rename  func(string, string) error
	syncDir error
	handle  func(Handle) Handle
	create  error
}

func (f failing) Create(path string) (Handle, error) {
	if f.create != nil {
		return nil, f.create
	}
	h, err := f.Ops.Create(path)
	if err == nil && f.handle != nil {
		h = f.handle(h)
	}
	return h, err
}

func (f failing) Rename(o, n string) error {
	if f.rename != nil {
		return f.rename(o, n)
	}
	return f.Ops.Rename(o, n)
}

func (f failing) SyncDir(path string) error { return errors.Join(f.syncDir, f.Ops.SyncDir(path)) }

type failingHandle struct {
	Handle
	write, sync, close error
}

func (h failingHandle) Write(p []byte) (int, error) {
	if h.write != nil {
		return len(p) / 2, h.write
	}
	return h.Handle.Write(p)
}

func (h failingHandle) Sync() error  { return errors.Join(h.sync, h.Handle.Sync()) }
func (h failingHandle) Close() error { return errors.Join(h.close, h.Handle.Close()) }

func TestErrorsStick(t *testing.T) {
	tests := map[string]struct {
		fault failingHandle
		want  string
	}{
		"full":   {failingHandle{write: syscall.ENOSPC}, "the file system is full; free some space"},
		"quota":  {failingHandle{write: syscall.EDQUOT}, "the disk quota is used up"},
		"large":  {failingHandle{write: syscall.EFBIG}, "roll.bytes"},
		"sync":   {failingHandle{sync: syscall.EIO}, "syncing"},
		"rofs":   {failingHandle{sync: syscall.EROFS}, "has become read-only"},
		"closed": {failingHandle{close: syscall.EIO}, "closing"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d, err := Open(t.TempDir(), slog.New(slog.DiscardHandler), failing{Ops: System, handle: func(h Handle) Handle {
				tc.fault.Handle = h
				return tc.fault
			}})
			if err != nil {
				t.Fatal(err)
			}
			f := create(t, d, "some bytes")
			err = f.Finish()
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), f.tmp) ||
				!strings.Contains(err.Error(), "after 10 bytes") {
				t.Errorf("got %v", err)
			}
			if got := f.Publish("x"); !errors.Is(got, err) {
				t.Errorf("then publishing gave %v", got)
			}
			if _, got := f.Write([]byte("x")); !errors.Is(got, err) {
				t.Errorf("then writing gave %v", got)
			}
			if err := f.Remove(); err != nil {
				t.Errorf("removing: %v", err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			if got := visible(t, d.Path()); got != nil {
				t.Errorf("%v is visible", got)
			}
		})
	}
}

func TestCreateFails(t *testing.T) {
	d, err := Open(t.TempDir(), slog.New(slog.DiscardHandler), failing{Ops: System, create: syscall.ENOSPC})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Create(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), d.Path()) {
		t.Errorf("got %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestSyncFails(t *testing.T) {
	d, err := Open(t.TempDir(), slog.New(slog.DiscardHandler), failing{Ops: System, syncDir: syscall.EIO})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestStaleFiles(t *testing.T) {
	if !canLock {
		t.Skip("no locks on this system, so nothing is ever taken for stale")
	}
	path := t.TempDir()
	alive := open(t, path)
	create(t, alive, "in work")

	// A run whose process has died holds its files but not its lock.
	dead := open(t, path)
	f := create(t, dead, strings.Repeat("x", bufferSize+1))
	if err := errors.Join(f.h.Close(), dead.lock.Close()); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(path, tmpName, "foreign")
	if err := errors.Join(os.Mkdir(foreign, 0o700), os.WriteFile(filepath.Join(foreign, "mine"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}

	var log bytes.Buffer
	d, err := Open(path, slog.New(slog.NewTextHandler(&log, nil)), System)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead.tmp); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stale files are still there: %v", err)
	}
	if !strings.Contains(log.String(), "removed unfinished files") || !strings.Contains(log.String(), "files=1") {
		t.Errorf("logged %q", log.String())
	}
	if _, err := os.Stat(filepath.Join(alive.tmp, "1.tmp")); err != nil {
		t.Errorf("a file in work was removed: %v", err)
	}
	if _, err := os.Stat(filepath.Join(foreign, "mine")); err != nil {
		t.Errorf("a foreign file was removed: %v", err)
	}
	if err := errors.Join(d.Close(), alive.Close()); err != nil {
		t.Error(err)
	}
}
