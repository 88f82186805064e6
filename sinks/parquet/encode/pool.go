package encode

import (
	"math/bits"
	"sync"
)

// pool lends slices to all writers of the process, by size classes of powers of two. A lent slice has the length zero, and
// its memory has undefined contents. It is its borrower's until put: nothing checks that, and a slice that is still read
// after it was put shows the bytes of another column.
//
// A slice header that goes into a sync.Pool as an interface is allocated each time. Headers therefore travel in boxes,
// which are pooled in turn.
type pool[T any] struct {
	classes [maxClass + 1]sync.Pool // of *[]T
	boxes   sync.Pool               // of *[]T that hold nil
}

const (
	minClass = 6  // the least is 64 elements
	maxClass = 26 // larger ones are left to the garbage collector
)

var (
	bytePool   pool[byte]
	int32Pool  pool[int32]
	uint32Pool pool[uint32]
	uint64Pool pool[uint64]
)

// get returns an empty slice with room for n elements.
func (p *pool[T]) get(n int) []T {
	class := max(minClass, bits.Len(uint(max(1, n)-1)))
	if class > maxClass {
		return make([]T, 0, n)
	}
	if box, ok := p.classes[class].Get().(*[]T); ok {
		s := *box
		*box = nil
		p.boxes.Put(box)
		return s[:0]
	}
	return make([]T, 0, 1<<class)
}

// put takes a slice back, which must not be used from then on, nor anything that aliases it. A slice whose capacity is of no
// class, since append has made it or it is too large, is left to the garbage collector.
func (p *pool[T]) put(s []T) {
	c := cap(s)
	if c == 0 || c&(c-1) != 0 || c < 1<<minClass || c > 1<<maxClass {
		return
	}
	box, ok := p.boxes.Get().(*[]T)
	if !ok {
		box = new([]T)
	}
	*box = s[:0]
	p.classes[bits.Len(uint(c)-1)].Put(box)
}

// grow returns s with room for n more elements. If it has to move them, s goes back to the pool at once: whatever aliases s
// is invalid then, as after put.
func (p *pool[T]) grow(s []T, n int) []T {
	if len(s)+n <= cap(s) {
		return s
	}
	return p.move(s, n)
}

func (p *pool[T]) move(s []T, n int) []T {
	t := append(p.get(max(len(s)+n, 2*cap(s))), s...)
	p.put(s)
	return t
}

// appendTo appends v, which must not alias s, to s as grow does.
func (p *pool[T]) appendTo(s, v []T) []T { return append(p.grow(s, len(v)), v...) }
