package dedupe

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"
)

// hot remembers keys that were found in the store lately, and so stay there. Pages that are linked from everywhere are
// duplicates again and again: a key takes 16 bytes here, and a block of 4 KiB in the store's cache. Its methods may be called
// side by side.
type hot struct {
	sets  []hotSet
	locks [64]sync.Mutex // each of the sets of keys with the same first bits
}

// hotSet has the keys whose first bits lead to it, the last one found first: a line of the CPU's cache.
type hotSet [4]Key

// newHot returns one without keys in so many bytes.
func newHot(size int64) *hot {
	return &hot{sets: make([]hotSet, max(size/64, 1))}
}

// place returns the set of a key, locked.
func (h *hot) place(key *Key) (*hotSet, *sync.Mutex) {
	first := binary.BigEndian.Uint64(key[:])
	i, _ := bits.Mul64(first, uint64(len(h.sets)))
	lock := &h.locks[i*uint64(len(h.locks))/uint64(len(h.sets))]
	lock.Lock()
	return &h.sets[i], lock
}

// has returns whether the key is known to be in the store. A key of zeros never is, as that is what an empty place has.
func (h *hot) has(key *Key) bool {
	set, lock := h.place(key)
	defer lock.Unlock()
	for i := range set {
		if set[i] == *key {
			copy(set[1:i+1], set[:i])
			set[0] = *key
			return *key != Key{}
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

// add adds a key that is in the store, in the place of the one of its set that was found least lately.
func (h *hot) add(key *Key) {
	set, lock := h.place(key)
	defer lock.Unlock()
	if slices.Contains(set[:], *key) {
		return // another lane was faster
	}
	copy(set[1:], set[:])
	set[0] = *key
}
