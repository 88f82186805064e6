package kafka

import (
	"sync"
	"sync/atomic"
	"time"
)

// trouble is what keeps failing and is tried again. Its zero value is none, and a nil *trouble keeps nothing. Its methods may
// be called from several goroutines: those that try, and the one that shows the state to users.
type trouble struct {
	mu      sync.Mutex
	since   time.Time
	err     error // the latest
	retries *atomic.Int64
}

func (t *trouble) add(err error) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since.IsZero() {
		t.since = time.Now()
	}
	t.err = err
	if t.retries != nil {
		t.retries.Add(1)
	}
}

func (t *trouble) end() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since, t.err = time.Time{}, nil
}

func (t *trouble) get() (since time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.since, t.err
}

// Trouble returns since when something fails that is tried again, such as reaching a broker, and how it failed last;
// zero and nil when nothing does. It may be called at any time.
func (s *Source) Trouble() (since time.Time, err error) {
	since, err = s.trouble.get()
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.lanes {
		for _, t := range []*trouble{&l.trouble, &l.unknown} {
			if at, e := t.get(); e != nil && (err == nil || at.Before(since)) {
				since, err = at, e
			}
		}
	}
	return since, err
}

// Unreadable returns how many parts of the log could not be read when they were first fetched: batches that are damaged,
// or whose header says of their records what is not true. It may be called at any time.
func (s *Source) Unreadable() int64 { return s.unreadable.Load() }

// Retries returns how often something was tried again. It may be called at any time.
func (s *Source) Retries() int64 { return s.retries.Load() }
