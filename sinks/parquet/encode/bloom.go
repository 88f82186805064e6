package encode

import (
	"encoding/binary"
	"math/bits"
)

// Bloom filters are the format's split-block ones (BloomFilter.md): blocks of 256 bits, of which a value sets eight, one
// in each word.

// salts are those of the specification.
var salts = [8]uint32{
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
}

const (
	blockBytes = 32
	maxBloom   = 1 << 20
)

// bloomBytes returns the size of a filter for n values: a power of two, as some readers want it, that gives them 8 to
// 16 bits each, by which 0.1 to 3 % of other values pass.
func bloomBytes(n int) int {
	return min(maxBloom, max(blockBytes, 1<<bits.Len(uint(max(1, n)-1))))
}

// setBloom sets the bits of a hash (XXH64 with the seed 0) in a filter.
func setBloom(filter []byte, hash uint64) {
	blocks := uint64(len(filter) / blockBytes)
	i := (hash >> 32) * blocks >> 32 // the upper half chooses the block, by multiplication instead of a remainder
	block := filter[i*blockBytes : (i+1)*blockBytes]
	key := uint32(hash)
	for w, salt := range salts {
		word := binary.LittleEndian.Uint32(block[4*w:])
		binary.LittleEndian.PutUint32(block[4*w:], word|1<<(key*salt>>27))
	}
}

// appendBloomHeader appends the header of a filter.
func appendBloomHeader(t *thrift, numBytes int) {
	t.element()
	t.i32(1, int32(numBytes))
	t.begin(2) // algorithm: split blocks
	t.empty(1)
	t.end()
	t.begin(3) // hash: XXH64
	t.empty(1)
	t.end()
	t.begin(4) // not compressed
	t.empty(1)
	t.end()
	t.end()
}
