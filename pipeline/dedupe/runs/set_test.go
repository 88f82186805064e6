package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// memFiles are files in memory.
type memFiles struct {
	mu      sync.Mutex
	files   map[string]*memFile
	written int64
	fail    error // of what is written
}

type memFile struct {
	bytes.Buffer
	all      *memFiles
	finished bool
}

func (m *memFiles) Create(name string) (Output, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files[name] != nil {
		return nil, fs.ErrExist
	}
	f := &memFile{all: m}
	m.files[name] = f
	return f, m.fail
}

func (f *memFile) Write(p []byte) (int, error) {
	f.all.mu.Lock()
	defer f.all.mu.Unlock()
	f.all.written += int64(len(p))
	n, _ := f.Buffer.Write(p)
	return n, f.all.fail
}

func (f *memFile) Finish() error {
	f.finished = true
	return f.all.fail
}

type memInput struct{ *bytes.Reader }

func (memInput) Close() error { return nil }

func (m *memFiles) Open(name string) (Input, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.files[name]; f != nil && f.finished {
		return memInput{bytes.NewReader(f.Bytes())}, nil
	}
	return nil, fs.ErrNotExist
}

func (m *memFiles) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, name)
	return nil
}

// keeper is what a caller of a set keeps of it: the runs, and what was added and is in none.
type keeper struct {
	mu      sync.Mutex
	files   memFiles
	names   int
	runs    []File
	pending map[uint64][]Key
}

func newKeeper() *keeper {
	return &keeper{files: memFiles{files: map[string]*memFile{}}, pending: map[uint64][]Key{}}
}

