package codec

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// appendUnescaped appends the string whose JSON text, already checked, is src. An escaped surrogate without its
// other half becomes U+FFFD; bytes that are not UTF-8 stay as they are.
func appendUnescaped(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, '\\')
		if i < 0 {
			return append(dst, src...)
		}
		dst = append(dst, src[:i]...)
		c := src[i+1]
		src = src[i+2:]
		if c == 'u' {
			var r rune
			r, src = codePoint(src)
			dst = utf8.AppendRune(dst, r)
			continue
		}
		if at := strings.IndexByte("bfnrt", c); at >= 0 {
			c = "\b\f\n\r\t"[at]
		}
		dst = append(dst, c)
	}
}

// codePoint reads the digits of a \u escape, and the escape after it where the two are a surrogate pair.
func codePoint(src []byte) (rune, []byte) {
	r := hex4(src)
	src = src[4:]
	if !utf16.IsSurrogate(r) {
		return r, src
	}
	if len(src) >= 6 && src[0] == '\\' && src[1] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(src[2:])); pair != utf8.RuneError {
			return pair, src[6:]
		}
	}
	return utf8.RuneError, src
}

// hex4 reads four hexadecimal digits.
func hex4(s []byte) (r rune) {
	for _, c := range s[:4] {
		digit, _ := percent.Unhex(c)
		r = r<<4 | rune(digit)
	}
	return r
}
