//go:build !purego

package scan

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// best returns the best variant for this CPU: the bits are exactly those of the instructions in use.
func best() Variant {
	x := &cpu.X86
	switch {
	case x.HasAVX2 && x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VBMI:
		return AVX512
	case x.HasAVX2:
		return AVX2
	}
	return Generic
}

func classify(dst []byte, stride int, text []byte, params bool, carry uint64) uint64 {
	last := 3
	if params {
		last = numMaps - 1
	}
	_ = dst[last*stride+len(text)/8-1] // the kernels check nothing
	p, t := unsafe.SliceData(dst), unsafe.SliceData(text)
	switch current {
	case AVX512:
		if params {
			return classifyParams512(p, stride, t, len(text)/block, carry)
		}
		return classify512(p, stride, t, len(text)/block, carry)
	case AVX2:
		if params {
			return classifyParams256(p, stride, t, len(text)/block, carry)
		}
		return classify256(p, stride, t, len(text)/block, carry)
	default:
		return classifyGeneric(dst, stride, text, params, carry)
	}
}

func gather(dst []byte, offsets []int32, s Spans, n int, input, side []byte) []byte {
	if current == Generic {
		return gatherGeneric(dst, offsets, s, n, input, side)
	}
	out, off := unsafe.SliceData(dst), unsafe.SliceData(offsets)
	in, sd := unsafe.SliceData(input), unsafe.SliceData(side)
	start, distance := &s.Words[s.Start], 4*(s.End-s.Start)
	var to int
	if current == AVX512 {
		to = gather512(out, len(dst), off, start, distance, 4*s.Stride, n, in, sd)
	} else {
		to = gather256(out, len(dst), off, start, distance, 4*s.Stride, n, in, sd)
	}
	return dst[:to]
}
