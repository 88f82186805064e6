//go:build !purego

package scan

// classifyNEON is classifyGeneric for blocks of 64 bytes from text on; map i of dst begins at i*stride. It reads 64 bytes a
// block and writes eight into every map, and checks no bounds. blocks is at least 1.
//
//go:noescape
func classifyNEON(dst *byte, stride int, text *byte, blocks int, carry uint64, t *classTables) uint64

// classifyQueryNEON is classifyQueryGeneric for blocks of 64 bytes from text on; map i of dst begins at i*stride. It reads
// 64 bytes a block and writes eight into every map, and checks no bounds. blocks is at least 1.
//
//go:noescape
func classifyQueryNEON(dst *byte, stride int, text *byte, blocks int) int

// planeNEON is planeGeneric for n times 64 flags, at least one time.
//
//go:noescape
func planeNEON(dst *byte, flags *byte, flag uint64, n int) int

// gatherNEON16 is gatherGeneric: the uint32 at spans+i*stride bytes is where piece i begins, and that distance bytes behind
// it where the piece ends; it goes to dst+at. It reads and writes up to 127 bytes too much, and checks no bounds. n is at
// least 1. It is meant for pieces of up to 16 bytes, as the others are for those of the length in their name.
//
//go:noescape
func gatherNEON16(dst *byte, at int, offsets *int32, spans *uint32, distance int, stride int, n int, input *byte, side *byte) int

//go:noescape
func gatherNEON32(dst *byte, at int, offsets *int32, spans *uint32, distance int, stride int, n int, input *byte, side *byte) int

//go:noescape
func gatherNEON64(dst *byte, at int, offsets *int32, spans *uint32, distance int, stride int, n int, input *byte, side *byte) int

//go:noescape
func gatherNEON128(dst *byte, at int, offsets *int32, spans *uint32, distance int, stride int, n int, input *byte, side *byte) int

// gatherNEONSparse passes over empty pieces.
//
//go:noescape
func gatherNEONSparse(dst *byte, at int, offsets *int32, spans *uint32, distance int, stride int, n int, input *byte, side *byte) int

// locateNEON is locateGeneric, with the schemes as numbers. It checks no bounds; there is at least one row, and room in
// Declined and Irregular.
//
//go:noescape
func locateNEON(r *Rows, https, http uint64)

// splitPairsNEON is splitPairsGeneric. It checks no bounds; there is at least one query, and room for one entry of Escaped
// more than there are pairs.
//
//go:noescape
func splitPairsNEON(q *Queries)
