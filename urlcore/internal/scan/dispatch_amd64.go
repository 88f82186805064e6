//go:build !purego

package scan

import (
	"encoding/binary"
	"math/bits"
	"slices"
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

// wordsArgs are the fields that the kernels of splitWords read, in the order that their generator knows.
type wordsArgs struct {
	amp, rows, escape, begin *byte
	before                   *[2]uint32
	starts, ends             *uint32
	n                        int
}

// pairsArgs are the fields that splitPairsBMI reads and writes, in the order that its generator knows.
type pairsArgs struct {
	starts, ends    *uint32
	n               int
	equal, escape   *byte
	before          *[2]uint32
	pairs           *Pair
	escaped         *int32
	begin           *byte
	rowEnds         *int32
	rows, start     int
	counts          *int32
	first, escapedN int
}

// splitPairs splits by bitmaps of where pairs begin and end, so that no branch depends on how many a row has.
func splitPairs(q *Queries) {
	if current == Generic {
		splitPairsGeneric(q)
		return
	}
	words := len(q.Text)/64 + 1
	binary.LittleEndian.PutUint64(q.amp[(words-1)*8:], binary.LittleEndian.Uint64(q.amp[(words-1)*8:])&(1<<(len(q.Text)%64)-1))
	clear(q.rowEnds[:words*8])
	splitRowsBMI(unsafe.SliceData(q.rowEnds), unsafe.SliceData(q.Ends), len(q.Ends), q.Start)
	const slack = 32
	room := cap(q.Pairs) + slack
	q.starts, q.ends = slices.Grow(q.starts[:0], room), slices.Grow(q.ends[:0], room)
	q.before = slices.Grow(q.before[:0], words+1)
	w := wordsArgs{
		amp: unsafe.SliceData(q.amp), rows: unsafe.SliceData(q.rowEnds), escape: unsafe.SliceData(q.escape),
		begin: unsafe.SliceData(q.begin), before: unsafe.SliceData(q.before), starts: unsafe.SliceData(q.starts), ends: unsafe.SliceData(q.ends),
		n: words,
	}
	// Not by a variable of the function, which would put w on the heap.
	n := -1
	if current == AVX512 {
		n += splitWords512((*byte)(unsafe.Pointer(&w)))
	} else {
		n += splitWordsBMI((*byte)(unsafe.Pointer(&w)))
	}
	if n == 0 {
		for i := range q.Counts {
			q.Counts[i] = q.Before
		}
		return
	}
	a := pairsArgs{
		starts: w.starts, ends: w.ends, n: n, equal: unsafe.SliceData(q.equal), escape: w.escape, before: w.before,
		pairs: unsafe.SliceData(q.Pairs), escaped: unsafe.SliceData(q.Escaped), begin: w.begin,
		rowEnds: unsafe.SliceData(q.Ends), rows: len(q.Ends), start: q.Start, counts: unsafe.SliceData(q.Counts), first: int(q.Before),
	}
	splitPairsBMI((*byte)(unsafe.Pointer(&a)))
	q.Pairs, q.Escaped = q.Pairs[:n], q.Escaped[:a.escapedN]
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

// rowsArgs are the fields that the kernels of gatherRows read and write, in the order that their generator knows.
type rowsArgs struct {
	parts       *Parts
	rows        int
	input, side *byte
	wanted, at  [8]uint32
	dst         [RowColumns]*byte
	offsets     [RowColumns]*int32
	table       [9][8]uint32
}

func gatherRows(columns *[RowColumns]Column, wanted int, rows []Parts, paths Usual, input, side []byte) {
	if current == Generic {
		gatherRowsGeneric(columns, wanted, rows, input, side)
		return
	}
	a := rowsArgs{parts: &rows[0], rows: len(rows), input: unsafe.SliceData(input), side: unsafe.SliceData(side)}
	for i := range columns {
		c := &columns[i]
		a.dst[i], a.offsets[i], a.at[i] = unsafe.SliceData(c.Data), unsafe.SliceData(c.Offsets), uint32(len(c.Data))
		if wanted>>i&1 != 0 {
			a.wanted[i] = 1<<32 - 1
		}
	}
	args := (*byte)(unsafe.Pointer(&a))
	switch paths {
	case UpTo16, UpTo32, MostlyEmpty:
		gatherRows32(args)
	case UpTo64:
		gatherRows64(args)
	default:
		gatherRows128(args)
	}
	for i := range columns {
		columns[i].Data = columns[i].Data[:a.at[i]]
	}
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
	hashes, pairs, wild *uint64
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
		r.hashes = slices.Grow(r.hashes[:0], len(r.Ends))
		a.hashes, a.pairs, a.wild = unsafe.SliceData(r.hashes), &r.Suffixes.pairs[0], &r.Suffixes.wild[0]
	}
	locateBMI((*byte)(unsafe.Pointer(&a)))
	if a.irregularN > 0 {
		a.irregularN = filterSuffixesBMI(a.irregular, a.hashes, a.irregularN, a.pairs)
	}
	r.Declined, r.Irregular = r.Declined[:a.declinedN], r.Irregular[:a.irregularN]
}

// decodeArgs are the fields that decodePairs512 reads and writes, in the order that its generator knows.
type decodeArgs struct {
	text, escape  *byte
	pairs         *Pair
	escaped       *int32
	cursor, limit int
	side          *byte
	at            int
	span          *Span
	start         int
}

func decodePairs(q *Queries, side []byte, cursor int) ([]byte, int, *Span) {
	if current != AVX512 {
		return decodePairsGeneric(q, side, cursor)
	}
	a := decodeArgs{
		text: unsafe.SliceData(q.Text), escape: unsafe.SliceData(q.escape), pairs: unsafe.SliceData(q.Pairs), escaped: unsafe.SliceData(q.Escaped),
		cursor: cursor, limit: 2 * len(q.Escaped), side: unsafe.SliceData(side), at: len(side),
	}
	decodePairs512((*byte)(unsafe.Pointer(&a)))
	return side[:a.at], a.cursor, a.span
}
