package runs

import (
	"math/bits"
	"slices"
	"sync"
)

// hot remembers keys that were found in runs lately, and so stay there. Pages that are linked from everywhere are
// duplicates again and again: a key takes 16 bytes here, and reading a block there. Its methods may be called side by side.
type hot struct {
	sets  []hotSet
	locks [64]sync.Mutex // each of the sets of keys with the same first bits
}

// hotSet has the keys whose first bits lead to it, the last one found first: a line of the CPU's cache.
type hotSet [4]number

// newHot returns one without keys in so many bytes.
func newHot(size int64) *hot {
	return &hot{sets: make([]hotSet, max(size/64, 1))}
}

// place returns the set of a key, locked.
func (h *hot) place(n number) (*hotSet, *sync.Mutex) {
	i, _ := bits.Mul64(n.hi, uint64(len(h.sets)))
	lock := &h.locks[i*uint64(len(h.locks))/uint64(len(h.sets))]
	lock.Lock()
	return &h.sets[i], lock
}

// has reports whether a key is known to be in a run. A key of zeros never is, as that is what an empty place has.
func (h *hot) has(n number) bool {
	set, lock := h.place(n)
	defer lock.Unlock()
	for i := range set {
		if set[i] == n {
			copy(set[1:i+1], set[:i])
			set[0] = n
			return n != number{}
		}
	}
	return false
}

// clear forgets all keys.
func (h *hot) clear() {
	for i := range h.locks {
		h.locks[i].Lock()
	}
	clear(h.sets)
	for i := range h.locks {
		h.locks[i].Unlock()
	}
}

// add adds a key that is in a run, in the place of the one of its set that was found least lately.
func (h *hot) add(n number) {
	set, lock := h.place(n)
	defer lock.Unlock()
	if slices.Contains(set[:], n) {
		return // another lane was faster
	}
	copy(set[1:], set[:])
	set[0] = n
}
