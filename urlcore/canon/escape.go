package canon

import "github.com/urlmill/urlmill/urlcore/percent"

const upperHex = "0123456789ABCDEF"

// escapeAt returns the byte that the escape at s[i] stands for. s[i] is a percent sign.
func escapeAt(s []byte, i int) (byte, bool) {
	if i+2 >= len(s) {
		return 0, false
	}
	high, ok := percent.Unhex(s[i+1])
	low, valid := percent.Unhex(s[i+2])
	return high<<4 | low, ok && valid
}

// isUnreserved tells the characters that mean the same escaped or not.
//
// Source: RFC 3986, section 2.3
func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// appendEscapes appends s with its escapes in upper case, those of unreserved characters decoded. A percent sign that
// begins no escape is escaped itself: else what is decoded behind it could become one.
func appendEscapes(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			dst = append(dst, s[i])
			continue
		}
		c, ok := escapeAt(s, i)
		switch {
		case !ok:
			dst = append(dst, "%25"...)
			continue
		case isUnreserved(c):
			dst = append(dst, c)
		default:
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
		i += 2
	}
	return dst
}

// appendLower appends s with its ASCII letters in lower case.
func appendLower(dst, s []byte) []byte {
	for _, c := range s {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
