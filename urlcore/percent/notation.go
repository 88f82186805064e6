package percent

import "fmt"

// A Notation is a way in which a percent sign is used in text.
type Notation uint8

const (
	// NotationNone is reported when there is no percent sign.
	NotationNone Notation = iota
	// NotationTriplet is a percent sign and two hexadecimal digits: a byte. It is the only one that percent-decoding
	// decodes.
	NotationTriplet
	// NotationUnicode is %uXXXX, a UTF-16 code unit as [Escape] writes it.
	NotationUnicode
	// NotationDouble is %%, in many template languages a percent sign.
	NotationDouble
	// NotationDirective is a percent sign and a letter, such as %s.
	NotationDirective
	// NotationStray is any other percent sign.
	NotationStray
)

// String returns a short name.
func (n Notation) String() string {
	if names := [...]string{"none", "triplet", "unicode", "double", "directive", "stray"}; int(n) < len(names) {
		return names[n]
	}
	return fmt.Sprintf("percent.Notation(%d)", uint8(n))
}

// NextNotation finds the first percent sign of src and tells how it is used: src[start:end] is the notation. Where
// there is none, start and end are len(src). A percent sign before a triplet is stray rather than a half of %%.
func NextNotation(src []byte) (start, end int, n Notation) {
	for start < len(src) && src[start] != '%' {
		start++
	}
	rest := src[start:]
	if len(rest) == 0 {
		return start, start, NotationNone
	}
	if _, ok := triplet(rest); ok {
		return start, start + 3, NotationTriplet
	}
	if _, ok := unicodeEscape(rest); ok {
		return start, start + 6, NotationUnicode
	}
	if len(rest) > 1 {
		next := rest[1]
		if _, ok := triplet(rest[1:]); next == '%' && !ok {
			return start, start + 2, NotationDouble
		}
		if lower := next | 0x20; 'a' <= lower && lower <= 'z' {
			return start, start + 2, NotationDirective
		}
	}
	return start, start + 1, NotationStray
}
