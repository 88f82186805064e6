package runs

import (
	"math/bits"
	"sync/atomic"
)

// Filter is a Bloom filter of a size that does not change: with more keys, it lets more through. Its methods may be called side
// by side.
//
// A key has filterBits bits in one block of 512, a line of the CPU's cache. The block is chosen by the first bits of the key, so that
// keys that are asked for in order go through the memory in order as well.
type Filter struct{ blocks []filterBlock }

type filterBlock [8]uint64

// filterBits is how many bits a key sets: the best number for some nine bits of memory a key.
const filterBits = 6

// NewFilter returns a filter without keys in so many bytes.
func NewFilter(size int64) *Filter {
	return &Filter{make([]filterBlock, max(size/64, 1))}
}

// Has returns false when the key was never added.
func (f *Filter) Has(key *Key) bool { return f.has(numberOf(key)) }

// Add adds a key.
func (f *Filter) Add(key *Key) { f.add(numberOf(key)) }

// size returns how many bytes it takes; none where there is none.
func (f *Filter) size() int64 {
	if f == nil {
		return 0
	}
	return int64(len(f.blocks)) * 64
}

func (f *Filter) place(n number) *filterBlock {
	i, _ := bits.Mul64(n.hi, uint64(len(f.blocks)))
	return &f.blocks[i]
}

// has takes nine of the last bits of a key for each bit of its block.
func (f *Filter) has(n number) bool {
	block, where, all := f.place(n), n.lo, uint64(1)
	for range filterBits { // all of them, as a branch for each would be guessed wrong
		all &= atomic.LoadUint64(&block[where>>6&7]) >> (where & 63)
		where >>= 9
	}
	return all != 0
}

func (f *Filter) add(n number) {
	block, where := f.place(n), n.lo
	for range filterBits {
		atomic.OrUint64(&block[where>>6&7], 1<<(where&63))
		where >>= 9
	}
}
