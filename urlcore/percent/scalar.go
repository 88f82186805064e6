package percent

import "unicode/utf8"

// appendScalars appends text to dst, with U+FFFD in place of each maximal ill-formed part of it, and returns the
// extended buffer. Package charset has the operation for everybody; it imports this package.
func appendScalars(dst []byte, text string) []byte {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			n = illFormedPart(text[i:])
			dst = append(dst, "\uFFFD"...)
		} else {
			dst = append(dst, text[i:i+n]...)
		}
		i += n
	}
	return dst
}

// scalars is appendScalars for strings.
func scalars(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string(appendScalars(nil, text))
}

// illFormedPart returns the length of the ill-formed part that text begins with: the longest beginning
// of some well-formed character, or one byte.
func illFormedPart(text string) int {
	for n := min(3, len(text)); n > 1; n-- {
		// A beginning is one that can be completed. Only the range of the second byte depends on the first.
		if _, size := utf8.DecodeRuneInString(text[:n] + "\x80\x80"); size > n {
			return n
		}
	}
	return 1
}
