package dedupe

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// sieve is a Bloom filter of all keys of the store, of a size that does not change: with more keys, it lets more through.
// Its methods may be called side by side.
//
// A key has sieveBits bits in one block of 512, a line of the CPU's cache. The block is chosen by the first bits of the key, so that
// keys that are asked for in order go through the memory in order as well.
type sieve struct{ blocks []sieveBlock }

type sieveBlock [8]uint64

// sieveBits is how many bits a key sets: the best number for some nine bits of memory a key.
const sieveBits = 6

// newSieve returns a sieve without keys in so many bytes.
func newSieve(size int64) *sieve {
	return &sieve{make([]sieveBlock, max(size/64, 1))}
}

// place returns the block of a key, and nine bits for each of its bits there.
func (s *sieve) place(key *Key) (*sieveBlock, uint64) {
	i, _ := bits.Mul64(binary.BigEndian.Uint64(key[:]), uint64(len(s.blocks)))
	return &s.blocks[i], binary.BigEndian.Uint64(key[8:])
}

// has returns false when the key was never added.
func (s *sieve) has(key *Key) bool {
	block, where := s.place(key)
	all := uint64(1)
	for range sieveBits { // all of them, as a branch for each would be guessed wrong
		all &= atomic.LoadUint64(&block[where>>6&7]) >> (where & 63)
		where >>= 9
	}
	return all != 0
}

func (s *sieve) add(key *Key) {
	block, where := s.place(key)
	for range sieveBits {
		atomic.OrUint64(&block[where>>6&7], 1<<(where&63))
		where >>= 9
	}
}
