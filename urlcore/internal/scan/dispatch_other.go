//go:build !amd64 || purego

package scan

func best() Variant { return Generic }

func classify(dst []byte, stride int, text []byte, params bool, carry uint64) uint64 {
	return classifyGeneric(dst, stride, text, params, carry)
}

func gather(dst []byte, offsets []int32, s Spans, n int, input, side []byte) []byte {
	return gatherGeneric(dst, offsets, s, n, input, side)
}
