package scan

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Span is a piece of text: bytes Start to End of the input or, when both have the bit [Side] set, of the side
// buffer.
type Span struct {
	Start, End uint32
}

// Side is the bit that is set in both ends of a [Span] of the side buffer.
const Side = 1 << 31

// Len returns the length of the piece in bytes.
func (s Span) Len() int { return int(s.End - s.Start) }

// Slack is how many bytes behind a piece, or behind the end of the destination, the kernels may read or
// overwrite: as much as is copied at once.
const Slack = 128

// Spans is a table of spans, or of structs that contain one: span i begins with the uint32 at Start+i*Stride and ends
// with that at End+i*Stride, counted in words.
type Spans struct {
	Words              []uint32
	Start, End, Stride int
	Usual              Usual
}

// Usual is the length that most pieces are within. It matters for speed alone.
type Usual uint8

// Usual lengths.
const (
	UpTo128 Usual = iota
	UpTo64
	UpTo32
	UpTo16
	MostlyEmpty
)

// UsualFor returns what is best for pieces of a mean length.
func UsualFor(mean int) Usual {
	switch {
	case mean <= 6:
		return UpTo16
	case mean <= 18:
		return UpTo32
	case mean <= 40:
		return UpTo64
	}
	return UpTo128
}

// Gather appends the first n pieces of spans one after the other to dst and writes the length of dst after each into
// offsets[:n]. It returns the extended dst.
//
// dst must have room for all of the pieces and Slack bytes more. The pieces must be in bounds, and Slack bytes
// behind each of them must be readable: in the capacity of input or side, whichever it is in.
func Gather(dst []byte, offsets []int32, spans Spans, n int, input, side []byte) []byte {
	if n == 0 {
		return dst
	}
	_ = offsets[n-1]
	last := (n-1)*spans.Stride + max(spans.Start, spans.End)
	_ = spans.Words[last]
	return gather(dst, offsets, spans, n, input, side)
}

// GatherSafe is [Gather] for pieces behind which nothing may be read.
func GatherSafe(dst []byte, offsets []int32, spans Spans, n int, input, side []byte) []byte {
	at := 0
	for i := range n {
		start, end := spans.Words[at+spans.Start], spans.Words[at+spans.End]
		at += spans.Stride
		from := input
		if start&Side != 0 {
			from = side
		}
		dst = append(dst, from[start&^Side:end&^Side]...)
		offsets[i] = int32(len(dst))
	}
	return dst
}

// gatherGeneric is the kernel of this name in Go: pieces of up to the usual length go word by word, whatever theirs.
func gatherGeneric(dst []byte, offsets []int32, spans Spans, n int, input, side []byte) []byte {
	input, side = input[:cap(input)], side[:cap(side)]
	out, to := dst[:cap(dst)], len(dst)
	usual := [...]int{UpTo128: 64, UpTo64: 64, UpTo32: 32, UpTo16: 16, MostlyEmpty: 0}[spans.Usual]
	at := 0
	for i := range offsets[:n] {
		start, end := spans.Words[at+spans.Start], spans.Words[at+spans.End]
		at += spans.Stride
		size := int(end - start)
		from := input
		if start&Side != 0 {
			from = side
		}
		src, d := from[start&^Side:], out[to:]
		switch {
		case size > usual:
			copy(d, src[:size])
		case usual == 16:
			copy16(d, src)
		case usual >= 32:
			copy16(d, src)
			copy16(d[16:], src[16:])
			if usual == 64 {
				copy16(d[32:], src[32:])
				copy16(d[48:], src[48:])
			}
		}
		to += size
		offsets[i] = int32(to)
	}
	return dst[:to]
}

// copy16 copies 16 bytes.
func copy16(dst, src []byte) {
	le := binary.LittleEndian
	_, _ = src[15], dst[15]
	le.PutUint64(dst, le.Uint64(src))
	le.PutUint64(dst[8:], le.Uint64(src[8:]))
}

// Plane makes a bitmap of the rows that have a flag, in dst, which has room for it, and returns how many there are.
// Bits behind the last row are zero.
func Plane(dst []byte, flags []Flags, flag Flags) int {
	return plane(dst[:(len(flags)+7)/8], flags, flag)
}

// planeGeneric is the reference of the kernel of this name. A multiplication brings the lowest bits of eight bytes
// together in the highest one.
func planeGeneric(dst []byte, flags []Flags, flag Flags) int {
	const low, collect = 0x0101010101010101, 0x0102040810204080
	shift := uint(bits.TrailingZeros8(uint8(flag))) & 7
	n, i := 0, 0
	text := unsafe.Slice((*byte)(unsafe.SliceData(flags)), len(flags))
	for ; i+8 <= len(text); i += 8 {
		eight := binary.LittleEndian.Uint64(text[i:]) >> shift & low * collect >> 56
		dst[i/8] = byte(eight)
		n += bits.OnesCount8(byte(eight))
	}
	if i < len(text) {
		dst[i/8] = 0
		for ; i < len(text); i++ {
			bit := text[i] >> shift & 1
			dst[i/8] |= bit << (i % 8)
			n += int(bit)
		}
	}
	return n
}
