package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
)

// Files is where a set has its runs.
type Files interface {
	// Create begins a file, whose name was never given before.
	Create(name string) (Output, error)
	Open(name string) (Input, error)
	Remove(name string) error
}

// Output is a file that is being written.
type Output interface {
	io.Writer
	// Finish closes the file. Once it has returned nil, the file is there whatever happens.
	Finish() error
}

// Input is a file that was finished.
type Input interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// File is a run of a set.
type File struct {
	Name string `json:"name"`
	Info
}

// Change is what has become of a set.
type Change struct {
	Runs []File // all that the set has now
	// Added are the names of batches, see [Set.Add], all keys of which are in runs now.
	Added []uint64
}

// Options says how a set is kept.
type Options struct {
	Files Files
	// Memory is for filters, hot keys, and keys that are in no run. The indexes of runs come on top, with three quarters of a
	// bit a key.
	Memory int64
	// Table, if not 0, is of how many keys in memory a run is made, instead of as many as the memory allows.
	Table int
	// Name returns the name of another run.
	Name func() string
	// Commit makes a change durable: when it has returned nil, the set is opened with these runs and no others. The set then removes the
	// files of runs that are gone. Calls come one after the other, also from goroutines of the set.
	Commit func(Change) error
	// Failed, if not nil, is told of the first error of what is done in the background.
	Failed func(error)
}

// Set is a set of keys that grows. Its methods may be called side by side, but Add, Flush and Delete one after the other.
type Set struct {
	opts  Options
	all   *Filter // of all keys
	hot   *hot
	limit int // keys of a table

	// filled is how far the filters have the keys that were there at the start: those whose first bits are less, or all when it is
	// the highest number.
	filled atomic.Uint64

	changing sync.Mutex // held while a change is committed
	merging  sync.Mutex // held while runs are merged

	// mu is held for reading while keys are looked for, so that no file of a run is closed meanwhile.
	mu      sync.RWMutex
	changed *sync.Cond // of what follows
	table   *table
	frozen  *table // being written as a run; nil without one
	runs    []*fileRun
	spare   int64 // bytes of memory that filters of runs may take yet
	err     error // of the background
	filling bool

	ctx     context.Context // of the background
	stop    context.CancelFunc
	running sync.WaitGroup
}

// fileRun is a run with its file.
type fileRun struct {
	*Run
	name string
	file Input
}

// The shares of the memory, in 48 parts: what is left is for merges.
const (
	shareAll   = 27 // filter of all keys
	shareRuns  = 12 // filters of runs
	shareHot   = 2
	shareTable = 1 // there are two, and a part of one more while batches are merged; one with a large commit is larger
	shares     = 48
)

// minTable is how many keys a table has at least.
const minTable = 1 << 12

// Open opens a set that has these runs. Filters are filled in the background.
func Open(opts Options, files []File) (*Set, error) {
	part := opts.Memory / shares
	s := &Set{
		opts: opts, all: NewFilter(part * shareAll), hot: newHot(part * shareHot), table: &table{},
		limit: int(max(part*shareTable/tableBytes, minTable)), spare: part * shareRuns,
	}
	if opts.Table > 0 {
		s.limit = opts.Table
	}
	s.changed = sync.NewCond(&s.mu)
	s.ctx, s.stop = context.WithCancel(context.Background())
	for _, f := range files {
		r, err := s.open(f)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.runs = append(s.runs, r)
	}
	s.addFilters()
	if s.filled.Store(math.MaxUint64); len(s.runs) > 0 {
		s.filled.Store(0)
		s.filling = true
	}
	s.running.Go(s.background)
	return s, nil
}

func (s *Set) open(f File) (*fileRun, error) {
	in, err := s.opts.Files.Open(f.Name)
	if err != nil {
		return nil, err
	}
	r, err := OpenRun(in, in.Size())
	if err == nil && r.info != f.Info {
		err = fmt.Errorf("%w: it has %+v and should have %+v", ErrDamaged, r.info, f.Info)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.Name, err), in.Close())
	}
	return &fileRun{r, f.Name, in}, nil
}

// Add adds keys, which are in order, with a value. name is given back by [Options.Commit] once the keys are in runs; what is in none when
// the process ends has to be added again. It waits while too much of what was added before is not written.
func (s *Set) Add(keys []Key, value, name uint64) error {
	numbers := make([]number, len(keys))
	for i := range keys {
		numbers[i] = numberOf(&keys[i])
		s.all.add(numbers[i])
	}
	s.mu.RLock()
	more := s.table // which no other call changes
	s.mu.RUnlock()
	more = more.with(numbers, value, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table = more
	if more.keys < s.limit {
		return s.err
	}
	return s.freeze()
}

// maxRuns is how many runs there may be before merging has to catch up.
const maxRuns = 64

// freeze begins to write the table. s.mu is held.
func (s *Set) freeze() error {
	for (s.frozen != nil || len(s.runs) >= maxRuns && !s.filling) && s.err == nil {
		s.changed.Wait()
	}
	if s.err != nil || len(s.table.names) == 0 {
		return s.err
	}
	s.frozen, s.table = s.table, &table{}
	s.running.Go(s.flush)
	return nil
}

// Flush returns when all keys are in runs.
func (s *Set) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.freeze(); err != nil {
		return err
	}
	for s.frozen != nil && s.err == nil {
		s.changed.Wait()
	}
	return s.err
}

// Pending returns how many keys are in no run, and of how many a run is made at once.
func (s *Set) Pending() (keys, limit int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.table.keys, s.limit
}

// Find sets found for the keys that are there. Keys are in order.
func (s *Set) Find(keys []Key, found []bool) error {
	asked := s.suspects(keys, found)
	if len(asked) == 0 {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	left := asked[:0]
	for _, q := range asked {
		if s.table.has(q.number) || s.frozen != nil && s.frozen.has(q.number) {
			found[q.at] = true
		} else {
			left = append(left, q)
		}
	}
	// Runs without a filter come last: what is left then is there, or one of few that all filters let through.
	for _, filtered := range []bool{true, false} {
		for _, r := range s.runs {
			if (r.filter != nil) != filtered || len(left) == 0 {
				continue
			}
			var err error
			if left, err = r.find(left, found, s.hot); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return nil
}

// suspects returns the keys that filters and hot keys do not know about. It sets found for those that are hot.
func (s *Set) suspects(keys []Key, found []bool) (asked []sought) {
	filled := s.filled.Load()
	for i := range keys {
		n := numberOf(&keys[i])
		if (filled == math.MaxUint64 || n.hi < filled) && !s.all.has(n) {
			continue
		}
		if found[i] = s.hot.has(n); !found[i] {
			asked = append(asked, sought{n, i})
		}
	}
	return asked
}

// Stop ends what is done in the background, without waiting for it: for a set whose files do not answer any more, which cannot be closed.
func (s *Set) Stop() { s.stop() }

// Close ends what is done in the background. Keys that are in no run are gone.
func (s *Set) Close() error {
	s.stop()
	s.mu.Lock()
	s.fail(context.Canceled)
	s.mu.Unlock()
	s.running.Wait()
	var err error
	for _, r := range s.runs {
		err = errors.Join(err, r.file.Close())
	}
	return err
}

// fail notes an error of the background. s.mu is held.
func (s *Set) fail(err error) {
	if s.err != nil || err == nil {
		return
	}
	s.err = err
	if s.opts.Failed != nil && s.ctx.Err() == nil {
		s.opts.Failed(err)
	}
	s.changed.Broadcast()
}
