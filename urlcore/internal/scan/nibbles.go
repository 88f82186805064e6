package scan

// Nibbles makes two tables of 16 bytes such that low[c&15]&high[c>>4] is not zero exactly for the bytes that in holds
// for. Rows of the table of 16 by 16 bytes that look the same share a bit; it panics if there are more than eight kinds.
// The kernels for AVX2 and NEON look classes up in such tables.
func Nibbles(in func(c byte) bool) (low, high [16]byte) {
	kinds := map[uint16]byte{}
	for h := range 16 {
		var row uint16
		for l := range 16 {
			if in(byte(h<<4 | l)) {
				row |= 1 << l
			}
		}
		if row == 0 {
			continue
		}
		bit, ok := kinds[row]
		if !ok {
			if len(kinds) == 8 {
				panic("more than eight kinds of rows")
			}
			bit = 1 << len(kinds)
			kinds[row] = bit
			for l := range 16 {
				if row>>l&1 != 0 {
					low[l] |= bit
				}
			}
		}
		high[h] = bit
	}
	return low, high
}
