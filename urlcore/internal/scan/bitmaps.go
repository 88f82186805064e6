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
	Stop   []byte // of class [Stop]
	Mark   []byte // of class [Mark]
	Dirty  []byte // of class [Dirty], and dots, percent and plus signs behind a slash: they may begin a dot segment
	Dot    []byte // of class [Dot], after Lead bytes
	Amp    []byte // of class [Amp]; not filled without params
	Equal  []byte // of class [Equal]; not filled without params
	Escape []byte // of class [Escape]; not filled without params

	memory []byte
}

// Lead is how many bytes there are in front of Bitmaps.Dot's first.
const Lead = 8

const (
	block     = 64 // bytes that a step of a kernel reads, and bits that it writes into each bitmap
	blockBits = block / 8
	trail     = 16 // bytes of ones behind a bitmap
	numMaps   = 7
)

// Classify makes the bitmaps of text, those of Amp, Equal and Escape only if params is set. It reuses b's memory.
func (b *Bitmaps) Classify(text []byte, params bool) {
	stride := (len(text)+block-1)/block*blockBits + trail + Lead
	if cap(b.memory) < numMaps*stride {
		b.memory = make([]byte, numMaps*stride*5/4)
	}
	b.memory = b.memory[:numMaps*stride]
	maps := [numMaps]*[]byte{&b.Stop, &b.Mark, &b.Dirty, &b.Dot, &b.Amp, &b.Equal, &b.Escape}
	for i, m := range maps {
		*m = b.memory[i*stride+Lead : (i+1)*stride : (i+1)*stride]
	}
	b.Dot = b.memory[3*stride : 4*stride]

	whole := len(text) / block
	carry := uint64(0)
	if whole > 0 {
		carry = b.blocks(0, stride, text[:whole*block], params, carry)
	}
	if rest := text[whole*block:]; len(rest) > 0 {
		var padded [block]byte
		copy(padded[:], rest)
		b.blocks(whole*blockBits, stride, padded[:], params, carry)
	}
	for i := range numMaps {
		ones := b.memory[(i+1)*stride-trail : (i+1)*stride]
		binary.LittleEndian.PutUint64(ones, ^uint64(0))
		binary.LittleEndian.PutUint64(ones[8:], ^uint64(0))
	}
}

// blocks classifies text, which is a whole number of blocks, into the bitmaps from byte at on. carry is 1 when a
// slash stands before the text, and so is the result for the text behind it.
func (b *Bitmaps) blocks(at, stride int, text []byte, params bool, carry uint64) uint64 {
	return classify(b.memory[Lead+at:], stride, text, params, carry)
}

// classifyGeneric is the reference of the kernels of this name.
func classifyGeneric(dst []byte, stride int, text []byte, params bool, carry uint64) uint64 {
	for at := 0; at < len(text); at += block {
		var m [8]uint64
		for i, c := range text[at : at+block] {
			for class := Classes[c]; class != 0; class &= class - 1 {
				m[bits.TrailingZeros8(uint8(class))] |= 1 << i
			}
		}
		const stop, mark, dirty, slash, dot, amp, equal, escape = 0, 1, 2, 3, 4, 5, 6, 7
		m[dirty] |= (m[slash]<<1 | carry) & (m[dot] | m[escape])
		carry = m[slash] >> 63
		out := [numMaps]uint64{m[stop], m[mark], m[dirty], m[dot], m[amp], m[equal], m[escape]}
		n := numMaps
		if !params {
			n = 4
		}
		for i, word := range out[:n] {
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
