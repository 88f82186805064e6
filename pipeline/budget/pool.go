package budget

import (
	"context"
	"slices"
)

// Pool lends bytes, in the order in which they are asked for. It may be used by several goroutines.
type Pool struct {
	gauge
	waiting []*request // guarded by the gauge's mutex
}

type request struct {
	n     int64
	given chan struct{}
}

// NewPool returns a pool. A limit of 0 is none.
func NewPool(limit int64) *Pool { return &Pool{gauge: newGauge(limit)} }

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
	if i := slices.Index(p.waiting, r); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	} else { // it was given meanwhile
		p.add(-n)
	}
	p.serve() // those behind it may need less
	return context.Cause(ctx)
}

// TryTake takes n bytes if it does not have to wait for them, and reports whether it did.
func (p *Pool) TryTake(n int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 || !p.fits(n) {
		return false
	}
	p.add(n)
	return true
}

// Give gives back n bytes. Fewer than none are taken without waiting, for what turned out larger than expected: the next
// who want to take something wait for it.
func (p *Pool) Give(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(-n)
	p.serve()
}

func (p *Pool) fits(n int64) bool { return p.used+n <= p.limit || p.used <= 0 }

func (p *Pool) serve() {
	for len(p.waiting) > 0 && p.fits(p.waiting[0].n) {
		p.add(p.waiting[0].n)
		close(p.waiting[0].given)
		p.waiting = p.waiting[1:]
	}
}
