package kafkaconn

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

const (
	// RequestTimeout bounds a request beyond the time that the broker may take on purpose. A peer that is gone without a
	// word is noticed after it.
	RequestTimeout = 30 * time.Second
	// MinBackoff is the first pause of a [Backoff] at most, and maxBackoff each of the later ones.
	MinBackoff = 100 * time.Millisecond
	maxBackoff = 5 * time.Second
)

// Backoff spaces tries that fail: each pause is up to twice as long as the one before, less a random part so that many
// clients do not try in step. Its zero value is ready. It belongs to one goroutine.
type Backoff struct{ tries int }

// Reset makes the next pause the first one again.
func (b *Backoff) Reset() { b.tries = 0 }

// Tries returns the number of pauses since the last Reset.
func (b *Backoff) Tries() int { return b.tries }

// pause returns how long to wait before the next try.
func (b *Backoff) pause() time.Duration {
	d := maxBackoff
	if b.tries < 6 { // beyond it, the shift is more than maxBackoff, and one day overflows
		d = min(MinBackoff<<b.tries, maxBackoff)
	}
	b.tries++
	return d/2 + rand.N(d/2)
}

// Wait sleeps for a pause and reports whether it came to its end: ctx or stop may end it before. stop may be nil.
func (b *Backoff) Wait(ctx context.Context, stop <-chan struct{}) bool {
	return Sleep(ctx, stop, b.pause())
}

// Sleep sleeps for d and reports whether it came to its end: ctx or stop may end it before. stop may be nil.
func Sleep(ctx context.Context, stop <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
		return false
	case <-ctx.Done():
		return false
	}
}

// Absence measures how long a topic or partition has been missing. Right after it was created, or while its leader changes,
// some brokers do not know it yet, so only the time tells that from one that was deleted. Its zero value is ready. It belongs
// to one goroutine.
type Absence struct{ since time.Time }

// Note returns how long every try has found the topic missing, the latest of which failed with err. Any other error ends the
// absence.
func (a *Absence) Note(err error) time.Duration {
	if !IsMissing(err) {
		a.End()
		return 0
	}
	if a.since.IsZero() {
		a.since = time.Now()
	}
	return time.Since(a.since)
}

// End says that the topic is there.
func (a *Absence) End() { a.since = time.Time{} }

// ErrStopped is the error of a request that Retry.Stop has ended.
var ErrStopped = errors.New("stopped")

// Retry says how a request is repeated until it succeeds.
type Retry struct {
	// Explain returns a [FatalError] if repeating does not cure err, with which tries have found the topic missing for so long, or not at all.
	Explain func(err error, missing time.Duration) error
	// Warn is called with the error of every try but the first: connections that were idle break, and the second try
	// makes a new one.
	Warn func(err error)
	// Stop ends the pause between two tries when it is closed. It may be nil.
	Stop <-chan struct{}
}

// Do calls try until it returns nil. It returns a fatal error at once, the error of ctx once that has ended, and [ErrStopped]
// if Stop is closed between two tries.
func (r Retry) Do(ctx context.Context, try func(context.Context) error) error {
	var pause Backoff
	var absence Absence
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil { // which is why the try has failed, whatever its error says
			return ctx.Err()
		}
		if err = r.Explain(err, absence.Note(err)); IsFatal(err) {
			return err
		}
		if pause.tries > 0 {
			r.Warn(err)
		}
		if !pause.Wait(ctx, r.Stop) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return ErrStopped
		}
	}
}
