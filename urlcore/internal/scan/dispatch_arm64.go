//go:build !purego

package scan

import "unsafe"

// best returns NEON: Go runs on no arm64 CPU without it, and the kernels use nothing newer than ARMv8.0.
func best() Variant { return NEON }

// classTables are what classifyNEON looks bytes up in: tables of [Nibbles], and tables with the one byte of a class for
// each value of its lower half.
type classTables struct {
	cleanLow, cleanHigh, dirtyLow, dirtyHigh [16]byte
	mark, dotOrEscape                        [16]byte
}

var neonTables = func() *classTables {
	t := new(classTables)
	t.cleanLow, t.cleanHigh = Nibbles(func(c byte) bool { return ClassOf(c)&Stop == 0 })
	t.dirtyLow, t.dirtyHigh = Nibbles(func(c byte) bool { return ClassOf(c)&Dirty != 0 })
	t.mark, t.dotOrEscape = byLowerHalf(Mark), byLowerHalf(Dot|Escape)
	return t
}()

// byLowerHalf returns for every value of a byte's lower half the only byte that is of one of the classes, or one that
// has another lower half. It panics if there are two.
func byLowerHalf(classes Class) (t [16]byte) {
	for low := range t {
		t[low] = byte(low) ^ 1
		for c := low; c < 256; c += 16 {
			if ClassOf(byte(c))&classes != 0 {
				if t[low]&15 == byte(low) {
					panic("two bytes with the same lower half")
				}
				t[low] = byte(c)
			}
		}
	}
	return t
}

func classify(dst []byte, stride int, text []byte, carry uint64) uint64 {
	if current == Generic {
		return classifyGeneric(dst, stride, text, carry)
	}
	_ = dst[3*stride+len(text)/8-1] // the kernels check nothing
	return classifyNEON(unsafe.SliceData(dst), stride, unsafe.SliceData(text), len(text)/block, carry, neonTables)
}

func classifyQuery(dst []byte, stride int, text []byte) int {
	if current == Generic {
		return classifyQueryGeneric(dst, stride, text)
	}
	_ = dst[2*stride+len(text)/8-1]
	return classifyQueryNEON(unsafe.SliceData(dst), stride, unsafe.SliceData(text), len(text)/block)
}

func gather(dst []byte, offsets []int32, s Spans, n int, input, side []byte) []byte {
	if current == Generic {
		return gatherGeneric(dst, offsets, s, n, input, side)
	}
	kernel := gatherNEON128
	switch s.Usual {
	case UpTo64:
		kernel = gatherNEON64
	case UpTo32:
		kernel = gatherNEON32
	case UpTo16:
		kernel = gatherNEON16
	case MostlyEmpty:
		kernel = gatherNEONSparse
	}
	start, distance := &s.Words[s.Start], 4*(s.End-s.Start)
	return dst[:kernel(unsafe.SliceData(dst), len(dst), unsafe.SliceData(offsets), start, distance, 4*s.Stride, n,
		unsafe.SliceData(input), unsafe.SliceData(side))]
}

func gatherRows(columns *[RowColumns]Column, wanted int, rows []Parts, _ Usual, input, side []byte) {
	gatherRowsGeneric(columns, wanted, rows, input, side)
}

func plane(dst []byte, flags []Flags, flag Flags) int {
	whole := len(flags) / block
	if current == Generic || whole == 0 {
		return planeGeneric(dst, flags, flag)
	}
	n := planeNEON(unsafe.SliceData(dst), (*byte)(unsafe.SliceData(flags)), uint64(flag), whole)
	return n + planeGeneric(dst[whole*blockBits:], flags[whole*block:], flag)
}

func locate(r *Rows) {
	if current == Generic {
		locateGeneric(r)
		return
	}
	locateNEON(r, httpsWord, httpWord)
}

func splitPairs(q *Queries) {
	if current == Generic || len(q.Ends) == 0 {
		splitPairsGeneric(q)
		return
	}
	splitPairsNEON(q)
}

func decodePairs(q *Queries, side []byte, cursor int) ([]byte, int, *Span) {
	return decodePairsGeneric(q, side, cursor)
}
