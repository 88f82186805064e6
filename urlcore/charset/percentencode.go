package charset

import "github.com/urlmill/urlmill/urlcore/percent"

// AppendPercentEncode encodes src, UTF-8 text in which every maximal ill-formed part counts as U+FFFD, with
// the output encoding of e, and appends the bytes to dst, those that are members of set as percent triplets
// and the others as they are. With spaceAsPlus each byte 0x20 becomes a plus sign instead.
//
// The result is dst's memory and so the caller's. With UTF-8 nothing is allocated but what dst needs to grow.
//
// URL Standard: "percent-encode after encoding" (section 1.3).
func AppendPercentEncode(dst, src []byte, e *Encoding, set *percent.Set, spaceAsPlus bool) []byte {
	return appendPercentUTF8(dst, src, set, spaceAsPlus)
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
