package ndjson

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// appendString appends s as a JSON string (RFC 8259). Texts in Arrow are valid UTF-8; should one not be, each
// bad byte becomes U+FFFD rather than the line becoming unreadable.
func appendString(dst, s []byte) []byte { return appendAtEnd(dst, &quote, s) }

// fixed is a text that is appended often.
type fixed struct {
	short [32]byte // begins with it, if it is not longer
	text  []byte
}

func fixedOf(text []byte) fixed {
	f := fixed{text: text}
	copy(f.short[:], text)
	return f
}

// append copies a short text with two moves, also what is behind it, where there is room for that.
func (f *fixed) append(dst []byte) []byte {
	at, n := len(dst), len(f.text)
	if n > len(f.short) || cap(dst)-at < len(f.short) {
		return append(dst, f.text...)
	}
	*(*[len(f.short)]byte)(dst[at : at+len(f.short)]) = f.short
	return dst[:at+n]
}

var (
	quote = fixedOf([]byte{'"'})
	null  = fixedOf([]byte("null"))
)

// appendText appends before, which ends in the quote that opens a string, and the first n bytes of s as appendString does.
// Bytes of s behind them are read, if they are there, for whole words to be copied, and are of no consequence.
//
// The words are copied here and not by copyPlain because texts are short: a call for each costs as much as to copy it.
func appendText(dst []byte, before *fixed, s []byte, n int) []byte {
	at, end := len(dst)+len(before.text), (n+7)&^7
	if end > len(s) || cap(dst)-at <= end {
		return appendAtEnd(dst, before, s[:n])
	}
	dst = before.append(dst)
	room := dst[at : at+end+1]
	s = s[:end:end]
	for i := 0; i < len(s)-7 && i < len(room)-7; i += 8 {
		word := binary.LittleEndian.Uint64(s[i : i+8 : i+8])
		binary.LittleEndian.PutUint64(room[i:i+8:i+8], word)
		if stop := stops(word); stop != 0 {
			if i += bits.TrailingZeros64(stop) / 8; i < n {
				return append(appendEscaped(dst[:at+i], s[i:n]), '"')
			}
			break
		}
	}
	room[n] = '"'
	return dst[:at+n+1]
}

// appendAtEnd is appendText for a text that its memory ends with, and for a dst without room.
func appendAtEnd(dst []byte, before *fixed, s []byte) []byte {
	dst = slices.Grow(dst, len(before.text)+len(s)+8) // room for the words of appendText
	dst = before.append(dst)
	n := copyPlain(dst[len(dst):cap(dst)], s)
	dst = dst[:len(dst)+n]
	if n < len(s) {
		dst = appendEscaped(dst, s[n:])
	}
	return append(dst, '"')
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
// behind what is copied it holds anything. The last eight bytes are looked at together, also those of them that were before.
func copyPlain(dst, s []byte) int {
	n := len(s)
	dst = dst[:n]
	if n < 8 {
		return copyShort(dst, s)
	}
	for i := 0; i < n; i += 8 {
		from := min(i, n-8)
		word := binary.LittleEndian.Uint64(s[from:])
		binary.LittleEndian.PutUint64(dst[from:], word)
		if stop := stops(word); stop != 0 {
			return from + bits.TrailingZeros64(stop)/8
		}
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
		if !plain[b] {
			return i
		}
		dst[i] = b
	}
	return n
}

// plain tells the bytes that stand for themselves in a JSON string and are ASCII.
var plain = func() (t [256]bool) {
	for b := ' '; b < utf8.RuneSelf; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return t
}()

// appendEscaped appends s, which begins with a byte that copyPlain stopped at. Where there is one such byte the next is often
// near: words are looked at only after eight bytes without one.
func appendEscaped(dst, s []byte) []byte {
	start := 0 // of what is not copied yet
	for i := 0; i < len(s); {
		b := s[i]
		if plain[b] {
			end := min(i+8, len(s))
			for i++; i < end && plain[s[i]]; i++ {
			}
			if i == end {
				i = skipPlain(s, i)
			}
			continue
		}
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, b)
		i++
		start = i
	}
	return append(dst, s[start:]...)
}

// skipPlain returns i behind the words from i on that stand for themselves.
func skipPlain(s []byte, i int) int {
	for i+8 <= len(s) && stops(binary.LittleEndian.Uint64(s[i:])) == 0 {
		i += 8
	}
	return i
}

func appendEscape(dst []byte, b byte) []byte {
	if at := strings.IndexByte("\"\\\b\f\n\r\t", b); at >= 0 {
		return append(dst, '\\', `"\bfnrt`[at])
	}
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
}
