package outfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

const (
	tmpName  = "_tmp"
	lockName = "lock"
)

// Dir is an output directory, opened by one run of one sink. Its methods may be called from several
// goroutines.
type Dir struct {
	path string
	run  string
	tmp  string // _tmp/<run> below path
	lock *os.File
	ops  Ops
	seq  atomic.Uint64
}

// Open opens an output directory and makes it if only its last element is missing: a missing parent is more
// likely a mistyped path or a volume that was not mounted. It checks that the directory can be written, and
// removes what dead processes have left unfinished in it. An error says what to do about it.
func Open(path string, log *slog.Logger, ops Ops) (*Dir, error) {
	path = filepath.Clean(path)
	if err := ensureDir(path); err != nil {
		return nil, err
	}
	d := &Dir{path: path, ops: ops}
	if canLock {
		d.removeStale(log)
	}
	if err := d.claim(); err != nil {
		return nil, explainAccess(path, err)
	}
	return d, nil
}

func ensureDir(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is a file, not a directory: give a directory for the output files, or move the file away", path)
	case !errors.Is(err, fs.ErrNotExist):
		return explainAccess(path, err)
	}
	err = os.Mkdir(path, 0o777)
	if errors.Is(err, fs.ErrNotExist) {
		parent := filepath.Dir(path)
		return fmt.Errorf("%s cannot be made because %s does not exist: correct the path, mount the volume, or run: mkdir -p %s",
			path, parent, parent)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return explainAccess(path, err)
	}
	return nil
}

// explainAccess adds to an error of the system what to do about it.
func explainAccess(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("no permission to write in %s: make it writable for the user with id %d, or give another path: %w",
			path, os.Getuid(), err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s is on a file system that is mounted read-only: mount it writable, or give another path: %w", path, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("no space left to write in %s: free some, or give another path: %w", path, err)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s cannot be a directory, because a part of its path is a file: correct the path: %w", path, err)
	}
	return fmt.Errorf("cannot write in %s: %w", path, err)
}

// claim makes this run's directory for unfinished files and locks it.
func (d *Dir) claim() error {
	var err error
	for range 10 {
		var id [4]byte
		_, _ = rand.Read(id[:]) // never fails
		d.run = hex.EncodeToString(id[:])
		d.tmp = filepath.Join(d.path, tmpName, d.run)
		if err := os.Mkdir(filepath.Join(d.path, tmpName), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		err = os.Mkdir(d.tmp, 0o777)
		if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			continue // taken, or _tmp was removed by a run that has just ended
		}
		if err != nil {
			return err
		}
		var ok bool
		if ok, err = d.claimLock(); ok || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s cannot be claimed; is %s a link to nowhere? %w", d.tmp, filepath.Dir(d.tmp), err)
}

// claimLock makes and locks the lock file. It returns false when another process took this run's directory,
// still without a lock, for one left behind and removed it.
func (d *Dir) claimLock() (bool, error) {
	name := filepath.Join(d.tmp, lockName)
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, errors.Join(err, os.Remove(d.tmp))
	}
	// An error other than a taken lock means that nobody can lock here; then nobody removes anything.
	locked := tryLock(f)
	ours, err := f.Stat()
	if err != nil {
		return false, errors.Join(err, f.Close())
	}
	there, err := os.Stat(name)
	if errors.Is(locked, syscall.EWOULDBLOCK) || err != nil || !os.SameFile(ours, there) {
		return false, f.Close()
	}
	d.lock = f
	return true, nil
}

// Path returns the directory's path.
func (d *Dir) Path() string { return d.path }

// Run returns an identifier of 8 hexadecimal digits, made at random by Open.
func (d *Dir) Run() string { return d.run }

// Sync makes the names that were published so far durable.
func (d *Dir) Sync() error {
	if err := d.ops.SyncDir(d.path); err != nil {
		return fmt.Errorf("making file names in %s durable: %w", d.path, err)
	}
	return nil
}

// Close removes the directory for unfinished files with whatever is still in it.
func (d *Dir) Close() error {
	err := os.RemoveAll(d.tmp)
	// The common parent goes with its last run.
	_ = os.Remove(filepath.Dir(d.tmp))
	return errors.Join(err, d.lock.Close())
}
