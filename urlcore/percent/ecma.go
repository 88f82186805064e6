package percent

import (
	"unicode/utf16"
	"unicode/utf8"
)

// The URI functions of ECMA-262. Those whose names end in 16 work on UTF-16 code units, as the standard
// does: they append to dst and return the extended buffer, which the caller owns, and an *Error exactly where
// the standard throws a URIError. The others work on Go strings, in which every maximal ill-formed part
// counts as U+FFFD, so that their input has no lone surrogates; one that comes out, as it may from Unescape,
// becomes U+FFFD too. None gives a plus sign a meaning.
//
// https://tc39.es/ecma262/#sec-uri-handling-functions

// A unit is a byte of UTF-8 or a code unit of UTF-16.
type unit interface{ ~byte | ~uint16 }

// keptByDecodeURI are the characters whose triplets decodeURI leaves as they are.
const keptByDecodeURI = ";/?:@&=+$,#"

// EncodeURI encodes s with [EncodeURISet]: what may be in a whole URI stays, other characters become the triplets
// of their UTF-8.
func EncodeURI(s string) string { return Encode(scalars(s), &EncodeURISet) }

// EncodeURIComponent encodes s with [EncodeURIComponentSet].
func EncodeURIComponent(s string) string { return Encode(scalars(s), &EncodeURIComponentSet) }

// DecodeURI decodes the triplets of s, but for those of ";/?:@&=+$,#", which stay as they are written. The error is an
// [*Error] for a triplet that is malformed or not of well-formed UTF-8. Since %25 is decoded, the result can't be
// decoded again safely.
func DecodeURI(s string) (string, error) { return decodeString("decodeURI", s, keptByDecodeURI) }

// DecodeURIComponent decodes all triplets of s. The error is an [*Error] for a triplet that is malformed or not
// of well-formed UTF-8.
func DecodeURIComponent(s string) (string, error) { return decodeString("decodeURIComponent", s, "") }

// AppendEncodeURI16 is [EncodeURI] on UTF-16. The error is for a lone surrogate.
func AppendEncodeURI16(dst, src []uint16) ([]uint16, error) {
	return encode16("encodeURI", dst, src, &EncodeURISet)
}

// AppendEncodeURIComponent16 is [EncodeURIComponent] on UTF-16. The error is for a lone surrogate.
func AppendEncodeURIComponent16(dst, src []uint16) ([]uint16, error) {
	return encode16("encodeURIComponent", dst, src, &EncodeURIComponentSet)
}

// AppendDecodeURI16 is [DecodeURI] on UTF-16. Lone surrogates that are written as such stay.
func AppendDecodeURI16(dst, src []uint16) ([]uint16, error) {
	return decode16("decodeURI", dst, src, keptByDecodeURI)
}

// AppendDecodeURIComponent16 is [DecodeURIComponent] on UTF-16. Lone surrogates that are written as such stay.
func AppendDecodeURIComponent16(dst, src []uint16) ([]uint16, error) {
	return decode16("decodeURIComponent", dst, src, "")
}

// encode16 is the standard's Encode.
//
// https://tc39.es/ecma262/#sec-encode
func encode16(op string, dst, src []uint16, set *Set) ([]uint16, error) {
	start := len(dst)
	for i := 0; i < len(src); i++ {
		r := rune(src[i])
		switch {
		case r < utf8.RuneSelf && !set.Has(byte(r)):
			dst = append(dst, src[i])
			continue
		case utf16.IsSurrogate(r):
			pair := rune(utf8.RuneError)
			if i+1 < len(src) {
				pair = utf16.DecodeRune(r, rune(src[i+1]))
			}
			if pair == utf8.RuneError {
				return dst[:start], &Error{Op: op, Code: CodeLoneSurrogate, Pos: i}
			}
			r = pair
			i++
		}
		var buffer [utf8.UTFMax]byte
		for _, b := range buffer[:utf8.EncodeRune(buffer[:], r)] {
			dst = append(dst, '%', uint16(upperHex[b>>4]), uint16(upperHex[b&15]))
		}
	}
	return dst, nil
}

// decode16 is the standard's Decode.
//
// https://tc39.es/ecma262/#sec-decode
func decode16(op string, dst, src []uint16, kept string) ([]uint16, error) {
	start := len(dst)
	for i := 0; i < len(src); {
		if src[i] != '%' {
			dst = append(dst, src[i])
			i++
			continue
		}
		r, n, code := decodeTriplets(src[i:])
		switch {
		case code != 0:
			return dst[:start], &Error{Op: op, Code: code, Pos: i}
		case isIn(r, kept):
			dst = append(dst, src[i:i+n]...)
		default:
			dst = utf16.AppendRune(dst, r)
		}
		i += n
	}
	return dst, nil
}

// decodeString is decode16 for strings.
func decodeString(op, s, kept string) (string, error) {
	src := []byte(scalars(s))
	dst := make([]byte, 0, len(src))
	for i := 0; i < len(src); {
		if src[i] != '%' {
			dst = append(dst, src[i])
			i++
			continue
		}
		r, n, code := decodeTriplets(src[i:])
		switch {
		case code != 0:
			return "", &Error{Op: op, Code: code, Pos: positionIn(s, i)}
		case isIn(r, kept):
			dst = append(dst, src[i:i+n]...)
		default:
			dst = utf8.AppendRune(dst, r)
		}
		i += n
	}
	return string(dst), nil
}

// positionIn returns the position in s of what is at position i of scalars(s).
func positionIn(s string, i int) int {
	at := 0
	for i > 0 {
		r, n := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && n == 1 {
			n = illFormedPart(s[at:])
		}
		at += n
		i -= utf8.RuneLen(r)
	}
	return at
}

// isIn reports whether r is one of the ASCII characters of text.
func isIn(r rune, text string) bool {
	for i := range len(text) {
		if rune(text[i]) == r {
			return true
		}
	}
	return false
}

// decodeTriplets decodes the character that the triplets at the beginning of src stand for, in UTF-8. src begins
// with a percent sign. n is the length of the triplets. The code is not 0 when there is no such character.
func decodeTriplets[U unit](src []U) (r rune, n int, code Code) {
	var buffer [utf8.UTFMax]byte
	b, ok := triplet(src)
	if !ok {
		return 0, 0, CodeStrayPercent
	}
	if b < utf8.RuneSelf {
		return rune(b), 3, 0
	}
	buffer[0] = b
	length := 1
	for length < utf8.UTFMax && !utf8.FullRune(buffer[:length]) {
		if b, ok = triplet(src[3*length:]); !ok {
			return 0, 0, CodeNotUTF8
		}
		buffer[length] = b
		length++
	}
	r, size := utf8.DecodeRune(buffer[:length])
	if size != length || r == utf8.RuneError && size == 1 {
		return 0, 0, CodeNotUTF8
	}
	return r, 3 * length, 0
}

// triplet returns the byte that the triplet at the beginning of src stands for.
func triplet[U unit](src []U) (b byte, ok bool) {
	if len(src) < 3 || src[0] != '%' {
		return 0, false
	}
	high, ok1 := hexUnit(src[1])
	low, ok2 := hexUnit(src[2])
	return high<<4 | low, ok1 && ok2
}

// hexUnit is Unhex for a code unit.
func hexUnit[U unit](u U) (byte, bool) {
	if uint16(u) >= utf8.RuneSelf {
		return 0, false
	}
	return Unhex(byte(u))
}
