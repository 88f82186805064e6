package urlcore

import "unicode/utf8"

// checkUnits notes an invalid-URL-unit for each character of in[start:end] that is no URL code point, and
// for each percent sign that two hexadecimal digits do not follow.
//
// https://url.spec.whatwg.org/#url-code-points
func (p *Parser) checkUnits(start, end int) {
	for i := start; i < end; {
		size, ok := urlUnit(p.in[i:end])
		if !ok {
			p.report(CodeInvalidURLUnit, i)
		}
		i += size
	}
}

// urlUnit returns the size of the character or triplet at the start of s, and whether it is a URL unit.
//
// https://url.spec.whatwg.org/#url-units
func urlUnit(s []byte) (size int, ok bool) {
	c := s[0]
	switch {
	case c == '%':
		if len(s) >= 3 && class[s[1]]&class[s[2]]&isHexDigit != 0 {
			return 3, true
		}
		return 1, false
	case c < utf8.RuneSelf:
		return 1, class[c]&isURLUnit != 0
	}
	r, size := utf8.DecodeRune(s)
	// Surrogates cannot occur, and what is left out above U+009F are the noncharacters.
	nonCharacter := r&0xFFFE == 0xFFFE || 0xFDD0 <= r && r <= 0xFDEF
	return size, r >= 0xA0 && !nonCharacter && r <= 0x10FFFD
}
