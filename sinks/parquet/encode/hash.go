package encode

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// The keys of hashes are random for each process, so that an attacker cannot send values that collide on purpose. What is
// written does not depend on them: they decide where a value is in the table, and not its number.
var (
	seed = maphash.MakeSeed()
	keys = [4]uint64{key(0), key(1), key(2), key(3)}
)

func key(i byte) uint64 { return maphash.Bytes(seed, []byte{i}) | 1 }

// slack is how many bytes may be read behind values that are looked at by words of eight bytes. Values of up to slack
// bytes, which is most of those that repeat, are four words each: there is no branch by length to mispredict, and
// no call.
const slack = 32

// block is memory that is read as four words.
type block = [slack]byte

// masks have, for each length, the bits of the four words that belong to a value.
var masks = func() (m [slack + 1][4]uint64) {
	for n := range m {
		for i := range 8 * n {
			m[n][i/64] |= 1 << (i % 64)
		}
	}
	return m
}()

// hash hashes a value without slack. It copies the last block, and is hashText for the same bytes.
func hash(v []byte) uint64 {
	if len(v) <= slack {
		var b block
		copy(b[:], v)
		return hashText(b[:], uint(len(v)))
	}
	// The block behind the last whole one may reach beyond v.
	h, n := uint64(len(v)), len(v)&^(slack-1)
	if n == len(v) {
		n -= slack
	}
	for at := 0; at < n; at += slack {
		h = hashBlock(h, (*block)(v[at:]), &masks[slack])
	}
	var b block
	copy(b[:], v[n:])
	return hashBlock(h, &b, &masks[len(v)-n])
}

// hashText hashes the first n bytes of v, which has slack bytes more.
func hashText(v []byte, n uint) uint64 {
	h := uint64(n)
	for ; n > slack; n -= slack {
		h = hashBlock(h, (*block)(v), &masks[slack])
		v = v[slack:]
	}
	return hashBlock(h, (*block)(v), &masks[n])
}

// hashBlock goes on from h with the bytes of b that the mask has. interner's locate has it written out; the two have to be
// the same function.
func hashBlock(h uint64, b *block, m *[4]uint64) uint64 {
	return fold(le64(b, 0)&m[0]^keys[0]^h, le64(b, 8)&m[1]^keys[1]) ^
		bits.RotateLeft64(fold(le64(b, 16)&m[2]^keys[2], le64(b, 24)&m[3]^keys[3]^h), 32)
}

// equalBlocks compares the bytes that the mask has.
func equalBlocks(a, b *block, m *[4]uint64) bool {
	return (le64(a, 0)^le64(b, 0))&m[0]|(le64(a, 8)^le64(b, 8))&m[1]|
		(le64(a, 16)^le64(b, 16))&m[2]|(le64(a, 24)^le64(b, 24))&m[3] == 0
}

func le64(b *block, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

// fold mixes the two halves of a product.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
