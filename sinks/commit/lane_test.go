package commit

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

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

func TestPositionsOfALane(t *testing.T) {
	rows := store.NewLocal(t.TempDir(), store.System, quiet)
	c := newChain(t, rows)
	ctx := t.Context()
	l, err := c.Open(ctx, clicks)
	must(t, err)
	if l.Next() != pipeline.Unknown {
		t.Errorf("a new lane begins at %d", l.Next())
	}
	must(t, l.Commit(ctx, pipeline.Span{First: 10, Next: 20}, nil))
	must(t, l.Commit(ctx, pipeline.Span{First: 25, Next: 30}, nil)) // the positions between are left out
	if l.Next() != 30 {
		t.Errorf("next is %d", l.Next())
	}
	r, err := rows.Read(ctx, recordKey(l.dir, 20))
	must(t, err)
	if !bytes.Contains(r, []byte(`"first":20,"next":30,"from":25,"files":[]`)) {
		t.Errorf("record %s", r)
	}
	l, err = c.Open(ctx, clicks)
	must(t, err)
	if l.Next() != 30 {
		t.Errorf("then next is %d", l.Next())
	}
	f := writeFile(t, c, 29)
	if err := l.Commit(ctx, pipeline.Span{First: 29, Next: 35}, []File{f}); err == nil || !strings.Contains(err.Error(), "cannot be committed after 30") {
		t.Errorf("going back gave %v", err)
	}
	f = writeFile(t, c, 31)
	if err := l.Commit(ctx, pipeline.Span{First: 31, Next: 35}, []File{f}); err == nil {
		t.Error("the lane goes on after an error")
	}
	must(t, rows.Close())
	if entries, _ := os.ReadDir(rows.Location()); len(entries) != 1 {
		t.Errorf("left: %v", entries)
	}
}

// Two processes begin a lane at different positions.
func TestBeginTwice(t *testing.T) {
	rows := store.NewLocal(t.TempDir(), store.System, quiet)
	c := newChain(t, rows)
	ctx := t.Context()
	open := func() *Lane {
		t.Helper()
		l, err := c.Open(ctx, clicks)
		must(t, err)
		return l
	}
	one, other, same := open(), open(), open()
	must(t, one.begin(ctx, pipeline.Span{First: 10}))
	err := other.Commit(ctx, pipeline.Span{First: 12, Next: 20}, nil)
	var fenced *FencedError
	if !errors.As(err, &fenced) || !errors.Is(err, pipeline.ErrLaneLost) || fenced.Run != rows.Run() {
		t.Errorf("got %v", err)
	}
	must(t, same.Commit(ctx, pipeline.Span{First: 10, Next: 20}, nil))
	err = one.Commit(ctx, pipeline.Span{First: 10, Next: 15}, []File{writeFile(t, c, 10)})
	if !errors.As(err, &fenced) || !strings.Contains(err.Error(), "position 10 was committed by the process "+rows.Run()) {
		t.Errorf("got %v", err)
	}
	must(t, rows.Close())
	if _, err := os.Stat(filepath.Join(rows.Location(), "_tmp")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the file of the commit that came to nothing is still there")
	}
}

