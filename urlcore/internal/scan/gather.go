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

// gatherGeneric is the kernel of this name in Go: pieces of up to the usual length take no branch that depends on theirs.
// As the kernels it checks no bounds: these checks were a third of its time.
func gatherGeneric(dst []byte, offsets []int32, spans Spans, n int, input, side []byte) []byte {
	in, aside, out := unsafe.Pointer(unsafe.SliceData(input)), unsafe.Pointer(unsafe.SliceData(side)), unsafe.Pointer(unsafe.SliceData(dst))
	to := len(dst)
	at := unsafe.Pointer(&spans.Words[spans.Start])
	distance, stride := 4*(spans.End-spans.Start), 4*spans.Stride
	usual := spans.Usual
	for i := range offsets[:n] {
		start, end := *(*uint32)(at), *(*uint32)(unsafe.Add(at, distance))
		if i < n-1 { // no pointer leaves the words
			at = unsafe.Add(at, stride)
		}
		size := int(end - start)
		from := in
		if start&Side != 0 {
			from = aside
		}
		from, d := unsafe.Add(from, start&^Side), unsafe.Add(out, to)
		to += size
		offsets[i] = int32(to)
		switch usual {
		case UpTo16:
			copy16(d, from)
			if size <= 16 {
				continue
			}
		case UpTo32:
			copy32(d, from)
			if size <= 32 {
				continue
			}
		case MostlyEmpty:
			if size == 0 {
				continue
			}
		default:
			copy32(d, from)
			copy32(unsafe.Add(d, 32), unsafe.Add(from, 32))
			if size <= 64 {
				continue
			}
			if usual == UpTo128 {
				copy32(unsafe.Add(d, 64), unsafe.Add(from, 64))
				copy32(unsafe.Add(d, 96), unsafe.Add(from, 96))
				if size <= 128 {
					continue
				}
			}
		}
		copy(unsafe.Slice((*byte)(d), size), unsafe.Slice((*byte)(from), size))
	}
	return dst[:to]
}

// copy16 copies 16 bytes: as many as are copied without a call of memmove.
func copy16(dst, src unsafe.Pointer) { *(*[16]byte)(dst) = *(*[16]byte)(src) }

func copy32(dst, src unsafe.Pointer) {
	copy16(dst, src)
	copy16(unsafe.Add(dst, 16), unsafe.Add(src, 16))
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
