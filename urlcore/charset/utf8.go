package charset

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// replacementChar is U+FFFD in UTF-8.
const replacementChar = "\uFFFD"

// AppendUTF8 appends src to dst, with U+FFFD in place of each maximal ill-formed part of it: F0 9F 41 gives
// U+FFFD and A, F0 80 gives two U+FFFD, ED A0 80 three. A leading U+FEFF is kept. Well-formed text is copied
// in one go; nothing is allocated but what dst needs to grow. The result is dst's memory and so the caller's.
//
// Encoding Standard: "UTF-8 decode without BOM" (section 6).
func AppendUTF8(dst, src []byte) []byte {
	for {
		n := validPrefix(src)
		dst = append(dst, src[:n]...)
		if n == len(src) {
			return dst
		}
		dst = append(dst, replacementChar...)
		src = src[n+illFormedPart(src[n:]):]
	}
}

// AppendUTF8WithBOM is [AppendUTF8] after the removal of one leading EF BB BF. No other byte order mark has
// a meaning here: FE FF gives two U+FFFD.
//
// Encoding Standard: "UTF-8 decode" (section 6).
func AppendUTF8WithBOM(dst, src []byte) []byte {
	return AppendUTF8(dst, bytes.TrimPrefix(src, bomUTF8))
}

// AppendUTF8OrFail appends src to dst when src is well-formed UTF-8. Else it returns dst unchanged and an
// [*Error] with the position of the first ill-formed part. A leading U+FEFF is kept.
//
// Encoding Standard: "UTF-8 decode without BOM or fail" (section 6).
func AppendUTF8OrFail(dst, src []byte) ([]byte, error) {
	if n := validPrefix(src); n != len(src) {
		return dst, &Error{Code: CodeIllFormed, Encoding: UTF8, Pos: int64(n)}
	}
	return append(dst, src...), nil
}

// validPrefix returns the length of the longest prefix of src that is well-formed UTF-8.
func validPrefix(src []byte) int {
	// Valid is twice as fast as the loop. It does not say where the fault is, but stops there as well, so
	// ill-formed text costs little more.
	if utf8.Valid(src) {
		return len(src)
	}
	n := 0
	for n < len(src) {
		if n+8 <= len(src) && binary.LittleEndian.Uint64(src[n:])&0x8080808080808080 == 0 {
			n += 8
			continue
		}
		if src[n] < utf8.RuneSelf {
			n++
			continue
		}
		r, size := utf8.DecodeRune(src[n:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		n += size
	}
	return n
}

// illFormedPart returns the length of the maximal ill-formed part at the start of src, which must begin with
// one: the bytes that some well-formed character starts with, or the one byte that starts none.
func illFormedPart(src []byte) int {
	need, low, high := utf8Lead(src[0])
	n := 1
	for ; n <= need && n < len(src) && low <= src[n] && src[n] <= high; n++ {
		low, high = 0x80, 0xBF
	}
	return n
}

// utf8Lead returns how many bytes follow lead in a well-formed character, and the range of the first of
// them. It is 0 for bytes that start no character of more than one byte; the range is empty then.
func utf8Lead(lead byte) (need int, low, high byte) {
	switch {
	case lead < 0xC2, lead > 0xF4:
		return 0, 0xFF, 0
	case lead < 0xE0:
		return 1, 0x80, 0xBF
	case lead == 0xE0: // overlong below A0
		return 2, 0xA0, 0xBF
	case lead == 0xED: // surrogates from A0
		return 2, 0x80, 0x9F
	case lead < 0xF0:
		return 2, 0x80, 0xBF
	case lead == 0xF0: // overlong below 90
		return 3, 0x90, 0xBF
	case lead == 0xF4: // beyond U+10FFFF from 90
		return 3, 0x80, 0x8F
	default:
		return 3, 0x80, 0xBF
	}
}
