package dedupe

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/cockroachdb/pebble/vfs"
)

// failure is the first fault of the disk that a state is on. After it nothing is asked of the state.
type failure struct {
	opts     Options
	once     sync.Once
	happened chan struct{} // closed once err is there
	err      error
}

func newFailure(opts Options) *failure { return &failure{opts: opts, happened: make(chan struct{})} }

// note takes a fault, and logs the first one: whoever needs the state may come late, or be the one that waits for it.
func (f *failure) note(err error) {
	f.once.Do(func() {
		f.err = f.opts.unusable(err)
		f.opts.Log.Error("the state of dedupe has failed", "path", f.opts.Path, "problem", err)
		close(f.happened)
	})
}

// get returns the fault, nil without one.
func (f *failure) get() error {
	select {
	case <-f.happened:
		return f.err
	default:
		return nil
	}
}

// unusable is the error of a state whose disk gave err.
func (o Options) unusable(err error) error {
	return fmt.Errorf("the state in %s cannot be used: %w; what was committed is safe, and everything else is read again: see to its disk, or "+
		"move the folder to another one and name that in dedupe.path; then start again", o.Path, err)
}

// haltingFS is the file system of the store. A write that fails is noted, and does not return: the store would try the same
// thing again at once and for ever, or end the process in the middle. Nobody waits for what the store does without looking at the
// failure (see [state.do]), and a store that has failed is left as a crash would leave it.
type haltingFS struct {
	vfs.FS
	failure *failure
}

func (h haltingFS) halt(err error) {
	if err != nil {
		h.failure.note(err)
		select {}
	}
}

func (h haltingFS) file(f vfs.File, err error) (vfs.File, error) {
	h.halt(err)
	return haltingFile{f, h}, nil
}

func (h haltingFS) Create(name string) (vfs.File, error) { return h.file(h.FS.Create(name)) }

func (h haltingFS) ReuseForWrite(from, to string) (vfs.File, error) {
	return h.file(h.FS.ReuseForWrite(from, to))
}

func (h haltingFS) Link(from, to string) error {
	h.halt(h.FS.Link(from, to))
	return nil
}

func (h haltingFS) Rename(from, to string) error {
	h.halt(h.FS.Rename(from, to))
	return nil
}

func (h haltingFS) OpenDir(name string) (vfs.File, error) { return h.file(h.FS.OpenDir(name)) }

type haltingFile struct {
	vfs.File
	fs haltingFS
}

func (f haltingFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.fs.halt(err)
	return n, nil
}

func (f haltingFile) Sync() error {
	f.fs.halt(f.File.Sync())
	return nil
}

func (f haltingFile) SyncData() error {
	f.fs.halt(f.File.SyncData())
	return nil
}

func (f haltingFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	f.fs.halt(err)
	return full, nil
}

func (f haltingFile) Close() error {
	f.fs.halt(f.File.Close())
	return nil
}

// storeLog passes on what goes wrong in the store; what it does otherwise is its own matter.
type storeLog struct{ log *slog.Logger }

func (l storeLog) Infof(string, ...any) {}

func (l storeLog) Errorf(format string, args ...any) {
	l.log.Warn("state of dedupe", "problem", fmt.Sprintf(format, args...))
}

// Fatalf must not return: the store calls it when it cannot go on.
func (l storeLog) Fatalf(format string, args ...any) {
	panic("state of dedupe: " + fmt.Sprintf(format, args...))
}
