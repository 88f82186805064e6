package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	tmpName  = "_tmp"
	lockName = "lock"
	tmpExt   = ".tmp" // of data files
	newExt   = ".new" // of objects
)

const (
	// maxKnown bounds the directories that something is remembered of: lanes and partitions may be many.
	maxKnown = 1 << 14
	// removals is how often a directory may be removed while something is put into it.
	removals = 10
)

// Local is a directory. Make one with [NewLocal].
type Local struct {
	root string
	fs   FS
	log  *slog.Logger
	seq  atomic.Uint64

	broken atomic.Pointer[error] // of a directory that could not be made durable

	mu      sync.Mutex
	run     string
	tmp     string          // _tmp/<run>, relative; "" before Prepare
	lock    io.Closer       // nil before Prepare
	durable map[string]bool // directories of objects that are known to survive a crash
	reached map[string]bool // directories that files can be moved to
}

var _ Store = (*Local)(nil)

// NewLocal returns the store of a directory, without looking at it yet. sys is [System] but for tests.
func NewLocal(root string, sys FS, log *slog.Logger) *Local {
	return &Local{root: filepath.Clean(root), fs: sys, log: log, durable: map[string]bool{}, reached: map[string]bool{}}
}

// Location implements [Store].
func (l *Local) Location() string { return l.root }

// Run implements [Store].
func (l *Local) Run() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.run
}

// path returns where a key is.
func (l *Local) path(key string) string { return filepath.Join(l.root, filepath.FromSlash(key)) }

// check refuses keys that lead out of the directory: they come from records that anybody may have written.
func check(keys ...string) error {
	for _, key := range keys {
		if !filepath.IsLocal(filepath.FromSlash(key)) {
			return fmt.Errorf("%q is not the name of a file in the directory", key)
		}
	}
	return nil
}

// Prepare implements [Store]. A missing parent is more likely a mistyped path or a volume that was not mounted, and
// is not made.
func (l *Local) Prepare(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock != nil {
		return nil
	}
	if err := l.ensureRoot(); err != nil {
		return err
	}
	return explainAccess(l.root, l.claim())
}

func (l *Local) ensureRoot() error {
	info, err := l.fs.Stat(l.root)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is a file, not a directory: give a directory for the output files, or move the file away", l.root)
	case !errors.Is(err, fs.ErrNotExist):
		return explainAccess(l.root, err)
	}
	err = l.fs.Mkdir(l.root)
	parent := filepath.Dir(l.root)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s cannot be made because %s does not exist: correct the path, mount the volume, or run: mkdir -p %s",
			l.root, parent, parent)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return explainAccess(l.root, err)
	}
	// Whoever may not read the parent cannot sync it either, and has to do without.
	if err := l.fs.SyncDir(parent); err != nil && !errors.Is(err, fs.ErrPermission) {
		return explainAccess(l.root, err)
	}
	return nil
}

// claim makes this run's directory for unfinished files and locks it.
func (l *Local) claim() error {
	var err error
	for range 10 {
		var id [4]byte
		_, _ = rand.Read(id[:]) // never fails
		run := hex.EncodeToString(id[:])
		tmp := path.Join(tmpName, run)
		if err = l.ensureLocked(tmpName); err != nil {
			return err
		}
		var lock io.Closer
		if err = l.fs.Mkdir(l.path(tmp)); err == nil {
			lock, err = l.fs.NewLock(l.path(path.Join(tmp, lockName)), []byte(l.fs.Boot()))
		}
		if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			// The name is taken; or another run has removed _tmp with its own end, or took our directory,
			// still without its lock, for a dead one's.
			delete(l.durable, tmpName)
			continue
		}
		if err != nil {
			return err
		}
		l.run, l.tmp, l.lock = run, tmp, lock
		return l.syncDir(tmpName)
	}
	return fmt.Errorf("%s cannot be claimed; is it a link to nowhere? %w", l.path(tmpName), err)
}

// ensureDir makes a directory for objects durable. Those stay; a directory for files may be removed at any time by whoever
// the files are for, and is not remembered.
func (l *Local) ensureDir(dir string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ensureLocked(dir)
}

func (l *Local) ensureLocked(dir string) error {
	if dir == "." || l.durable[dir] {
		return nil
	}
	if err := l.makeDirs([]string{dir}); err != nil {
		return err
	}
	return l.settleLocked(dir)
}

// ensureAbove makes durable that a directory is there.
func (l *Local) ensureAbove(dir string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.settleLocked(dir)
}

