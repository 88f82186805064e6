package dedupe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/vfs"
)

// The first byte of a key of the store says what it is. Numbers are big-endian, those of buckets with the sign flipped,
// so that they are in order.
const (
	metaKey    = 'm' // identity
	originKey  = 'o' // number of the last origin (8); not there in a state of before there were origins
	laneKey    = 'p' // name of a lane: its [laneMark]
	commitKey  = 'h' // number of an origin (8), end of a commit (8): sum of its mark; where [Options.Recorded]
	countKey   = 'c' // bucket being filled (8), keys in it (8); of a window of keys
	journalKey = 'j' // number (8), chunk (4): end (8), length of the lane's name (4), lane, entries of 24 bytes
	seenKey    = 'k' // bucket (8), key (16): where it is from, see [appendFrom]; of an exact state with windows. Older versions: without, key (16)
	runsKey    = 'r' // list of runs; of an exact state without windows, as the next two
	doneKey    = 'd' // number (8): the keys of that journal are those of committed rows, and in no run
	fromKey    = 'f' // number (8): where keys of that journal are from, see [appendFrom]; where positions are kept
	logKey     = 'l' // number (8): entries since the snapshot; of an approximate state
)

// chunkEntries is how many keys are journaled, and become keys of committed rows, at a time. The store sets room for the worst
// case of a batch aside, some 200 bytes a key, and begins another memtable where the room is not there.
const chunkEntries = 1024

// seenSet holds the keys of committed rows.
type seenSet interface {
	// find notes in asked what is there; it may change the order.
	find(asked []question) error
	close() error
}

// chunkSet is one that gets its keys a chunk at a time.
type chunkSet interface {
	seenSet
	// add puts entries into b, to be there once b is applied: then done is called. It may change the order of entries.
	// from says where they are from, and is kept with them if it can be.
	add(b *pebble.Batch, entries []entry, from []byte) (done func() error, err error)
	// drop forgets the buckets before first.
	drop(b *pebble.Batch, first int64) error
}

// question is whether a key is there in a bucket from low to high, and the answer.
type question struct {
	key       Key
	row       int32 // of the record
	seen      bool
	low, high int64
}

// state is what lasts. Its methods may be called side by side, and those that call the store are called by way of [state.do].
type state struct {
	opts    Options
	db      *pebble.DB
	closeFS io.Closer
	seen    seenSet
	chunks  chunkSet // as which the state has them; nil where it has runs
	runs    *runKeys // as which the state has them; nil where it has chunks
	failed  *failure
	calls   sync.WaitGroup
	legacy  bool // there are keys of which it is not known where they are from

	rewinding sync.Mutex

	// promotions is how many there were, counted before the claims of their keys are released.
	promotions atomic.Int64

	numbers atomic.Uint64 // number of the last journal

	// mu is held by who promotes, who may wait for the disk without end: only calls of the store lock it, see [state.do].
	mu      sync.Mutex
	origins uint64 // number of the last origin
	newest  int64  // bucket; of a window of keys the one being filled
	count   int64  // keys in that one
}

// openState opens the state, and makes it when there is none.
func openState(ctx context.Context, opts Options) (*state, error) {
	s := &state{opts: opts, failed: newFailure(opts)}
	if err := s.do(ctx, s.open); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *state) open() (err error) {
	fs, path := s.opts.fs, s.opts.Path
	if err := fs.MkdirAll(path, 0o777); err != nil {
		return err
	}
	if err := s.checkOutput(); err != nil {
		return err
	}
	storeFS, closeFS := watched(s.opts, s.failed)
	s.closeFS = closeFS
	if s.db, err = openStore(s.opts, s.failed, storeFS); err != nil {
		err = errors.Join(err, closeFS.Close())
		return fmt.Errorf("opening the state in %s: %w; one process at a time may use it", path, err)
	}
	// A loss of power must not take the folder away, with what was synced in it.
	err = errors.Join(syncFolder(fs, path), syncFolder(fs, fs.PathDir(path)))
	if err == nil {
		err = s.load(storeFS)
	}
	if err != nil {
		return errors.Join(err, s.db.Close(), s.closeFS.Close())
	}
	return nil
}

// readFile returns the text of a small file.
func readFile(fs vfs.FS, name string) (string, error) {
	f, err := fs.Open(name)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(f)
	return string(text), errors.Join(err, f.Close())
}

// writeFile makes a small file, whole or not at all. Its folder is not synced.
func writeFile(fs vfs.FS, name, text string) error {
	f, err := fs.Create(name + ".new")
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return fs.Rename(name+".new", name)
}

