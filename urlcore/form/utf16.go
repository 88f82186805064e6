package form

import "cmp"

// CompareUTF16 compares two strings of well-formed UTF-8 by their UTF-16 code units, and returns -1, 0 or +1. That is
// the order of code points, which is the order of bytes, but that the code points above U+FFFF, whose surrogates are
// below U+E000, go before those from U+E000 to U+FFFF.
func CompareUTF16(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	if i == n {
		return cmp.Compare(len(a), len(b))
	}
	x, y := a[i], b[i]
	// A byte from EE on is the first one of a character, EE and EF of U+E000 to U+FFFF, F0 and more of those above.
	if x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0) {
		return cmp.Compare(y, x)
	}
	return cmp.Compare(x, y)
}
