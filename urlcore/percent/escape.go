package percent

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Escape is ECMAScript's escape for a Go string: all UTF-16 code units but letters, digits and "@*_+-./" are written as
// %XX below U+0100 and else as %uXXXX. Ill-formed parts of s count as U+FFFD.
//
// https://tc39.es/ecma262/#sec-escape-string
func Escape(s string) string {
	return string(utf16.Decode(AppendEscape16(nil, utf16.Encode([]rune(scalars(s))))))
}

// Unescape is ECMAScript's unescape for a Go string: %uXXXX, with a lower-case u, is the code unit of that number and
// %XX the one of U+00XX; anything else stays. Ill-formed parts of s count as U+FFFD, and a lone surrogate in
// the result becomes U+FFFD.
//
// https://tc39.es/ecma262/#sec-unescape-string
func Unescape(s string) string {
	return string(utf16.Decode(AppendUnescape16(nil, utf16.Encode([]rune(scalars(s))))))
}

// AppendEscape16 is [Escape] on UTF-16 code units. It appends to dst and returns the extended buffer.
func AppendEscape16(dst, src []uint16) []uint16 {
	for _, u := range src {
		switch {
		case u < utf8.RuneSelf && !EscapeSet.Has(byte(u)):
			dst = append(dst, u)
		case u < 0x100:
			dst = append(dst, '%')
			dst = appendHex(dst, u, 2)
		default:
			dst = append(dst, '%', 'u')
			dst = appendHex(dst, u, 4)
		}
	}
	return dst
}

// appendHex appends the lowest digits of u, in upper-case hexadecimal.
func appendHex(dst []uint16, u uint16, digits int) []uint16 {
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		dst = append(dst, uint16(upperHex[u>>shift&15]))
	}
	return dst
}

// AppendUnescape16 is [Unescape] on UTF-16 code units. It appends to dst and returns the extended buffer, which
// may hold lone surrogates.
func AppendUnescape16(dst, src []uint16) []uint16 {
	for i := 0; i < len(src); {
		if u, ok := unicodeEscape(src[i:]); ok {
			dst = append(dst, u)
			i += 6
			continue
		}
		if b, ok := triplet(src[i:]); ok {
			dst = append(dst, uint16(b))
			i += 3
			continue
		}
		dst = append(dst, src[i])
		i++
	}
	return dst
}

// unicodeEscape returns the code unit of the %uXXXX at the beginning of src.
func unicodeEscape[U unit](src []U) (u uint16, ok bool) {
	if len(src) < 6 || src[0] != '%' || src[1] != 'u' {
		return 0, false
	}
	for _, digit := range src[2:6] {
		value, ok := hexUnit(digit)
		if !ok {
			return 0, false
		}
		u = u<<4 | uint16(value)
	}
	return u, true
}
