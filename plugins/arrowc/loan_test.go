package main

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// lendRows lends a record of so many URLs.
func lendRows(t *testing.T, p *shared, rows int) *lent {
	t.Helper()
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range rows {
		b.Append(fmt.Sprintf("https://www.shop%d.co.uk/catalogue/item/%d.html?id=%d", i%100, i, i*7))
	}
	urls := b.NewArray()
	defer urls.Release()
	record, err := p.parse(urls, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := newInput(nil)
	defer in.release()
	return p.lend(record, in)
}

// pinnedAll checks that every buffer of the record is among the pinned.
func (l *lent) pinnedAll(t *testing.T) {
	t.Helper()
	n := 0
	for _, c := range l.record.Columns() {
		for _, p := range walk(c.Data(), nil) {
			if p != nil && l.pinned[n] != p {
				t.Errorf("buffer %d is not pinned", n)
			}
			n++
		}
	}
	if n == 0 || n != len(l.pinned) {
		t.Errorf("%d buffers, %d pinned", n, len(l.pinned))
	}
}

// The loan of a record that was released serves for the next of the same workspace, and nothing has to be pinned for it.
func TestLoansServeAgain(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // which keeps two workspaces, and two loans
	before := alive.Load()
	p, err := newShared(`{"include": ["host", "path", "port"]}`)
	if err != nil {
		t.Fatal(err)
	}
	a := lendRows(t, p, 1000)
	b := lendRows(t, p, 1000)
	if a == b {
		t.Fatal("a loan serves twice at once")
	}
	a.pinnedAll(t)
	b.pinnedAll(t)
	pinned := slices.Clone(b.pinned)
	later := a.record
	later.Retain()
	a.release()
	b.release()
	later.Release() // the workspace of a is the next to be taken, although the loan of b was the last that came back
	c := lendRows(t, p, 900)
	if c != a {
		t.Error("another loan than that of the workspace")
	}
	d := lendRows(t, p, 800)
	if d != b || !slices.Equal(d.pinned, pinned) {
		t.Error("buffers of the same workspace were pinned anew")
	}
	c.release()
	d.release()
	e := lendRows(t, p, 50_000) // in buffers that have grown
	e.pinnedAll(t)
	p.release()
	if p.model == nil {
		t.Error("the processor has ended before its last array")
	}
	e.release()
	if p.model != nil || p.loans.free != nil {
		t.Error("the processor has not ended")
	}
	if n := alive.Load() - before; n != 0 {
		t.Errorf("%d are alive", n)
	}
}

// However many arrays a host has held, a processor keeps one loan a CPU, and the handles of the others are gone, as are all with the
// processor.
func TestLoansAreBounded(t *testing.T) {
	p, err := newShared(`{"include": ["host"]}`)
	if err != nil {
		t.Fatal(err)
	}
	most := runtime.GOMAXPROCS(0)
	var out []*lent
	for range most + 5 {
		out = append(out, lendRows(t, p, 10))
	}
	for _, l := range out {
		l.release()
	}
	if n := len(p.loans.free); n != most {
		t.Errorf("%d loans are kept, want %d", n, most)
	}
	if n := handles(out); n != most {
		t.Errorf("%d handles, want %d", n, most)
	}
	p.release()
	if n := handles(out); n != 0 {
		t.Errorf("%d handles of a processor that has ended", n)
	}
}

// What a large batch has pinned goes when a number of small ones has been copied, and what is out is not touched by that.
func TestLoansGo(t *testing.T) {
	p, err := newShared(`{"include": ["host"]}`)
	if err != nil {
		t.Fatal(err)
	}
	defer p.release()
	held := lendRows(t, p, 10)
	lendRows(t, p, 10_000).release()
	for i := range 3 * patience {
		p.loans.copied()
		if n := len(p.loans.free); n != map[bool]int{true: 1, false: 0}[i < patience-1] {
			t.Fatalf("%d loans are kept after %d copies", n, i+1)
		}
	}
	held.pinnedAll(t)
	held.release()
	next := lendRows(t, p, 10)
	if next != held {
		t.Error("a loan that came back later is not used")
	}
	next.pinnedAll(t)
	next.release()
}

// handles returns how many of the loans have one.
func handles(loans []*lent) (n int) {
	for _, l := range loans {
		func() {
			defer func() { _ = recover() }() // Value of a handle that was deleted panics
			if l.handle.Value() == l {
				n++
			}
		}()
	}
	return n
}

// Memory of the host's is not pinned, and not taken for pinned when Go's lies at the same address later.
func TestLoansPinNothingOfTheHost(t *testing.T) {
	p, err := newShared(`{"include": ["url", "host"]}`)
	if err != nil {
		t.Fatal(err)
	}
	defer p.release()
	l := lendRows(t, p, 100)
	defer l.release()
	l.pinnedAll(t)
	at := uintptr(l.buffers[2])
	l.input.spans = []span{{at, at + uintptr(l.record.Column(0).Data().Buffers()[2].Len())}}
	if !l.input.holds(l.buffers[2]) || l.input.holds(l.buffers[1]) {
		t.Fatal("the span is not that of the texts")
	}
	l.pinned = nil
	l.pin()
	if l.pinned[2] != nil || l.pinned[1] != l.buffers[1] {
		t.Errorf("pinned %v of %v", l.pinned, l.buffers)
	}
	l.input.spans = nil // the same address, and Go's
	l.pin()
	if l.pinned[2] != l.buffers[2] {
		t.Error("taken for pinned")
	}
}
