package urlcore

import "github.com/urlmill/urlmill/urlcore/percent"

// Character classes of bytes, for loops that look for the next byte that needs attention. Bytes from 0x80
// on belong to non-ASCII characters; every percent-encode set holds them.
const (
	isSchemeByte      uint16 = 1 << iota // ASCII alphanumeric, + - .
	isEncodedC0                          // in the C0 control percent-encode set
	isEncodedFragment                    // in the fragment percent-encode set
	isEncodedQuery                       // in the query percent-encode set
	isEncodedSpecial                     // in the special-query percent-encode set
	isPathStop                           // in the path percent-encode set, or / or \
	isEncodedUserinfo                    // in the userinfo percent-encode set
	isForbiddenHost                      // forbidden host code point
	isCleanHostByte                      // a-z 0-9 - _ .
	isAuthorityStop                      // / ? # \ @
	isHostStop                           // / ? # \ : [ ]
	isURLUnit                            // ASCII URL code point
	isHexDigit                           // 0-9 A-F a-f
)

// class holds the classes of every byte. Each is computed from the standard's own definition.
var class = func() (t [256]uint16) {
	for i := range t {
		c := byte(i)
		for _, m := range [...]struct {
			bit uint16
			is  bool
		}{
			{isSchemeByte, isAlphanumeric(c) || c == '+' || c == '-' || c == '.'},
			{isEncodedC0, percent.C0Control.Has(c)},
			{isEncodedFragment, percent.Fragment.Has(c)},
			{isEncodedQuery, percent.Query.Has(c)},
			{isEncodedSpecial, percent.SpecialQuery.Has(c)},
			{isPathStop, percent.Path.Has(c) || c == '/' || c == '\\'},
			{isEncodedUserinfo, percent.Userinfo.Has(c)},
			{isForbiddenHost, isForbiddenHostByte(c)},
			{isCleanHostByte, isDigit(c) || 'a' <= c && c <= 'z' || isOneOf(c, "-_.")},
			{isAuthorityStop, isOneOf(c, "/?#\\@")},
			{isHostStop, isOneOf(c, "/?#\\:[]")},
			{isURLUnit, isAlphanumeric(c) || isOneOf(c, "!$&'()*+,-./:;=?@_~")},
			{isHexDigit, isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'},
		} {
			if m.is {
				t[i] |= m.bit
			}
		}
	}
	return t
}()

// domainByte maps each byte of an ASCII domain to its lower-case form. It is 0 for what needs a closer
// look: percent signs, non-ASCII bytes and forbidden domain code points.
//
// https://url.spec.whatwg.org/#forbidden-domain-code-point
var domainByte = func() (t [256]byte) {
	for i := range t {
		c := byte(i)
		if c < 0x80 && !isForbiddenDomainByte(c) {
			t[i] = toLower(c)
		}
	}
	return t
}()

// isForbiddenHostByte reports whether c is a forbidden host code point.
//
// https://url.spec.whatwg.org/#forbidden-host-code-point
func isForbiddenHostByte(c byte) bool {
	return isOneOf(c, "\x00\t\n\r #/:<>?@[\\]^|")
}

// isForbiddenDomainByte reports whether c is a forbidden domain code point.
//
// https://url.spec.whatwg.org/#forbidden-domain-code-point
func isForbiddenDomainByte(c byte) bool {
	return isForbiddenHostByte(c) || c < 0x20 || c == '%' || c == 0x7F
}

// isOneOf reports whether c is one of chars.
func isOneOf(c byte, chars string) bool {
	for i := range len(chars) {
		if chars[i] == c {
			return true
		}
	}
	return false
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isAlpha(c byte) bool { return c|0x20-'a' < 26 }

func isAlphanumeric(c byte) bool { return isDigit(c) || isAlpha(c) }

func toLower(c byte) byte {
	if c-'A' < 26 {
		return c | 0x20
	}
	return c
}

// countGrowing returns how many bytes of s may be percent-encoded somewhere in a URL.
func countGrowing(s []byte) int {
	n := 0
	for _, c := range s {
		n += int(class[c] / isEncodedUserinfo & 1)
	}
	return n
}
