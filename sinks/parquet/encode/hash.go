package encode

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// The keys of hashes are random for each process, so that nobody can send values that collide on purpose. What is written
// does not depend on them.
var (
	seed = maphash.MakeSeed()
	keys = [4]uint64{key(0), key(1), key(2), key(3)}
)

func key(i byte) uint64 { return maphash.Bytes(seed, []byte{i}) | 1 }

// hash hashes a value. Up to 32 bytes, which is most of those that repeat, it is a few multiplications in place; a call
// of maphash takes twice as long.
func hash(v []byte) uint64 {
	n := len(v)
	var a, b uint64
	switch {
	case n > 32:
		return maphash.Bytes(seed, v)
	case n > 16:
		a = fold(binary.LittleEndian.Uint64(v)^keys[0], binary.LittleEndian.Uint64(v[8:])^keys[1])
		b = fold(binary.LittleEndian.Uint64(v[n-16:])^keys[2], binary.LittleEndian.Uint64(v[n-8:])^keys[3])
	case n >= 8:
		a, b = binary.LittleEndian.Uint64(v), binary.LittleEndian.Uint64(v[n-8:])
	case n >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(v)), uint64(binary.LittleEndian.Uint32(v[n-4:]))
	case n > 0:
		a = uint64(v[0]) | uint64(v[n/2])<<8 | uint64(v[n-1])<<16
	}
	return fold(fold(a^keys[0], b^keys[1]^uint64(n)), keys[2])
}

// fold mixes the two halves of a product.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
