package compat

import (
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
)

func itoa(n int) string { return strconv.Itoa(n) }

// javaText returns s as Java decodes it from UTF-8: U+FFFD in place of every longest beginning of a character that does not
// come to its end. Surrogates count as characters there until they are complete, so that one is one U+FFFD, not three as in
// the Encoding Standard.
func javaText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			n = malformed(s[i:])
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// malformed returns how many bytes of s, which begins with none that is well-formed, Java replaces by one U+FFFD.
func malformed(s string) int {
	length, low, high := 1, byte(0x80), byte(0xbf) // of the character, and of its second byte
	if s[0] >= 0xc2 && s[0] <= 0xf4 {
		length = bits.LeadingZeros8(^s[0])
	}
	switch s[0] {
	case 0xe0:
		low = 0xa0
	case 0xf0:
		low = 0x90
	case 0xf4:
		high = 0x8f
	}
	n := 1
	for n < length && n < len(s) && s[n] >= low && s[n] <= high {
		low, high = 0x80, 0xbf
		n++
	}
	return n
}
