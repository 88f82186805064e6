package percent

// Part is a part of a URL, or of a request, that may be percent-encoded.
type Part uint8

// The parts that [PlusIn] knows.
const (
	PartUserinfo Part = iota
	PartHost
	PartPath
	PartQuery
	PartFragment
	PartBody // the body of a POST request that a form has made
)

// Plus says what a plus sign means.
type Plus uint8

const (
	// PlusIsPlus is the meaning in plain percent-encoding: itself.
	PlusIsPlus Plus = iota
	// PlusIsSpace is the meaning in application/x-www-form-urlencoded.
	PlusIsSpace
)

// String returns "plain" or "form-urlencoded", the formats that have the meaning.
func (p Plus) String() string {
	if p == PlusIsSpace {
		return "form-urlencoded"
	}
	return "plain"
}

// PlusIn tells what a plus sign most likely means in a part of a URL with the given scheme, in any letter case and
// without a colon: in the query of http, https, ws and wss, and in the body of a form, a space, and anywhere else
// itself. Nothing in a URL says so for certain; a caller that knows better hands [AppendDecodePlus] what it knows.
func PlusIn(scheme string, part Part) Plus {
	switch {
	case part == PartBody:
		return PlusIsSpace
	case part != PartQuery:
		return PlusIsPlus
	}
	for _, s := range [...]string{"http", "https", "ws", "wss"} {
		if equalLetters(scheme, s) {
			return PlusIsSpace
		}
	}
	return PlusIsPlus
}

// equalLetters compares s, ASCII letter case aside, with lower, which is in lower case.
func equalLetters(s, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := range len(s) {
		b := s[i]
		if 'A' <= b && b <= 'Z' {
			b |= 0x20
		}
		if b != lower[i] {
			return false
		}
	}
	return true
}

// AppendDecodePlus is [AppendDecode] with the given meaning of plus signs; one that is written as %2B is always a plus
// sign. src is not kept and must not overlap the free part of dst.
func AppendDecodePlus(dst, src []byte, plus Plus) []byte {
	if plus == PlusIsPlus {
		return AppendDecode(dst, src)
	}
	for i := 0; i < len(src); i++ {
		b := src[i]
		if b == '+' {
			b = ' '
		} else if decoded, ok := triplet(src[i:]); ok {
			b = decoded
			i += 2
		}
		dst = append(dst, b)
	}
	return dst
}
