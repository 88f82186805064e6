package urlcore

import (
	"encoding/binary"
	"unicode/utf8"
)

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// isPlain reports whether s holds neither bytes below 0x20 nor bytes from 0x80 on. It may be wrong only in
// saying false. Eight bytes are looked at together: a byte less than 0x20 borrows in the subtraction.
func isPlain(s []byte) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := binary.LittleEndian.Uint64(s[i:])
		if (w|(w-0x20*lowBits))&highBits != 0 {
			return false
		}
	}
	for ; i < len(s); i++ {
		if s[i]-0x20 >= 0x60 {
			return false
		}
	}
	return true
}

// utf8Valid reports whether s is well-formed UTF-8.
func utf8Valid(s []byte) bool { return utf8.Valid(s) }

// What happens to a unit of the input when it is cleaned.
type unitKind uint8

const (
	unitKeep    unitKind = iota // a character that stays
	unitDrop                    // a tab or newline
	unitReplace                 // an ill-formed part, which becomes U+FFFD
)

// replacement is U+FFFD in UTF-8.
const replacement = "\uFFFD"

// unit returns the size and kind of the character, or maximal ill-formed part, at the start of s.
func unit(s []byte) (size int, kind unitKind) {
	c := s[0]
	if c < utf8.RuneSelf {
		if c == '\t' || c == '\n' || c == '\r' {
			return 1, unitDrop
		}
		return 1, unitKeep
	}
	r, n := utf8.DecodeRune(s)
	if r != utf8.RuneError || n > 1 {
		return n, unitKeep
	}
	return illFormed(s), unitReplace
}

// illFormed returns the length of the maximal ill-formed part that s begins with: the longest proper
// prefix of a well-formed character, and at least one byte.
//
// https://encoding.spec.whatwg.org/#utf-8-decoder
func illFormed(s []byte) int {
	var need int
	low, high := byte(0x80), byte(0xBF)
	switch c := s[0]; {
	case c < 0xC2 || c > 0xF4:
		return 1
	case c < 0xE0:
		need = 1
	case c < 0xF0:
		need = 2
	default:
		need = 3
	}
	switch s[0] {
	case 0xE0: // below A0: overlong
		low = 0xA0
	case 0xED: // above 9F: surrogates
		high = 0x9F
	case 0xF0: // below 90: overlong
		low = 0x90
	case 0xF4: // above 8F: beyond U+10FFFF
		high = 0x8F
	}
	n := 1
	for n <= need && n < len(s) && low <= s[n] && s[n] <= high {
		n++
		low, high = 0x80, 0xBF
	}
	return n
}

// appendClean appends s without tabs and newlines and with U+FFFD for each maximal ill-formed part.
//
// https://url.spec.whatwg.org/#concept-basic-url-parser, step 3
func appendClean(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		size, kind := unit(s[i:])
		switch kind {
		case unitKeep:
			dst = append(dst, s[i:i+size]...)
		case unitReplace:
			dst = append(dst, replacement...)
		}
		i += size
	}
	return dst
}

// cleaner walks over an input and its cleaned form together.
type cleaner struct {
	in       []byte
	keep     bool // tabs and newlines stay
	from, to int  // positions before and after cleaning
}

// original returns the position in the input of the character that stands at pos in the cleaned form.
// Positions must be asked for in ascending order, so that many of them take one walk.
func (c *cleaner) original(pos int) int {
	for c.from < len(c.in) {
		size, kind := unit(c.in[c.from:])
		if kind == unitDrop && c.keep {
			kind = unitKeep
		}
		out := 0
		switch kind {
		case unitKeep:
			out = size
		case unitReplace:
			out = len(replacement)
		}
		if c.to+out > pos {
			if kind == unitKeep {
				return c.from + pos - c.to
			}
			return c.from
		}
		c.from += size
		c.to += out
	}
	return len(c.in)
}
