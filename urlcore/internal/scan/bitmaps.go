package scan

import (
	"encoding/binary"
	"math/bits"
)

// Bitmaps tell where in a text bytes of a class stand: bit i%8 of byte i/8 stands for byte i of the text.
//
// Behind the bits of the text there are 16 bytes and more with all bits set, so that a search ends there, and in
// front of them [Lead] bytes that may be read, whose bits have no meaning.
type Bitmaps struct {
	Stop  []byte // of class [Stop]
	Mark  []byte // of class [Mark]
	Dirty []byte // of class [Dirty], and dots, percent and plus signs behind a slash: they may begin a dot segment
	Dot   []byte // of class [Dot], after Lead bytes

	memory []byte
	tailBlock
}

// Lead is how many bytes there are in front of Bitmaps.Dot's first.
const Lead = 8

const (
	block     = 64 // bytes that a step of a kernel reads, and bits that it writes into each bitmap
	blockBits = block / 8
	trail     = 16 // bytes of ones behind a bitmap
)

// Classify makes the bitmaps of text. It reuses b's memory.
func (b *Bitmaps) Classify(text []byte) {
	stride := layOut(&b.memory, len(text), &b.Stop, &b.Mark, &b.Dirty, &b.Dot)
	b.Dot = b.memory[3*stride : 4*stride]
	whole, rest := b.blocks(text)
	carry := uint64(0)
	if len(whole) > 0 {
		carry = classify(b.memory[Lead:], stride, whole, 0)
	}
	if len(rest) > 0 {
		classify(b.memory[Lead+len(whole)/8:], stride, rest, carry)
	}
}

// layOut makes room in memory for bitmaps of a text of n bytes, puts ones behind them, and returns the distance from
// one to the next.
func layOut(memory *[]byte, n int, maps ...*[]byte) (stride int) {
	stride = (n+block-1)/block*blockBits + trail + Lead
	size := len(maps) * stride
	if cap(*memory) < size {
		*memory = make([]byte, size*5/4)
	}
	*memory = (*memory)[:size]
	for i, m := range maps {
		*m = (*memory)[i*stride+Lead : (i+1)*stride : (i+1)*stride]
		ones := (*m)[stride-Lead-trail:]
		binary.LittleEndian.PutUint64(ones, ^uint64(0))
		binary.LittleEndian.PutUint64(ones[8:], ^uint64(0))
	}
	return stride
}

// tailBlock is the last block of a text that is no whole number of them.
type tailBlock struct{ bytes [block]byte }

// blocks returns the whole blocks of text and one with the rest, filled up with zeros. Each may be empty.
func (b *tailBlock) blocks(text []byte) (whole, rest []byte) {
	n := len(text) / block * block
	if n == len(text) {
		return text, nil
	}
	clear(b.bytes[copy(b.bytes[:], text[n:]):])
	return text[:n], b.bytes[:]
}

// classifyGeneric is the reference of the kernels of this name. carry is 1 when a slash stands before the text, and so
// is the result for the text behind it.
func classifyGeneric(dst []byte, stride int, text []byte, carry uint64) uint64 {
	for at := 0; at < len(text); at += block {
		var m [8]uint64
		for i, c := range text[at : at+block] {
			for class := Classes[c]; class != 0; class &= class - 1 {
				m[bits.TrailingZeros8(uint8(class))] |= 1 << i
			}
		}
		const stop, mark, dirty, slash, dot, escape = 0, 1, 2, 3, 4, 5
		m[dirty] |= (m[slash]<<1 | carry) & (m[dot] | m[escape])
		carry = m[slash] >> 63
		for i, word := range [...]uint64{m[stop], m[mark], m[dirty], m[dot]} {
			binary.LittleEndian.PutUint64(dst[i*stride+at/8:], word)
		}
	}
	return carry
}

// Window returns the bits from position i on, lowest first: at least 57 of them, then zeros.
func Window(bitmap []byte, i int) uint64 {
	return binary.LittleEndian.Uint64(bitmap[uint(i)>>3:]) >> (uint(i) & 7)
}

// Next returns the position of the first bit that is set in bitmap from position i on and before limit, and
// limit if there is none.
func Next(bitmap []byte, i, limit int) int {
	for i < limit {
		if w := Window(bitmap, i); w != 0 {
			return min(i+bits.TrailingZeros64(w), limit)
		}
		i += 64 - i&7
	}
	return limit
}
