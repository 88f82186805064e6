//go:build (!amd64 && !arm64) || purego

package scan

func best() Variant { return Generic }

func classify(dst []byte, stride int, text []byte, carry uint64) uint64 {
	return classifyGeneric(dst, stride, text, carry)
}

func classifyQuery(dst []byte, stride int, text []byte) int {
	return classifyQueryGeneric(dst, stride, text)
}

func gather(dst []byte, offsets []int32, s Spans, n int, input, side []byte) []byte {
	return gatherGeneric(dst, offsets, s, n, input, side)
}

func gatherRows(columns *[RowColumns]Column, wanted int, rows []Parts, _ Usual, input, side []byte) {
	gatherRowsGeneric(columns, wanted, rows, input, side)
}

func locate(r *Rows) { locateGeneric(r) }

func splitPairs(q *Queries) { splitPairsGeneric(q) }

func plane(dst []byte, flags []Flags, flag Flags) int { return planeGeneric(dst, flags, flag) }

func decodePairs(q *Queries, side []byte, cursor int) ([]byte, int, *Span) {
	return decodePairsGeneric(q, side, cursor)
}
