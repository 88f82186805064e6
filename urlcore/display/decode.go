package display

import (
	"unicode"
	"unicode/utf8"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// maxMarks is how many marks may follow a letter. More, and they reach into the lines above and below.
const maxMarks = 4

// AppendDecoded appends src, a path, query or fragment or several of them, to dst with its percent triplets
// decoded where that helps to read it and does no harm. Triplets stay as they are
//
//   - when the bytes are not UTF-8,
//   - for ASCII characters other than letters, digits and - . _ ~, since as delimiters they would change the
//     URL's structure,
//   - for characters that are not seen, such as spaces, joiners and controls, those of the direction among them,
//     for those that are private or not assigned, and for combining marks without a letter before them,
//   - for characters that pretend to be something else: locks and other signs of safety, lookalikes of
//     delimiters, the ellipsis.
//
// So the result still parses to an equivalent URL. It is dst's memory and so the caller's.
//
// https://url.spec.whatwg.org/#url-rendering-i18n
func AppendDecoded(dst, src []byte) []byte {
	stands := false // whether a combining mark would stand on a letter that is shown
	marks := 0
	for i := 0; i < len(src); {
		c, n := triplets(src[i:])
		if n == 0 {
			c, n = rune(src[i]), 1
		}
		isMark := n > 1 && unicode.IsMark(c)
		marks++
		if !isMark {
			marks = 0
		}
		if n > 1 && isShown(c) && (!isMark || stands && marks <= maxMarks) {
			dst = utf8.AppendRune(dst, c)
			stands = isMark || unicode.In(c, unicode.L, unicode.N)
		} else {
			dst = append(dst, src[i:i+n]...)
			stands = n == 1 && unicode.In(c, unicode.L, unicode.N)
		}
		i += n
	}
	return dst
}

// triplets returns the character that the triplets at the start of src stand for, and their length in bytes:
// 0 if there are none. If they stand for no character it returns U+FFFD and the length of the first.
func triplets(src []byte) (rune, int) {
	var buf [utf8.UTFMax]byte
	n := 0
	for n < len(buf) && len(src) >= 3*(n+1) && src[3*n] == '%' {
		high, ok1 := percent.Unhex(src[3*n+1])
		low, ok2 := percent.Unhex(src[3*n+2])
		if !ok1 || !ok2 {
			break
		}
		buf[n] = high<<4 | low
		n++
	}
	if n == 0 {
		return 0, 0
	}
	c, size := utf8.DecodeRune(buf[:n])
	return c, 3 * size
}
