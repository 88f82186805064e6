// Package budget keeps what many hold in memory together below a limit.
//
// A [Ledger] is for what can be let go of early, at a price: row groups of open files. Whoever wants more than is left
// has the largest holder shrink, and waits only while there is nobody who could. A [Pool] is for what comes back by
// itself: answers of brokers on their way through. Whoever wants more than is left waits for that.
package budget

import (
	"context"
	"sync"
)

// Ledger bounds what its holders hold together. It may be used by several goroutines.
//
// The limit is kept as long as each holder can shrink so far that one of them can grow. Where it cannot be, one holder
// at a time goes beyond it: everything goes on, slowly, and Peak tells.
type Ledger struct {
	gauge
	// line is held by who is finding memory for itself. The others wait behind it, in order, and can be shrunk
	// meanwhile.
	line chan struct{}

	// Guarded by the gauge's mutex.
	inLine  int
	working int           // holders that have entered and not left
	changed chan struct{} // closed at the next change for the better
	holders map[*Holder]struct{}
}

// New returns a ledger. A limit of 0 is none.
func New(limit int64) *Ledger {
	return &Ledger{gauge: newGauge(limit), line: make(chan struct{}, 1), changed: make(chan struct{}), holders: map[*Holder]struct{}{}}
}

// Holder is one of those who hold memory of a ledger. Between Enter and Leave it is its owner's alone; at other times
// anybody who needs memory may have it shrink.
type Holder struct {
	ledger *Ledger
	shrink func() int64
	use    sync.Mutex

	// Guarded by the ledger's mutex.
	held  int64 // and what it may grow by until it leaves
	floor int64 // held after a shrinking that did not help
}

// Join adds a holder, which holds nothing yet. shrink is to let go of about half of what is held, or of all that can be,
// and returns what is held then. It is called by any goroutine, never between Enter and Leave but by Enter
// itself.
func (l *Ledger) Join(shrink func() int64) *Holder {
	h := &Holder{ledger: l, shrink: shrink}
	l.mu.Lock()
	l.holders[h] = struct{}{}
	l.mu.Unlock()
	return h
}

// Enter makes the holder its caller's until Leave, and sees to it that it may hold n bytes more than now. For that others
// are made to shrink, or the holder itself, whoever holds the most. It waits for others that have entered only if nothing
// else helps. The error is that of ctx, and Leave must not follow it.
func (h *Holder) Enter(ctx context.Context, n int64) error {
	l := h.ledger
	if h.tryEnter(n) {
		return nil
	}
	defer l.leaveLine()
	select {
	case l.line <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-l.line }()
	h.use.Lock()
	for {
		v, changed, ok := l.step(h, n)
		switch {
		case ok:
			return nil
		case v == h:
			l.settle(h, h.shrink())
		case v != nil:
			l.settle(v, v.shrink())
			v.use.Unlock()
		default:
			select {
			case <-changed:
			case <-ctx.Done():
				h.use.Unlock()
				return context.Cause(ctx)
			}
		}
	}
}

// tryEnter enters if what is wanted is there and nobody waits for it. Otherwise the holder is in the line then, where it
// can be shrunk.
func (h *Holder) tryEnter(n int64) bool {
	l := h.ledger
	l.mu.Lock()
	l.working++ // also while it waits for a lock that others need
	l.mu.Unlock()
	h.use.Lock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if n <= 0 || l.inLine == 0 && l.used+n <= l.limit {
		l.set(h, h.held+max(n, 0))
		return true
	}
	l.working--
	l.inLine++
	h.use.Unlock()
	l.change()
	return false
}

func (l *Ledger) leaveLine() {
	l.mu.Lock()
	l.inLine--
	l.mu.Unlock()
}

// step takes n bytes for h, which is first in the line and locked. If they are not there it returns who is to shrink, h or
// another holder, locked; or nobody, and what is closed at the next change. If nobody is at work who might bring one, h
// gets them all the same.
func (l *Ledger) step(h *Holder, n int64) (v *Holder, changed <-chan struct{}, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used+n > l.limit {
		if v = l.largest(h); v != nil {
			return v, nil, false
		}
		if l.working > 0 {
			return nil, l.changed, false
		}
	}
	l.working++
	l.set(h, h.held+n)
	return nil, nil, true
}

// Leave says what is held now, and lets others in.
func (h *Holder) Leave(held int64) {
	l := h.ledger
	l.mu.Lock()
	l.working--
	h.floor = 0
	l.set(h, held)
	h.use.Unlock()
	l.mu.Unlock()
}

// Close takes the holder out of the ledger. It holds nothing any more.
func (h *Holder) Close() {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set(h, 0)
	delete(l.holders, h)
}

// set is called with the mutex locked.
func (l *Ledger) set(h *Holder, held int64) {
	l.add(held - h.held)
	h.held = held
	l.change()
}

func (l *Ledger) change() {
	if l.inLine > 0 {
		close(l.changed)
		l.changed = make(chan struct{})
	}
}

// settle notes what a shrunk holder holds.
func (l *Ledger) settle(h *Holder, held int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held >= h.held {
		h.floor = held
	}
	l.set(h, held)
}

// largest returns the holder that holds the most of those that can shrink, nil if there is none. If it is not h, which is
// its caller's, its use is locked. It is called with the mutex locked.
func (l *Ledger) largest(h *Holder) *Holder {
	var most *Holder
	for v := range l.holders {
		if v.held <= v.floor || most != nil && v.held <= most.held {
			continue
		}
		if v != h && !v.use.TryLock() {
			continue
		}
		if most != nil && most != h {
			most.use.Unlock()
		}
		most = v
	}
	return most
}
