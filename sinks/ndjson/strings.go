package ndjson

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// appendString appends s as a JSON string (RFC 8259). Texts in Arrow are valid UTF-8; should one not be, each
// bad byte becomes U+FFFD rather than the line becoming unreadable.
func appendString(dst, s []byte) []byte {
	at := len(dst) + 1
	dst = slices.Grow(dst, len(s)+2)
	room := dst[:at+len(s)+1]
	room[at-1] = '"'
	if n := copyPlain(room[at:], s); n < len(s) {
		dst = appendEscaped(room[:at+n], s[n:])
		return append(dst, '"')
	}
	room[at+len(s)] = '"'
	return room
}

// stops tests the eight bytes of a word, the lowest first, for those that do not stand for themselves in a JSON string or
// are not ASCII. The lowest bit that is set is the highest of the first such byte; bits above it may say too much.
//
// To flip the second bit makes a quote a space, a space a quote, and no other byte one that is below '!' but the control
// characters, which stay among themselves. Bytes above ASCII stop in any case, so the two differences need not be right for
// them; and neither borrows from the next byte before there was one that stops.
func stops(word uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	return (((word ^ 2*ones) - '!'*ones) | ((word ^ '\\'*ones) - ones) | word) & high
}

// copyPlain copies what s begins with that stands for itself, and returns how many bytes that is. dst has room for all of s;
// behind what is copied it holds anything.
func copyPlain(dst, s []byte) int {
	n := len(s)
	dst = dst[:n]
	if n < 8 {
		return copyShort(dst, s)
	}
	for i := 0; i < n-8; i += 8 {
		word := binary.LittleEndian.Uint64(s[i:])
		binary.LittleEndian.PutUint64(dst[i:], word)
		if stop := stops(word); stop != 0 {
			return i + bits.TrailingZeros64(stop)/8
		}
	}
	// The last eight, of which some were looked at already.
	word := binary.LittleEndian.Uint64(s[n-8:])
	binary.LittleEndian.PutUint64(dst[n-8:], word)
	if stop := stops(word); stop != 0 {
		return n - 8 + bits.TrailingZeros64(stop)/8
	}
	return n
}

// copyShort is copyPlain for less than eight bytes.
func copyShort(dst, s []byte) int {
	n := len(s)
	dst = dst[:n]
	if n >= 4 {
		head, tail := binary.LittleEndian.Uint32(s), binary.LittleEndian.Uint32(s[n-4:])
		if stops(uint64(head)|uint64(tail)<<32) == 0 {
			binary.LittleEndian.PutUint32(dst, head)
			binary.LittleEndian.PutUint32(dst[n-4:], tail)
			return n
		}
	}
	for i, b := range s {
		if b < ' ' || b == '"' || b == '\\' || b >= utf8.RuneSelf {
			return i
		}
		dst[i] = b
	}
	return n
}

// appendEscaped appends s, which begins with a byte that copyPlain stopped at.
func appendEscaped(dst, s []byte) []byte {
	for len(s) > 0 {
		if s[0] < utf8.RuneSelf {
			dst = appendEscape(dst, s[0])
			s = s[1:]
		} else {
			n := validRun(s)
			dst = append(dst, s[:n]...)
			if s = s[n:]; len(s) > 0 && s[0] >= utf8.RuneSelf {
				dst = append(dst, "\ufffd"...)
				s = s[1:]
			}
		}
		dst = slices.Grow(dst, len(s)+1)
		n := copyPlain(dst[len(dst):cap(dst)], s)
		dst, s = dst[:len(dst)+n], s[n:]
	}
	return dst
}

// validRun returns the length of the characters beyond ASCII that s begins with, up to one that is not UTF-8.
func validRun(s []byte) int {
	i := 0
	for i < len(s) && s[i] >= utf8.RuneSelf {
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		i += size
	}
	return i
}

func appendEscape(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
}