func (l *Local) settleLocked(dir string) error {
	if dir == "." || l.durable[dir] {
		return nil
	}
	all := above([]string{dir})
	if err := l.syncDirs(dirs(all)); err != nil {
		return err
	}
	remember(l.durable, all)
	return nil
}

// remember adds to what is known of directories.
func remember(known map[string]bool, all []string) {
	if len(known) > maxKnown {
		clear(known) // what is asked for again is found out again
	}
	for _, dir := range all {
		known[dir] = true
	}
}

// newTmp returns the key of a new unfinished file.
func (l *Local) newTmp(base string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return "", errors.New("the store was not prepared for writing")
	}
	return path.Join(l.tmp, base), nil
}

// Close implements [Store].
func (l *Local) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return nil
	}
	lock := l.lock
	l.lock = nil
	// With a file left, the directory stays for others to find out what became of the file.
	if entries, err := l.fs.ReadDir(l.path(l.tmp)); err == nil && len(entries) == 1 {
		_ = l.fs.Remove(l.path(path.Join(l.tmp, lockName)))
		_ = l.fs.Remove(l.path(l.tmp))
		_ = l.fs.Remove(l.path(tmpName)) // goes with its last run
	}
	return lock.Close()
}

// Create implements [Objects]. The content is written under another name and then linked to its own, which fails
// when the name is taken.
func (l *Local) Create(_ context.Context, key string, content []byte) error {
	if err := check(key); err != nil {
		return err
	}
	dir := path.Dir(key)
	if err := l.ensureDir(dir); err != nil {
		return explainAccess(l.path(dir), err)
	}
	tmp, err := l.newTmp(strconv.FormatUint(l.seq.Add(1), 10) + newExt)
	if err != nil {
		return err
	}
	err = l.writeWhole(tmp, content)
	if err == nil {
		if err = l.fs.Link(l.path(tmp), l.path(key)); errors.Is(err, errors.ErrUnsupported) {
			err = l.fs.Rename(l.path(tmp), l.path(key))
		}
	}
	if err == nil {
		err = l.syncDir(dir)
	}
	_ = l.fs.Remove(l.path(tmp)) // costs a few bytes when it fails
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return explainAccess(l.path(dir), err)
	}
	return err
}

func (l *Local) writeWhole(key string, content []byte) error {
	h, err := l.fs.Create(l.path(key))
	if err != nil {
		return err
	}
	if _, err := h.Write(content); err != nil {
		return errors.Join(err, h.Close())
	}
	if err := h.Sync(); err != nil {
		return errors.Join(err, h.Close())
	}
	return h.Close()
}

// Read implements [Objects].
func (l *Local) Read(_ context.Context, key string) ([]byte, error) {
	if err := check(key); err != nil {
		return nil, err
	}
	return look(l, key, l.fs.ReadFile)
}

// Open implements [Objects].
func (l *Local) Open(_ context.Context, key string) (Object, error) {
	if err := check(key); err != nil {
		return nil, err
	}
	return look(l, key, l.fs.Open)
}

// look makes a call about a file. When it is not there, it looks once more with other eyes: over NFS, names that were missing
// once are taken for missing for up to a minute, though another machine has given them meanwhile. Opening a directory makes
// the client ask whether it has changed.
func look[T any](l *Local, key string, call func(path string) (T, error)) (T, error) {
	found, err := call(l.path(key))
	if !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	for _, dir := range append([]string{"."}, above([]string{path.Dir(key)})...) {
		if l.fs.Refresh(l.path(dir)) != nil {
			return found, err
		}
	}
	return call(l.path(key))
}

// List implements [Objects].
func (l *Local) List(_ context.Context, dir, after string) ([]Entry, error) {
	if err := check(dir); err != nil {
		return nil, err
	}
	found, err := l.fs.ReadDir(l.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(found))
	for _, e := range found {
		if e.Name() > after {
			entries = append(entries, Entry{Name: e.Name(), Dir: e.IsDir()})
		}
	}
	return entries, nil
}

// Delete implements [Objects].
func (l *Local) Delete(_ context.Context, key string) error {
	if err := check(key); err != nil {
		return err
	}
	if err := l.fs.Remove(l.path(key)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Modified implements [Store].
func (l *Local) Modified(_ context.Context, key string) (time.Time, error) {
	if err := check(key); err != nil {
		return time.Time{}, err
	}
	info, err := l.fs.Stat(l.path(key))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// Sync implements [Objects].
func (l *Local) Sync(_ context.Context, dir string) error {
	if err := check(dir); err != nil {
		return err
	}
	err := l.ensureAbove(dir)
	if err == nil {
		err = l.settleNames([]string{dir})
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing is there
	}
	return err
}
