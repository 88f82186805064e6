package percent

const upperHex = "0123456789ABCDEF"

// AppendByte appends the percent-encoding of b, a percent sign and two upper-case hexadecimal digits,
// to dst and returns the extended buffer.
//
// https://url.spec.whatwg.org/#percent-encode
func AppendByte(dst []byte, b byte) []byte {
	return append(dst, '%', upperHex[b>>4], upperHex[b&15])
}

// AppendEncode appends src to dst with every byte that is a member of set percent-encoded, and returns
// the extended buffer, which the caller owns. src is not kept; it may not overlap the free part of dst.
//
// For src in well-formed UTF-8 and the sets of this package this is the standard's UTF-8 percent-encode.
// It works on bytes, so ill-formed input is encoded as it stands; callers that want the standard's
// U+FFFD replace it beforehand. A percent sign is encoded only by sets that hold it (Component and
// FormURLEncoded), so with the others an existing triplet stays as it is.
//
// https://url.spec.whatwg.org/#string-utf-8-percent-encode
func AppendEncode(dst, src []byte, set *Set) []byte {
	start := 0
	for i := 0; i < len(src); i++ {
		b := src[i]
		if !set.Has(b) {
			continue
		}
		dst = append(dst, src[start:i]...)
		dst = append(dst, '%', upperHex[b>>4], upperHex[b&15])
		start = i + 1
	}
	return append(dst, src[start:]...)
}

// Encode returns s with every byte that is a member of set percent-encoded: the form of [AppendEncode]
// for strings. Without anything to encode it returns s itself.
func Encode(s string, set *Set) string {
	for i := range len(s) {
		if set.Has(s[i]) {
			return string(AppendEncode(make([]byte, 0, len(s)+16), []byte(s), set))
		}
	}
	return s
}
