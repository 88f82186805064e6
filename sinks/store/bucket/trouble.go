package bucket

import (
	"log/slog"
	"sync"
	"time"
)

// Trouble knows which requests are failing and being made again. Its zero value is ready, and it is safe for concurrent
// use.
type Trouble struct {
	mu      sync.Mutex
	failing map[*Request]failure
	retries int64
	toldAt  time.Time // the last warning
	told    bool      // a warning whose end has not been told
}

// Request is an operation with all its attempts.
type Request struct {
	Operation string
	Service   string       // its name, such as S3
	Log       *slog.Logger // nil: none
}

type failure struct {
	since time.Time
	err   error // the latest
}

// warnEvery bounds the warnings: servers that are short of capacity fail single requests all the time.
const warnEvery = 10 * time.Second

// Get returns since when a request is failing that is tried again, and how it failed last, of several requests the one that
// has been at it longest; zero and nil when none is.
func (t *Trouble) Get() (since time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.failing {
		if err == nil || f.since.Before(since) {
			since, err = f.since, f.err
		}
	}
	return since, err
}

// Retries returns how often an attempt has failed that was not the last.
func (t *Trouble) Retries() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.retries
}

// Failed notes that an attempt has failed. The first failure of a request is no news unless expired says what to do about
// credentials that were valid once.
func (t *Trouble) Failed(r *Request, err error, expired string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failing == nil {
		t.failing = make(map[*Request]failure)
	}
	now := time.Now()
	before, again := t.failing[r]
	if !again {
		before.since = now
	}
	t.failing[r] = failure{before.since, err}
	t.retries++
	if r.Log != nil && (again || expired != "") && now.Sub(t.toldAt) >= warnEvery {
		t.toldAt, t.told = now, true
		message := "a request to " + r.Service + " fails and is tried again"
		if expired != "" {
			message = "the credentials for " + r.Service + " have expired and are looked up anew for every attempt: " + expired
		}
		r.Log.Warn(message, "operation", r.Operation, "since", before.since.Round(time.Millisecond), "error", err)
	}
}

// End notes that a request is through, whatever came of it.
func (t *Trouble) End(r *Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.failing[r]; !ok {
		return
	}
	delete(t.failing, r)
	if t.told && len(t.failing) == 0 {
		t.told = false
		r.Log.Info("no request to " + r.Service + " is failing any more")
	}
}
