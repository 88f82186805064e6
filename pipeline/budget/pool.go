package budget

import (
	"context"
	"math"
	"sync"
)

// Pool lends bytes, in the order in which they are asked for. It may be used by several goroutines.
type Pool struct {
	limit int64

	mu      sync.Mutex
	used    int64
	peak    int64
	waiting []*request
}

type request struct {
	n     int64
	given chan struct{}
}

// NewPool returns a pool. A limit of 0 is none.
func NewPool(limit int64) *Pool {
	if limit <= 0 {
		limit = math.MaxInt64 / 2
	}
	return &Pool{limit: limit}
}

// Take takes n bytes, for which it waits. More than the limit are lent to one alone. The error is that of ctx.
func (p *Pool) Take(ctx context.Context, n int64) error {
	p.mu.Lock()
	if len(p.waiting) == 0 && p.fits(n) {
		p.add(n)
		p.mu.Unlock()
		return nil
	}
	r := &request{n, make(chan struct{})}
	p.waiting = append(p.waiting, r)
	p.mu.Unlock()
	select {
	case <-r.given:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, w := range p.waiting {
		if w == r {
			p.waiting = append(p.waiting[:i], p.waiting[i+1:]...)
			p.serve() // who was behind it may need less
			return context.Cause(ctx)
		}
	}
	p.add(-n)
	p.serve()
	return context.Cause(ctx)
}

// Give gives back n bytes. Fewer than none are taken without waiting, for what turned out larger than expected: the next
// who want to take something wait for it.
func (p *Pool) Give(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(-n)
	p.serve()
}

// Used returns what is lent now.
func (p *Pool) Used() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used
}

// Peak returns the most that was ever lent.
func (p *Pool) Peak() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peak
}

func (p *Pool) fits(n int64) bool { return p.used+n <= p.limit || p.used <= 0 }

func (p *Pool) add(n int64) {
	p.used += n
	p.peak = max(p.peak, p.used)
}

func (p *Pool) serve() {
	for len(p.waiting) > 0 && p.fits(p.waiting[0].n) {
		p.add(p.waiting[0].n)
		close(p.waiting[0].given)
		p.waiting = p.waiting[1:]
	}
}