func TestCancelledBeforeTheCommit(t *testing.T) {
	rows := store.NewLocal(t.TempDir(), store.System, quiet)
	c := newChain(t, rows)
	l, err := c.Open(t.Context(), clicks)
	must(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(pipeline.ErrLaneLost)
	if err := l.Commit(ctx, pipeline.Span{First: 10, Next: 20}, []File{writeFile(t, c, 10)}); !errors.Is(err, pipeline.ErrLaneLost) {
		t.Errorf("got %v", err)
	}
	if l, _ = c.Open(t.Context(), clicks); l.Next() == 20 {
		t.Error("it is committed")
	}
	must(t, rows.Close())
}

// failing is the system with a fault in one kind of call.
func failing(fault *error, op, suffix string) store.FS {
	return storetest.Wrap(store.System, func(c storetest.Call) error {
		if c.Op == op && strings.HasSuffix(c.Path, suffix) {
			return *fault
		}
		return nil
	})
}

// After these faults nobody knows at once whether there was a commit. The next start does.
func TestFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		op, suffix string
		committed  bool
		says       string
	}{
		"record cannot be written":  {"write", ".new", false, "no space left"},
		"record cannot be linked":   {"link", "40.json", false, "no space left"},
		"record may not be durable": {"syncdir", "clicks/3", true, "no space left"},
		"no look at checkpoints":    {"readfile", "40.jsonl", true, "no space left"},
		"file cannot be published":  {"rename", ".txt", true, "are committed, and their files will be published by the next start"},
		"names may not be durable":  {"syncdir", "out", true, "are committed, and their files will be published by the next start"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, root := t.Context(), filepath.Join(t.TempDir(), "out")
			var fault error
			rows := store.NewLocal(root, failing(&fault, tc.op, tc.suffix), quiet)
			c := newChain(t, rows)
			l, err := c.Open(ctx, clicks)
			must(t, err)
			f := writeFile(t, c, 40)
			must(t, l.begin(ctx, pipeline.Span{First: 40}))
			fault = syscall.ENOSPC
			if err := l.Commit(ctx, pipeline.Span{First: 40, Next: 50}, []File{f}); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v", err)
			}
			fault = nil
			must(t, rows.Close())

			next := store.NewLocal(root, store.System, quiet)
			c = newChain(t, next)
			must(t, c.Sweep(ctx, next))
			l, err = c.Open(ctx, clicks)
			must(t, err)
			if (l.Next() == 50) != tc.committed {
				t.Errorf("then next is %d", l.Next())
			}
			if _, err := os.Stat(filepath.Join(root, f.Name)); (err == nil) != tc.committed {
				t.Errorf("then the file: %v", err)
			}
			must(t, next.Close())
			if _, err := os.Stat(filepath.Join(root, "_tmp")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("_tmp is left")
			}
		})
	}
}

// Before the commit, every fault leaves nothing.
func TestFaultsBeforeTheCommit(t *testing.T) {
	for name, tc := range map[string][2]string{
		"start cannot be written":       {"link", "start.json"},
		"files may not survive a crash": {"stat", ".txt.tmp"},
	} {
		t.Run(name, func(t *testing.T) {
			var fault error
			rows := store.NewLocal(t.TempDir(), failing(&fault, tc[0], tc[1]), quiet)
			c := newChain(t, rows)
			l, err := c.Open(t.Context(), clicks)
			must(t, err)
			f := writeFile(t, c, 40)
			fault = syscall.EIO
			if err := l.Commit(t.Context(), pipeline.Span{First: 40, Next: 50}, []File{f}); !errors.Is(err, syscall.EIO) {
				t.Errorf("got %v", err)
			}
			fault = nil
			must(t, rows.Close())
			if l, _ := c.Open(t.Context(), clicks); l.Next() == 50 {
				t.Error("it is committed")
			}
			if _, err := os.Stat(filepath.Join(rows.Location(), "_tmp")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("_tmp is left")
			}
		})
	}
}

// Files may be taken away by whoever they are for.
func TestPublishedFilesMayGo(t *testing.T) {
	var log bytes.Buffer
	rows := store.NewLocal(t.TempDir(), store.System, quiet)
	c := newChain(t, rows)
	c.log = slog.New(slog.NewTextHandler(&log, nil))
	must(t, os.Remove(filepath.Join(rows.Location(), commitNext(t, c, 5))))
	commitNext(t, c, 5)
	if !strings.Contains(log.String(), "is not there any more") {
		t.Errorf("logged %q", log.String())
	}
	must(t, rows.Close())
}

