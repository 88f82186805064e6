package canon

const upperHex = "0123456789ABCDEF"

// hexValue returns the value of a hexadecimal digit, or 255.
func hexValue(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	default:
		return 255
	}
}

// escapeAt returns the byte that the escape at s[i] stands for. s[i] is a percent sign.
func escapeAt(s []byte, i int) (byte, bool) {
	if i+2 >= len(s) {
		return 0, false
	}
	high, low := hexValue(s[i+1]), hexValue(s[i+2])
	return high<<4 | low, high|low < 16
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
