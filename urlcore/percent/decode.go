package percent

import "bytes"

// AppendDecode appends the percent-decoding of src to dst and returns the extended buffer, which the
// caller owns. src is not kept. dst may share src's array when it begins at or before src, as in
// AppendDecode(b[:0], b), since the output is never ahead of the input.
//
// A percent sign with two hexadecimal digits of either case becomes one byte; every other percent sign
// stays as it is. There is one pass only, so %2541 gives %41. It never fails. The result is bytes: what
// encoding they are in, if they are text at all, is for the caller to say.
//
// https://url.spec.whatwg.org/#percent-decode
func AppendDecode(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, '%')
		if i < 0 {
			return append(dst, src...)
		}
		dst = append(dst, src[:i]...)
		src = src[i:]
		if len(src) < 3 {
			return append(dst, src...)
		}
		hi, lo := unhex[src[1]], unhex[src[2]]
		if hi|lo > 15 {
			dst = append(dst, '%')
			src = src[1:]
			continue
		}
		dst = append(dst, hi<<4|lo)
		src = src[3:]
	}
}

// Decode returns the bytes that the percent-decoding of s gives: the form of [AppendDecode] for strings.
// The caller owns the result.
//
// https://url.spec.whatwg.org/#string-percent-decode
func Decode(s string) []byte {
	return AppendDecode(make([]byte, 0, len(s)), []byte(s))
}

// Unhex returns the value of a hexadecimal digit in either case, and false for any other byte.
func Unhex(b byte) (byte, bool) {
	v := unhex[b]
	return v, v <= 15
}

// unhex holds the value of every hexadecimal digit and 0xFF for all other bytes.
var unhex = func() (t [256]byte) {
	for b := range t {
		switch {
		case '0' <= b && b <= '9':
			t[b] = byte(b - '0')
		case 'a' <= b && b <= 'f':
			t[b] = byte(b - 'a' + 10)
		case 'A' <= b && b <= 'F':
			t[b] = byte(b - 'A' + 10)
		default:
			t[b] = 0xFF
		}
	}
	return t
}()
