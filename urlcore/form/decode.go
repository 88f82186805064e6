package form

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// Next returns the first pair of query as it is written, and what follows it. ok is false when there is no pair
// left. Pairs are separated by & alone, empty ones are skipped, and the first = of a pair ends its name; without
// one the value is empty. The slices are parts of query, and are decoded by [AppendDecode].
//
//	for name, value, rest, ok := form.Next(query); ok; name, value, rest, ok = form.Next(rest) {
//
// Next allocates nothing.
func Next(query []byte) (name, value, rest []byte, ok bool) {
	for len(query) > 0 && query[0] == '&' {
		query = query[1:]
	}
	if len(query) == 0 {
		return nil, nil, nil, false
	}
	pair := query
	if n := bytes.IndexByte(query, '&'); n >= 0 {
		pair, rest = query[:n], query[n+1:]
	}
	if n := bytes.IndexByte(pair, '='); n >= 0 {
		return pair[:n:n], pair[n+1 : len(pair) : len(pair)], rest, true
	}
	return pair[:len(pair):len(pair)], nil, rest, true
}

// AppendDecode appends a name or value as it is meant to dst and returns the extended buffer: plus signs become
// spaces, then triplets are decoded, then the bytes are decoded as UTF-8 without BOM, each maximal ill-formed part
// giving U+FFFD. src is not kept and must not overlap dst.
//
// Nothing is allocated but what dst needs to grow. Text with nothing to decode is copied at once.
func AppendDecode(dst, src []byte) []byte {
	n := plainPrefix(src)
	dst = append(dst, src[:n]...)
	if n == len(src) {
		return dst
	}
	start := len(dst)
	dst = AppendDecodeBytes(dst, src[n:])
	end := len(dst)
	if utf8.Valid(dst[start:end]) {
		return dst
	}
	// The text with replacements is longer than the bytes, so it goes behind them and then into their place. When
	// dst has to grow, the bytes are read from the old array.
	dst = charset.AppendUTF8(dst, dst[start:end])
	return append(dst[:start], dst[end:]...)
}

// AppendDecodeBytes is [AppendDecode] without the decoding of the bytes as text, for names and values that are
// in another encoding, or that are no text. src is not kept and must not overlap dst, unless dst is the empty slice
// at the start of src, as in AppendDecodeBytes(b[:0], b).
func AppendDecodeBytes(dst, src []byte) []byte {
	// The result is never longer than src, so it can be written by index.
	n := len(dst)
	dst = slices.Grow(dst, len(src))[:n+len(src)]
	for i := 0; i < len(src); i++ {
		b := src[i]
		switch b {
		case '+':
			b = ' '
		case '%':
			if i+2 < len(src) {
				high, ok1 := percent.Unhex(src[i+1])
				low, ok2 := percent.Unhex(src[i+2])
				if ok1 && ok2 {
					b = high<<4 | low
					i += 2
				}
			}
		}
		dst[n] = b
		n++
	}
	return dst[:n]
}

// IsPlain reports whether src means itself: it has no plus sign, percent sign or byte above 0x7F, so that
// [AppendDecode] would copy it. It allocates nothing.
func IsPlain(src []byte) bool { return plainPrefix(src) == len(src) }

// plainPrefix returns the length of the longest prefix of src without plus signs, percent signs and bytes above 0x7F.
func plainPrefix(src []byte) int {
	const ones, high, plus, percentSign = 0x0101010101010101, 0x8080808080808080, '+' * 0x0101010101010101, '%' * 0x0101010101010101
	i := 0
	for ; i+8 <= len(src); i += 8 {
		word := binary.LittleEndian.Uint64(src[i:])
		// The test for a zero byte is right for the lowest one, and so for whether there is any.
		p, q := word^plus, word^percentSign
		if (word|(p-ones)&^p|(q-ones)&^q)&high != 0 {
			break
		}
	}
	for ; i < len(src); i++ {
		if b := src[i]; b == '+' || b == '%' || b >= 0x80 {
			break
		}
	}
	return i
}