func (k *keeper) open(t *testing.T, memory int64) *Set {
	t.Helper()
	s, err := Open(Options{
		Files: &k.files, Memory: memory,
		Name: func() string {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.names++
			return fmt.Sprint(k.names)
		},
		Commit: func(c Change) error {
			k.mu.Lock()
			defer k.mu.Unlock()
			k.runs = c.Runs
			for _, name := range c.Added {
				delete(k.pending, name)
			}
			return nil
		},
	}, k.runs)
	if err != nil {
		t.Fatal(err)
	}
	for name, keys := range k.pending {
		if err := s.Add(keys, name, name); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (k *keeper) add(t *testing.T, s *Set, keys []Key, name uint64) {
	t.Helper()
	keys = slices.Clone(keys)
	Sort(keys, func(k *Key) *Key { return k })
	k.mu.Lock()
	k.pending[name] = keys
	k.mu.Unlock()
	if err := s.Add(keys, name, name); err != nil {
		t.Fatal(err)
	}
}

// check fails the test unless known are there and unknown are not.
func check(t *testing.T, s *Set, known, unknown []Key) {
	t.Helper()
	for want, keys := range map[bool][]Key{true: known, false: unknown} {
		asked := slices.Clone(keys)
		Sort(asked, func(k *Key) *Key { return k })
		found := make([]bool, len(asked))
		if err := s.Find(asked, found); err != nil {
			t.Fatal(err)
		}
		for i := range found {
			if found[i] != want {
				t.Fatalf("key %d of %d: found %t, want %t", i, len(asked), found[i], want)
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSet adds keys, in batches of any size, while others are looked for; opens the set again where it was left, as after a crash and after
// a close; and deletes batches.
func TestSet(t *testing.T) {
	const n, batches = 150_000, 150
	known, unknown := randomKeys(1, n), randomKeys(2, 20_000)
	slices.SortFunc(known, func(a, b Key) int {
		return Compare((*Key)(slices.Concat(a[8:], a[:8])), (*Key)(slices.Concat(b[8:], b[:8])))
	})
	end := func(i int) int64 { return int64(i) * int64(i) * n / (batches * batches) }
	part := func(i int) []Key { return known[end(i):end(i+1)] }
	k := newKeeper()
	s := k.open(t, 1<<20)
	done := 0
	for i := range batches {
		k.add(t, s, part(i), uint64(i+1))
		done += len(part(i))
		switch i {
		case batches / 2:
			must(t, s.Close()) // what is in no run is added again
			s = k.open(t, 1<<20)
			check(t, s, known[:done], unknown)
		case batches * 3 / 4:
			must(t, s.Flush())
			if len(k.pending) > 0 {
				t.Errorf("%d batches are in no run", len(k.pending))
			}
		}
		if i%10 == 0 {
			check(t, s, known[max(0, done-5000):done], unknown)
		}
	}
	check(t, s, known, unknown)
	waitFor(t, s, func() bool { return len(s.runs) < fanIn*3 })
	if least := int64(n * 13); k.files.written > 4*least+int64(n*2) {
		t.Errorf("%d bytes were written for keys of %d", k.files.written, least)
	}

	gone := map[uint64]bool{1: true, batches / 2: true, batches: true}
	var left, dead []Key
	for i := range batches {
		if gone[uint64(i+1)] {
			dead = append(dead, part(i)...)
		} else {
			left = append(left, part(i)...)
		}
	}
	deleted, err := s.Delete(t.Context(), func(v uint64) bool { return gone[v] })
	must(t, err)
	if deleted != int64(len(dead)) {
		t.Errorf("%d keys were deleted of %d", deleted, len(dead))
	}
	check(t, s, left, nil)
	check(t, s, nil, dead)
	must(t, s.Close())
	s = k.open(t, 1<<20)
	waitFor(t, s, func() bool { return s.filled.Load() == math.MaxUint64 })
	check(t, s, left, dead)
	if asked := s.suspects(unknown, make([]bool, len(unknown))); len(asked) > len(unknown)/10 {
		t.Errorf("%d of %d keys that are not there are sought", len(asked), len(unknown))
	}
	s.filled.Store(math.MaxUint64 / 2) // as if half of it had been read
	for _, r := range s.runs {
		r.filtered.Store(math.MaxUint64 / 2)
	}
	for _, f := range []*Filter{s.all, s.runs[0].filter} {
		if f != nil {
			clear(f.blocks[len(f.blocks)/2+1:])
		}
	}
	check(t, s, left, dead)
	must(t, s.Close())
	files := len(k.files.files)
	if files != len(k.runs) {
		t.Errorf("%d files of %d runs", files, len(k.runs))
	}
}

func waitFor(t *testing.T, s *Set, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		s.mu.RLock()
		ok := is()
		s.mu.RUnlock()
		if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it does not come to that")
		}
	}
}

// TestSetFails has files that cannot be written: who adds is told so, and nothing waits for what does not come.
func TestSetFails(t *testing.T) {
	k := newKeeper()
	s := k.open(t, 1<<20)
	full := errors.New("full")
	k.files.fail = full
	var err error
	for i := uint64(1); err == nil && i < 1000; i++ {
		err = s.Add(randomKeys(i, 1000), i, i)
	}
	if !errors.Is(err, full) || !errors.Is(s.Flush(), full) {
		t.Errorf("adding ended with %v", err)
	}
	if _, err := s.Delete(context.Background(), func(uint64) bool { return true }); !errors.Is(err, full) {
		t.Errorf("deleting ended with %v", err)
	}
	must(t, s.Close())
	k.files.fail = nil
	k.runs = []File{{Name: "nothing"}}
	if _, err := Open(Options{Files: &k.files, Memory: 1 << 20}, k.runs); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run that is not there: %v", err)
	}
}

// TestHotSparesRuns checks that what was found once is not sought in runs again.
func TestHotSparesRuns(t *testing.T) {
	k := newKeeper()
	s := k.open(t, 8<<20)
	known := randomKeys(1, 5000)
	k.add(t, s, known, 1)
	must(t, s.Flush())
	if n := len(s.suspects(known, make([]bool, len(known)))); n != len(known) {
		t.Errorf("%d keys are sought before any of %d was found", n, len(known))
	}
	check(t, s, known, nil)
	if n := len(s.suspects(known, make([]bool, len(known)))); n > len(known)/50 {
		t.Errorf("%d of %d keys are sought again", n, len(known))
	}
	must(t, s.Close())
}

// TestSetSideBySide looks for keys from several goroutines while others are added, written and merged.
func TestSetSideBySide(t *testing.T) {
	k := newKeeper()
	s := k.open(t, 1<<20)
	known, unknown := randomKeys(1, 20_000), randomKeys(2, 5000)
	k.add(t, s, known, 1)
	var all sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		all.Go(func() {
			found := make([]bool, len(known)+len(unknown))
			for {
				select {
				case <-stop:
					return
				default:
				}
				clear(found)
				if err := errors.Join(s.Find(known, found), s.Find(unknown, found[len(known):])); err != nil {
					t.Error(err)
				}
				if slices.Contains(found[:len(known)], false) || slices.Contains(found[len(known):], true) {
					t.Error("a key is not found, or one that is not there is")
				}
			}
		})
	}
	for i := uint64(2); i < 60; i++ {
		k.add(t, s, randomKeys(100+i, 4000), i)
	}
	close(stop)
	all.Wait()
	must(t, s.Close())
}

// TestMemory compares what a set says of its memory with what is free once it is gone.
func TestMemory(t *testing.T) {
	k := newKeeper()
	s := k.open(t, 4<<20)
	for i := range uint64(121) {
		k.add(t, s, randomKeys(i+1, 2500), i+1)
	}
	waitFor(t, s, func() bool { return s.frozen == nil && s.mergeable() == nil })
	heap := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	with, m := heap(), s.Memory()
	must(t, s.Close())
	s = nil
	freed := with - heap()
	runtime.KeepAlive(k)
	for what, n := range map[string]int64{"filter": m.Filter, "filters of runs": m.RunFilters, "hot": m.Hot, "indexes": m.Indexes, "tables": m.Tables} {
		if n < 20<<10 {
			t.Errorf("%s: %d bytes", what, n)
		}
	}
	if sum := m.Sum(); freed < sum*97/100 || freed > sum*103/100 {
		t.Errorf("it said %d bytes, and %d are free", sum, freed)
	}
}
