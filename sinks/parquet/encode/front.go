package encode

import (
	"math/bits"
)

// DELTA_BYTE_ARRAY (Encodings.md) leaves out of each text the prefix that it shares with the text before. The lengths of the
// prefixes come first, then the rest of all texts as DELTA_LENGTH_BYTE_ARRAY.

// common returns the length of the common prefix of two texts of the lengths n and m. Both have slack bytes more: words are
// compared, of which the last may reach beyond the texts.
func common(a, b []byte, n, m int) int {
	least := min(n, m)
	for at := 0; at < least; at += 8 {
		if x := le64((*block)(a[at:]), 0) ^ le64((*block)(b[at:]), 0); x != 0 {
			return min(least, at+bits.TrailingZeros64(x)/8)
		}
	}
	return least
}

// sharedBytes returns the sum of the lengths of the prefixes that texts share with the text before. They are back to back in
// data, with slack behind.
func sharedBytes(data []byte, lens []int32) int {
	data = data[:len(data)+slack]
	shared, at, before := 0, 0, 0
	for i, n := range lens[1:] {
		at += int(lens[i])
		shared += common(data[before:], data[at:], int(lens[i]), int(n))
		before = at
	}
	return shared
}

// splitTexts divides the texts of the open page into s.shared, the lengths of their prefixes, s.rest, the lengths of what
// follows, and s.tails, which is what follows.
func (l *leaf) splitTexts(s *scratch) {
	n := len(l.lens)
	s.shared = int32Pool.grow(s.shared[:0], n)[:n]
	s.rest = int32Pool.grow(s.rest[:0], n)[:n]
	s.tails = bytePool.grow(s.tails[:0], len(l.data)+slack)
	tails := s.tails[:len(l.data)+slack]
	data := l.data[:len(l.data)+slack]
	before, at, end := 0, 0, 0
	length := 0 // of the text before
	for i, k := range l.lens {
		size := int(k)
		same := common(data[before:], data[at:], length, size)
		rest := size - same
		s.shared[i], s.rest[i] = int32(same), int32(rest)
		if rest <= slack { // 32 bytes, however many count: the next text overwrites the others
			*(*block)(tails[end:]) = *(*block)(data[at+same:])
		} else {
			copy(tails[end:], data[at+same:at+size])
		}
		end += rest
		before, length = at, size
		at += size
	}
	s.tails = tails[:end]
}
