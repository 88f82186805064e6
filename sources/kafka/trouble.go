package kafka

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlmill/urlmill/pipeline"
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

// Count implements [pipeline.Counter]. Unreadable are batches that are damaged, or whose header says of their records what is
// not true.
func (s *Source) Count(c *pipeline.Counts) {
	c.Input = &pipeline.InputCounts{Retries: s.retries.Load(), Unreadable: s.unreadable.Load()}
	c.Input.Since, c.Input.Err = s.failing()
	for _, l := range s.Lags() {
		c.Input.Lags = append(c.Input.Lags, pipeline.Lag{Lane: l.Lane, Behind: l.Behind()})
	}
}

// failing returns since when something fails that is tried again, such as reaching a broker, and how it failed last;
// zero and nil when nothing does.
func (s *Source) failing() (since time.Time, err error) {
	since, err = s.trouble.get()
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.lanes {
		for _, t := range []*trouble{&l.fetchTrouble, &l.schemaTrouble} {
			if at, e := t.get(); e != nil && (err == nil || at.Before(since)) {
				since, err = at, e
			}
		}
	}
	return since, err
}
