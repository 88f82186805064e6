package charset

import (
	"strconv"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// AppendPercentEncode encodes src, UTF-8 text in which every maximal ill-formed part counts as U+FFFD, with
// the output encoding of e, and appends the bytes to dst, those that are members of set as percent triplets
// and the others as they are. With spaceAsPlus each byte 0x20 becomes a plus sign instead. A code point that
// the encoding lacks becomes %26%23 decimal %3B, whatever the set; the encoder goes on in its state.
//
// The result is dst's memory and so the caller's. Nothing is allocated but what dst needs to grow and, at
// the first call, the encoding's tables.
//
// URL Standard: "percent-encode after encoding" (section 1.3).
func AppendPercentEncode(dst, src []byte, e *Encoding, set *percent.Set, spaceAsPlus bool) []byte {
	e = e.Output()
	if e == UTF8 {
		return appendPercentUTF8(dst, src, set, spaceAsPlus)
	}
	var s encoderState
	s.init(e)
	var scratch [8]byte // the longest is an escape sequence and a character of two bytes
	for i := 0; i < len(src); {
		if n := s.span(src[i:]); n > 0 {
			dst = appendPercentBytes(dst, src[i:i+n], set, spaceAsPlus)
			i += n
			continue
		}
		c, n := nextRune(src[i:])
		i += n
		out, bad := s.append(scratch[:0], c)
		dst = appendPercentBytes(dst, out, set, spaceAsPlus)
		if bad != encoded {
			dst = append(dst, "%26%23"...)
			dst = strconv.AppendInt(dst, int64(bad), 10)
			dst = append(dst, "%3B"...)
		}
	}
	return appendPercentBytes(dst, s.finish(scratch[:0]), set, spaceAsPlus)
}

// appendPercentUTF8 is AppendPercentEncode for UTF-8.
func appendPercentUTF8(dst, src []byte, set *percent.Set, spaceAsPlus bool) []byte {
	for {
		n := validPrefix(src)
		dst = appendPercentBytes(dst, src[:n], set, spaceAsPlus)
		if n == len(src) {
			return dst
		}
		dst = appendPercentBytes(dst, []byte(replacementChar), set, spaceAsPlus)
		src = src[n+illFormedPart(src[n:]):]
	}
}

// appendPercentBytes appends src to dst, with members of set as triplets and, if asked for, spaces as plus.
func appendPercentBytes(dst, src []byte, set *percent.Set, spaceAsPlus bool) []byte {
	for _, b := range src {
		switch {
		case spaceAsPlus && b == ' ':
			dst = append(dst, '+')
		case set.Has(b):
			dst = percent.AppendByte(dst, b)
		default:
			dst = append(dst, b)
		}
	}
	return dst
}
