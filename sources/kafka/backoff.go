package kafka

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	minBackoff = 100 * time.Millisecond
	maxBackoff = 5 * time.Second
)

// backoff spaces tries that fail: each pause is up to twice as long as the one before, less a random part so
// that many members do not try in step. Its zero value is ready.
type backoff struct{ tries int }

func (b *backoff) reset() { b.tries = 0 }

// pause returns how long to wait before the next try.
func (b *backoff) pause() time.Duration {
	d := maxBackoff
	if b.tries < 6 {
		d = min(minBackoff<<b.tries, maxBackoff)
	}
	b.tries++
	return d/2 + rand.N(d/2)
}

// wait sleeps for a pause and returns false if ctx ended or stop was closed before that.
func (b *backoff) wait(ctx context.Context, stop <-chan struct{}) bool {
	return sleep(ctx, stop, b.pause())
}

func sleep(ctx context.Context, stop <-chan struct{}, d time.Duration) bool {
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
