package bucket

import (
	"context"
	"math/rand/v2"
	"time"
)

// Wait makes the pause after a failed attempt, and returns false when the context has ended.
func (o Options) Wait(ctx context.Context, attempt int) bool {
	pause := min(10*time.Second, 50*time.Millisecond<<min(attempt, 10))
	pause += time.Duration(rand.Int64N(int64(pause)))
	if o.Pause != nil {
		pause = o.Pause(attempt)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
