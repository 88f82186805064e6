package percent

// Encoding is for data: each of its characters stands for itself, so a percent sign becomes %25, and doing it twice
// changes the data. Fixing up is for text that is percent-encoded already, but maybe not completely: its triplets
// stay, and doing it twice is the same as doing it once.

// FixUp returns s with the members of set percent-encoded and with percent signs that begin no triplet as %25,
// while triplets stay as they are, letter case included. Ill-formed parts of s count as U+FFFD. FixUp of
// its own result changes nothing.
func FixUp(s string, set *Set) string {
	s = scalars(s)
	return string(AppendFixUp(make([]byte, 0, len(s)+16), []byte(s), set))
}

// AppendFixUp is [FixUp] for bytes, which are encoded as they stand. It appends to dst and returns the extended buffer,
// which the caller owns. src is not kept and must not overlap dst.
func AppendFixUp(dst, src []byte, set *Set) []byte {
	for i := 0; i < len(src); i++ {
		b := src[i]
		if b == '%' {
			if _, ok := triplet(src[i:]); ok {
				dst = append(dst, src[i:i+3]...)
				i += 2
				continue
			}
		}
		if b == '%' || set.Has(b) {
			dst = AppendByte(dst, b)
		} else {
			dst = append(dst, b)
		}
	}
	return dst
}

// IRIToURI returns iri with its non-ASCII characters as the triplets of their UTF-8. ASCII stays untouched, a
// stray percent sign too. Ill-formed parts of iri count as U+FFFD.
//
// https://www.rfc-editor.org/rfc/rfc3987#section-3.1
func IRIToURI(iri string) string { return Encode(scalars(iri), &NonASCII) }

// AppendDecodeStrict is [AppendDecode] for callers to whom a percent sign without two hexadecimal digits is an
// error, an [*Error] with its position. dst is returned as it was then.
func AppendDecodeStrict(dst, src []byte) ([]byte, error) {
	for i := 0; i < len(src); i++ {
		if src[i] != '%' {
			continue
		}
		if _, ok := triplet(src[i:]); !ok {
			return dst, &Error{Op: "percent-decode", Code: CodeStrayPercent, Pos: i}
		}
		i += 2
	}
	return AppendDecode(dst, src), nil
}

// CheckUTF8 reports whether each sequence of triplets in src decodes to well-formed UTF-8, as the URL Standard advises
// writers: nil, or an [*Error] with the position of the first triplet that begins no such character. A stray percent
// sign is no triplet and ends a sequence.
//
// https://url.spec.whatwg.org/#percent-encoded-bytes
func CheckUTF8(src []byte) error {
	for i := 0; i < len(src); {
		if src[i] != '%' {
			i++
			continue
		}
		_, n, code := decodeTriplets(src[i:])
		switch code {
		case 0:
			i += n
		case CodeStrayPercent:
			i++
		default:
			return &Error{Op: "check for UTF-8", Code: code, Pos: i}
		}
	}
	return nil
}
