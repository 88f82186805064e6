package main

import (
	"runtime"
	"runtime/cgo"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
)

// lent is what an array of ours that the host holds lies in. When the host has released it, it serves for another: the next
// record of the same workspace has its buffers in the same places as a rule, and these are pinned already.
type lent struct {
	shared *shared // with a reference, while it is out
	handle cgo.Handle
	record arrow.Record // nil where the host has copies
	input  *input       // of the columns that go along, and of the buffers of record that are the host's

	pins    runtime.Pinner   // of pinned: C must not hold a pointer into Go's memory without
	pinned  []unsafe.Pointer // buffers of a record, in the order of walk; nil for what needs no pin
	buffers []unsafe.Pointer // of record, in the same order; nil for empty ones
}

// loans are those of a processor that are not out, at most one a CPU: as many as there are workspaces.
type loans struct {
	mu     sync.Mutex
	free   []*lent      // the last that came back is the last
	copies atomic.Int64 // since one was lent
}

// lend returns what holds record and in until release, with all of the record's buffers pinned that are in Go's memory. It takes the
// reference to record, which may be nil, and retains in.
func (p *shared) lend(record arrow.Record, in *input) *lent {
	l := p.loans.take(record)
	if l == nil {
		l = &lent{shared: p}
		l.handle = cgo.NewHandle(l)
	}
	p.refs.Add(1)
	alive.Add(1)
	l.record, l.input = record, in.retain()
	if record == nil {
		return l
	}
	p.out.Add(1)
	p.loans.copies.Store(0)
	l.buffers = l.buffers[:0]
	for _, c := range record.Columns() {
		l.buffers = walk(c.Data(), l.buffers)
	}
	l.pin()
	return l
}

// patience is after how many batches that were copied, and none that was lent, loans go with all that they have pinned.
const patience = 16

// copied takes note of a batch that was copied.
func (s *loans) copied() {
	if s.copies.Add(1) == patience {
		s.end()
	}
}

// take returns a loan, by preference the one that has pinned what record lies in; nil without any.
func (s *loans) take(record arrow.Record) *lent {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := len(s.free) - 1
	if at < 0 {
		return nil
	}
	if at > 0 && record != nil {
		first := firstBuffer(record)
		for i, l := range s.free {
			if slices.Contains(l.pinned, first) {
				at = i
			}
		}
	}
	l := s.free[at]
	s.free = slices.Delete(s.free, at, at+1)
	return l
}

// pin sees that the buffers are pinned.
func (l *lent) pin() {
	if slices.EqualFunc(l.buffers, l.pinned, func(b, pinned unsafe.Pointer) bool { return b == nil || b == pinned || l.input.holds(b) }) {
		return
	}
	l.pins.Unpin()
	l.pinned = slices.Grow(l.pinned[:0], len(l.buffers))
	for _, b := range l.buffers {
		if b != nil && l.input.holds(b) {
			b = nil // another batch may have Go's memory at this address, unlikely as it is
		}
		if b != nil {
			l.pins.Pin(b)
		}
		l.pinned = append(l.pinned, b)
	}
}

// release takes back what the host has had.
func (l *lent) release() {
	p := l.shared
	if l.record != nil {
		giveBack(l.record)
		p.out.Add(-1)
	}
	l.input.release()
	l.record, l.input = nil, nil
	clear(l.buffers) // some were the host's, which may be anything now
	p.loans.giveBack(l)
	alive.Add(-1)
	p.release()
}

func (s *loans) giveBack(l *lent) {
	s.mu.Lock()
	kept := len(s.free) < runtime.GOMAXPROCS(0)
	if kept {
		s.free = append(s.free, l)
	}
	s.mu.Unlock()
	if !kept {
		l.end()
	}
}

// end ends all loans that are not out.
func (s *loans) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.free {
		l.end()
	}
	s.free = nil
}

func (l *lent) end() {
	l.pins.Unpin()
	l.handle.Delete()
}

// walk appends where the buffers of d and of its children are, nil for those that are missing or empty. There are as many for every
// record of a schema.
func walk(d arrow.ArrayData, to []unsafe.Pointer) []unsafe.Pointer {
	for _, b := range d.Buffers() {
		if b != nil && b.Len() > 0 {
			to = append(to, unsafe.Pointer(unsafe.SliceData(b.Bytes())))
		} else {
			to = append(to, nil)
		}
	}
	for _, c := range d.Children() {
		to = walk(c, to)
	}
	return to
}

// firstBuffer returns where the first buffer of r is that is not empty, nil without one in the first column.
func firstBuffer(r arrow.Record) unsafe.Pointer {
	if r.NumCols() == 0 {
		return nil
	}
	for _, b := range r.Column(0).Data().Buffers() {
		if b != nil && b.Len() > 0 {
			return unsafe.Pointer(unsafe.SliceData(b.Bytes()))
		}
	}
	return nil
}