func TestProbe(t *testing.T) {
	refuse := func(op string, err error) store.FS {
		return storetest.Wrap(storetest.NewDisk().Process(), func(c storetest.Call) error {
			if strings.Contains(op, c.Op) {
				return err
			}
			return nil
		})
	}
	for name, tc := range map[string]struct {
		sys  store.FS
		want string
	}{
		"neither links nor renames": {refuse("link rename", errors.ErrUnsupported), "set delivery: at_least_once"},
		"replaces":                  {replacing{storetest.NewDisk().Process()}, "lets two processes create the same file"},
		"cannot be written":         {refuse("link", syscall.EROFS), "mounted read-only"},
		"cannot be removed":         {refuse("remove", syscall.EIO), syscall.EIO.Error()},
	} {
		rows := store.NewLocal("/", tc.sys, quiet)
		if err := newChain(t, rows).Probe(t.Context()); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v", name, err)
		}
		_ = rows.Close()
	}
	rows := store.NewLocal(t.TempDir(), store.System, quiet)
	must(t, newChain(t, rows).Probe(t.Context()), rows.Close())
}

// replacing is a file system whose links replace what is there.
type replacing struct{ store.FS }

func (r replacing) Link(from, to string) error { return r.Move(from, to) }

func TestSweepOfTheLiving(t *testing.T) {
	root := t.TempDir()
	alive, rows := store.NewLocal(root, store.System, quiet), store.NewLocal(root, store.System, quiet)
	other, c := newChain(t, alive), newChain(t, rows)
	old, current := writeFile(t, other, 40), writeFile(t, other, 45)
	commitNext(t, c, 5)
	foreign, err := alive.Begin(t.Context(), "foreign.txt")
	must(t, err)
	_, err = foreign.Finish()
	must(t, err, c.Sweep(t.Context(), rows), alive.Settle(t.Context(), []store.Pending{old.Pending()})) // too young to look at
	past := time.Now().Add(-2 * time.Hour)
	for _, f := range []File{old, current} {
		must(t, os.Chtimes(filepath.Join(root, f.Token), past, past))
	}
	must(t, os.Chtimes(filepath.Join(root, "_tmp", alive.Run(), "foreign.txt.tmp"), past, past))
	must(t, c.Sweep(t.Context(), rows), alive.Settle(t.Context(), []store.Pending{current.Pending()}))
	var gone *store.GoneError
	if err := alive.Settle(t.Context(), []store.Pending{old.Pending()}); !errors.As(err, &gone) {
		t.Errorf("a file whose position is taken: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "_tmp", alive.Run(), "foreign.txt.tmp")); err != nil {
		t.Error(err)
	}
	must(t, alive.Close(), rows.Close())
}

// As long as commits cannot be read, nobody knows which files belong to one.
func TestSweepOfADamagedPlace(t *testing.T) {
	var log bytes.Buffer
	root := t.TempDir()
	dead, rows := store.NewLocal(root, store.System, quiet), store.NewLocal(root, store.System, quiet)
	f := writeFile(t, newChain(t, dead), 40)
	must(t, dead.Close())
	c := newChain(t, rows)
	c.log = slog.New(slog.NewTextHandler(&log, nil))
	must(t, rows.Create(t.Context(), Dir+"/clicks/3/start.json", []byte("{")), c.Sweep(t.Context(), rows), rows.Settle(t.Context(), []store.Pending{f.Pending()}))
	if !strings.Contains(log.String(), "stay where they are") {
		t.Errorf("logged %q", log.String())
	}
	must(t, rows.Delete(t.Context(), Dir+"/clicks/3/start.json"), c.Sweep(t.Context(), rows))
	if err := rows.Settle(t.Context(), []store.Pending{f.Pending()}); err == nil {
		t.Error("the file is still there")
	}
	must(t, rows.Close())
}

// Maintenance that fails does no harm.
func TestMaintenanceFails(t *testing.T) {
	for name, call := range map[string][2]string{"checkpoint": {"link", ".jsonl"}, "prune": {"remove", "40.json"}, "list": {"readdir", "clicks/3"}} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			fault := error(nil)
			rows := store.NewLocal(t.TempDir(), failing(&fault, call[0], call[1]), quiet)
			c := newChain(t, rows)
			c.every, c.keep, c.log = 2, 0, slog.New(slog.NewTextHandler(&log, nil))
			commitNext(t, c, 5)
			l, err := c.Open(t.Context(), clicks)
			must(t, err)
			fault = syscall.EIO
			must(t, l.Commit(t.Context(), pipeline.Span{First: 45, Next: 50}, nil))
			if !strings.Contains(log.String(), "input/output error") {
				t.Errorf("logged %q", log.String())
			}
			fault = nil
			must(t, l.Commit(t.Context(), pipeline.Span{First: 50, Next: 55}, nil), l.Commit(t.Context(), pipeline.Span{First: 55, Next: 60}, nil))
			entries, err := rows.List(t.Context(), l.dir, "")
			must(t, err)
			if len(entries) != 2 { // start.json and checkpoints
				t.Errorf("left: %v", entries)
			}
			must(t, rows.Close())
		})
	}
}