func syncFolder(fs vfs.FS, path string) error {
	folder, err := fs.OpenDir(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// load reads what is there.
func (s *state) load(storeFS vfs.FS) error {
	if err := s.checkIdentity(); err != nil {
		return err
	}
	if err := s.loadOrigins(); err != nil {
		return err
	}
	last, err := lastNumber(s.db)
	if err != nil {
		return err
	}
	s.numbers.Store(last)
	if text, err := s.get([]byte{countKey}); err != nil {
		return err
	} else if len(text) == 16 {
		s.newest, s.count = int64(binary.BigEndian.Uint64(text)), int64(binary.BigEndian.Uint64(text[8:]))
	}
	if s.opts.Approximate != nil {
		f, err := openFilters(s.opts, s.db)
		s.seen, s.chunks = f, f
		if f != nil {
			s.newest = max(s.newest, f.newest())
		}
		return err
	}
	if s.opts.inRuns() {
		s.runs, err = openRuns(s.opts, s.db, storeFS, s.failed)
		s.seen = s.runs
		return err
	}
	k, err := openKeys(s.db)
	if err != nil {
		return err
	}
	s.seen, s.chunks, s.newest = k, k, max(s.newest, k.newest())
	return nil
}

// inRuns is added to the identity of a state with its keys in runs.
const inRuns = ", in sorted runs"

// checkIdentity refuses a state of other keys, with which everything would look new or nothing.
func (s *state) checkIdentity() error {
	want, older := s.opts.describe(), ""
	if s.opts.inRuns() { // which an older version does not find, and so must not open
		older, want = want, want+inRuns
	}
	got, err := s.get([]byte{metaKey})
	switch {
	case err != nil:
		return err
	case got == nil:
		return errors.Join(s.db.Set([]byte{originKey}, make([]byte, 8), nil), s.db.Set([]byte{metaKey}, []byte(want), pebble.Sync))
	case older != "" && string(got) == older: // before its keys are carried over, which can be done again
		return s.db.Set([]byte{metaKey}, []byte(want), pebble.Sync)
	case string(got) != want:
		return fmt.Errorf("the state in %s is of other keys: it was made for %q, and the configuration is for %q; "+
			"give back the old settings, or another folder to begin anew", s.opts.Path, strings.TrimSuffix(string(got), inRuns), s.opts.describe())
	}
	return nil
}

// get returns a copy of the value of key, nil when there is none.
func (s *state) get(key []byte) ([]byte, error) {
	value, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return append([]byte{}, value...), nil
}

// ask returns the question whether the key of e is that of a committed row within the window.
func (s *state) ask(e entry, row int) question {
	q := question{key: e.key, row: int32(row), low: math.MinInt64, high: math.MaxInt64}
	if s.opts.Within != 0 {
		q.low, q.high = e.bucket-parts, e.bucket+parts
	}
	return q
}

// find answers questions, whose order it may change.
func (s *state) find(asked []question) error {
	if len(asked) == 0 {
		return nil
	}
	return s.seen.find(asked)
}

// close closes the state. One that has failed, or that a call waits for too long, is left as a crash would leave it: what is
// in journals then is decided at the next start.
func (s *state) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := await(ctx, s.failed, func() error { s.calls.Wait(); return nil })
	if err != nil && s.runs != nil {
		s.runs.set.Stop()
	}
	if err == nil {
		err = s.do(context.Background(), func() error {
			return errors.Join(s.seen.close(), s.db.Close(), s.closeFS.Close())
		})
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the disk of the state in %s has not answered for %s; it is left as it is, and its next start decides what was being written",
			s.opts.Path, closeTimeout)
	}
	return err
}

// closeTimeout is how long closing waits for calls that nobody waits for any more.
const closeTimeout = 10 * time.Second

// do has f, which calls the store, run beside, and waits for it until the state has failed or ctx ends: the store itself waits
// for its disk without end. f may go on after that, so it uses nothing that is used again before the state is opened anew;
// see [journal] for what is.
func (s *state) do(ctx context.Context, f func() error) error {
	s.calls.Add(1)
	return await(ctx, s.failed, func() error {
		defer s.calls.Done()
		return f()
	})
}

func await(ctx context.Context, failed *failure, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		if failure := failed.get(); failure != nil {
			return failure
		}
		return err
	case <-failed.happened:
		return failed.err
	case <-ctx.Done():
		return ctx.Err() // the cause is told by whoever owns ctx
	}
}
