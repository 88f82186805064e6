package budget

import (
	"math"
	"sync"
)

// gauge is what is held of a limit.
type gauge struct {
	mu                sync.Mutex
	limit, used, peak int64
}

// newGauge returns a gauge. A limit of 0 is none.
func newGauge(limit int64) gauge {
	if limit <= 0 {
		limit = math.MaxInt64 / 2
	}
	return gauge{limit: limit}
}

// Limit returns the limit.
func (g *gauge) Limit() int64 { return g.limit }

// Used returns what is held now.
func (g *gauge) Used() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.used
}

// Peak returns the most that was ever held.
func (g *gauge) Peak() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.peak
}

// add is called with the mutex locked.
func (g *gauge) add(n int64) {
	g.used += n
	g.peak = max(g.peak, g.used)
}
