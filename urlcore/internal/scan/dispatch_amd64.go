//go:build !purego

package scan

import (
	"math/bits"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// best returns the best variant for this CPU: the bits are exactly those of the instructions in use.
func best() Variant {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasBMI1 || !x.HasBMI2 || !x.HasPOPCNT || !hasLZCNT():
		return Generic
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VBMI && x.HasAVX512VBMI2:
		return AVX512
	default:
		return AVX2
	}
}

func classify(dst []byte, stride int, text []byte, carry uint64) uint64 {
	_ = dst[3*stride+len(text)/8-1] // the kernels check nothing
	p, t, n := unsafe.SliceData(dst), unsafe.SliceData(text), len(text)/block
	switch current {
	case AVX512:
		return classify512(p, stride, t, n, carry)
	case AVX2:
		return classify256(p, stride, t, n, carry)
	default:
		return classifyGeneric(dst, stride, text, carry)
	}
}

func classifyQuery(dst []byte, stride int, text []byte) int {
	_ = dst[2*stride+len(text)/8-1]
	p, t, n := unsafe.SliceData(dst), unsafe.SliceData(text), len(text)/block
	switch current {
	case AVX512:
		return classifyQuery512(p, stride, t, n)
	case AVX2:
		return classifyQuery256(p, stride, t, n)
	default:
		return classifyQueryGeneric(dst, stride, text)
	}
}

// pairsArgs are the fields that splitPairsBMI reads and writes, in the order that its generator knows.
type pairsArgs struct {
	ends               *int32
	rows, start        int
	amp, equal, escape *byte
	pairs              *Pair
	counts, escaped    *int32

	pairsN, escapedN int
}

func splitPairs(q *Queries) {
	if current == Generic {
		splitPairsGeneric(q)
		return
	}
	a := pairsArgs{
		ends: unsafe.SliceData(q.Ends), rows: len(q.Ends), start: q.Start,
		amp: unsafe.SliceData(q.amp), equal: unsafe.SliceData(q.equal), escape: unsafe.SliceData(q.escape),
		pairs: unsafe.SliceData(q.Pairs), counts: unsafe.SliceData(q.Counts), escaped: unsafe.SliceData(q.Escaped),
	}
	// The bitmaps have to be equally far from each other, as layOut makes them.
	splitPairsBMI((*byte)(unsafe.Pointer(&a)))
	q.Pairs, q.Escaped = q.Pairs[:a.pairsN], q.Escaped[:a.escapedN]
}

func gather(dst []byte, offsets []int32, s Spans, n int, input, side []byte) []byte {
	if current == Generic {
		return gatherGeneric(dst, offsets, s, n, input, side)
	}
	out, off := unsafe.SliceData(dst), unsafe.SliceData(offsets)
	in, sd := unsafe.SliceData(input), unsafe.SliceData(side)
	start, distance := &s.Words[s.Start], 4*(s.End-s.Start)
	kernel := gather128
	switch s.Usual {
	case UpTo64:
		kernel = gather64
	case UpTo32:
		kernel = gather32
	case UpTo16:
		kernel = gather16
	case MostlyEmpty:
		kernel = gatherSparse
	}
	return dst[:kernel(out, len(dst), off, start, distance, 4*s.Stride, n, in, sd)]
}

func plane(dst []byte, flags []Flags, flag Flags) int {
	whole := len(flags) / 32
	if current == Generic || whole == 0 {
		return planeGeneric(dst, flags, flag)
	}
	top := 7 - bits.TrailingZeros8(uint8(flag))
	n := planeAVX2(unsafe.SliceData(dst), (*byte)(unsafe.SliceData(flags)), top, whole)
	return n + planeGeneric(dst[whole*4:], flags[whole*32:], flag)
}

// locateArgs are the fields that locateBMI reads and writes, in the order that its generator knows.
type locateArgs struct {
	text                *byte
	ends                *int32
	rows, start         int
	stop, dot           *byte
	parts               *Parts
	flags               *Flags
	declined, irregular *int32
	pairs, wild         *uint64
	withPath            int
	https, http         uint64
	mark                kernelCursor
	dirty               kernelCursor

	declinedN, irregularN int
	spill                 [3]int
}

// kernelCursor is a cursor of locateBMI.
type kernelCursor struct {
	bitmap *byte
	word   uint64
	at     *byte
}

func locate(r *Rows) {
	if current == Generic {
		locateGeneric(r)
		return
	}
	a := locateArgs{
		text: unsafe.SliceData(r.Text), ends: unsafe.SliceData(r.Ends), rows: len(r.Ends), start: r.Start,
		stop: unsafe.SliceData(r.Maps.Stop), dot: unsafe.SliceData(r.Maps.Dot),
		parts: unsafe.SliceData(r.Parts), flags: unsafe.SliceData(r.Flags),
		declined: unsafe.SliceData(r.Declined), irregular: unsafe.SliceData(r.Irregular),
		https: httpsWord, http: httpWord,
		mark: kernelCursor{bitmap: unsafe.SliceData(r.Maps.Mark)}, dirty: kernelCursor{bitmap: unsafe.SliceData(r.Maps.Dirty)},
	}
	if r.WithPath {
		a.withPath = 1
	}
	if r.Suffixes != nil {
		a.pairs, a.wild = &r.Suffixes.pairs[0], &r.Suffixes.wild[0]
	}
	locateBMI((*byte)(unsafe.Pointer(&a)))
	r.Declined, r.Irregular = r.Declined[:a.declinedN], r.Irregular[:a.irregularN]
}

func decode(dst []byte, q *Queries, start, end int) ([]byte, bool) {
	if current != AVX512 {
		return decodeGeneric(dst, q, start, end)
	}
	n, high := decode512(&dst[:cap(dst)][len(dst)], &q.Text[start], end-start)
	return dst[:len(dst)+n], high != 0
}