// What positions are of is told by the start, by the last record, and by the checkpoint that has it.
func TestPosition(t *testing.T) {
	ctx := t.Context()
	rows := store.NewLocal(t.TempDir(), store.System, quiet)
	c := newChain(t, rows)
	c.every, c.keep = 2, 0
	at := func(want pipeline.Mark) {
		t.Helper()
		m, err := c.Position(ctx, clicks)
		must(t, err)
		if m != want {
			t.Errorf("%+v, want %+v", m, want)
		}
	}
	at(pipeline.Mark{Next: pipeline.Unknown})
	l, err := c.Open(ctx, clicks)
	must(t, err)
	must(t, l.begin(ctx, pipeline.Span{First: 10, Next: 20, Of: "a"}))
	at(pipeline.Mark{Next: 10, Of: "a"})
	must(t, l.Commit(ctx, pipeline.Span{First: 10, Next: 20, Of: "b"}, nil))
	at(pipeline.Mark{Next: 20, Of: "b"})
	must(t, l.Commit(ctx, pipeline.Span{First: 20, Next: 30, Of: "c"}, nil))
	if _, err := readCheckpoint(ctx, rows, l.name, 10); err != nil {
		t.Fatal(err)
	}
	at(pipeline.Mark{Next: 30, Of: "c"})
	must(t, l.Commit(ctx, pipeline.Span{First: 30, Next: 40}, nil)) // of a source that does not say
	at(pipeline.Mark{Next: 40, Of: "c"})
	must(t, rows.Close())
}

// The lanes with a session are told by the names of their directories, and long ones by their starts.
func TestLanes(t *testing.T) {
	ctx := t.Context()
	rows := store.NewLocal(t.TempDir(), store.System, quiet)
	c := newChain(t, rows)
	want := map[pipeline.LaneID]bool{
		{Stream: "/logs/a b@c%41.gz", Session: "m0123"}: true, {Stream: "é\xff", Session: "z"}: true,
		{Stream: strings.Repeat("long/", 100), Session: "m0"}: true,
	}
	for id := range want {
		l, err := c.Open(ctx, id)
		must(t, err)
		must(t, l.Commit(ctx, pipeline.Span{Next: 5}, nil))
	}
	for _, id := range []pipeline.LaneID{clicks, {Stream: strings.Repeat("\xff", 300), Session: "m0"}} { // that nobody can know again
		l, err := c.Open(ctx, id)
		must(t, err)
		must(t, l.Commit(ctx, pipeline.Span{Next: 5}, nil))
	}
	lanes, err := c.Lanes(ctx)
	must(t, err)
	for _, id := range lanes {
		if !want[id] {
			t.Errorf("%q is a lane", id)
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Errorf("not told: %v", want)
	}
	must(t, rows.Close())
}
