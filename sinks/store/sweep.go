package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// untouched is after what time without a change an unlocked directory of another kernel counts as left behind: over
// some network file systems locks of other machines are not seen.
const untouched = 24 * time.Hour

// Sweep implements [Files].
func (l *Local) Sweep(ctx context.Context, garbage func(Leftover) bool) error {
	entries, err := l.fs.ReadDir(l.path(tmpName))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.IsDir() && e.Name() != l.Run() {
			l.sweepRun(e.Name(), garbage)
		}
	}
	return nil
}

// sweepRun sweeps the directory of one run.
func (l *Local) sweepRun(run string, garbage func(Leftover) bool) {
	dir := path.Join(tmpName, run)
	lock, dead := l.examine(dir)
	if lock == nil && dead {
		// It died before it made its lock, and has nothing in its directory; or it is alive, has not made it
		// yet, and will notice. Remove spares a directory with files.
		_ = l.fs.Remove(l.path(dir))
		return
	}
	if lock != nil {
		defer func() { _ = lock.Close() }()
	}
	entries, err := l.fs.ReadDir(l.path(dir))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.log.Warn("cannot look for unfinished files of another process", "directory", l.path(dir), "error", err)
		}
		return
	}
	left := 0
	for _, e := range entries {
		if e.Name() != lockName && !l.sweepFile(run, e, dead, garbage) {
			left++
		}
	}
	if dead && left == 0 {
		_ = l.fs.Remove(l.path(path.Join(dir, lockName)))
		_ = l.fs.Remove(l.path(dir))
	}
}

// Others implements [Store].
func (l *Local) Others(ctx context.Context) (runs []string, err error) {
	entries, err := l.List(ctx, tmpName, "")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.Dir || e.Name == l.Run() {
			continue
		}
		lock, dead := l.examine(path.Join(tmpName, e.Name))
		if lock != nil {
			_ = lock.Close()
		}
		if !dead {
			runs = append(runs, e.Name)
		}
	}
	return runs, nil
}

// examine finds out about the process whose directory it is. The lock, if not nil, is to be closed.
func (l *Local) examine(dir string) (lock io.Closer, dead bool) {
	name := l.path(path.Join(dir, lockName))
	lock, err := l.fs.Lock(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, true
	case err != nil:
		return nil, false
	}
	if boot, err := l.fs.ReadFile(name); err == nil && len(boot) > 0 && string(boot) == l.fs.Boot() {
		return lock, true
	}
	info, err := l.fs.Stat(l.path(dir))
	return lock, err == nil && time.Since(info.ModTime()) > untouched
}

// sweepFile returns false if the file stays.
func (l *Local) sweepFile(run string, e fs.DirEntry, dead bool, garbage func(Leftover) bool) bool {
	key := path.Join(tmpName, run, e.Name())
	if strings.HasSuffix(e.Name(), newExt) && dead {
		return l.remove(key) == nil
	}
	name, ok := strings.CutSuffix(e.Name(), tmpExt)
	if !ok {
		return false
	}
	info, err := e.Info()
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	f := Leftover{Pending: Pending{Name: name, Token: key, Bytes: info.Size()}, Run: run, Dead: dead, Modified: info.ModTime()}
	if !garbage(f) {
		return false
	}
	if err := l.remove(key); err != nil {
		l.log.Warn("cannot remove an unfinished file of another process", "error", err)
		return false
	}
	return true
}
