package percent

import "fmt"

// A Code says what is wrong with an input. Codes are stable.
type Code uint8

const (
	// CodeStrayPercent is a percent sign without two hexadecimal digits after it.
	CodeStrayPercent Code = iota + 1
	// CodeNotUTF8 is a triplet that begins no well-formed UTF-8 character made of triplets.
	CodeNotUTF8
	// CodeLoneSurrogate is a UTF-16 surrogate without its other half.
	CodeLoneSurrogate
	// CodeCharset is a missing or malformed name of a character encoding, or of one that is not supported.
	CodeCharset
	// CodeLanguage is a missing or malformed language tag.
	CodeLanguage
	// CodeByte is a byte that has to be percent-encoded where it stands.
	CodeByte
)

// String returns a short description.
func (c Code) String() string {
	switch c {
	case CodeStrayPercent:
		return "percent sign without two hexadecimal digits"
	case CodeNotUTF8:
		return "percent-encoded bytes are no UTF-8"
	case CodeLoneSurrogate:
		return "lone surrogate"
	case CodeCharset:
		return "no known character encoding"
	case CodeLanguage:
		return "no language tag"
	case CodeByte:
		return "character that has to be percent-encoded"
	default:
		return fmt.Sprintf("percent.Code(%d)", uint8(c))
	}
}

// An Error is returned by the operations of this package that can fail, as a pointer. They leave their
// destination as it was.
type Error struct {
	Op   string // the operation, such as "decodeURI"
	Code Code
	Pos  int // where it is in the input: an index of its bytes, or of its code units when these are UTF-16
}

// Error returns what is wrong and where.
func (e *Error) Error() string {
	return fmt.Sprintf("percent: %s: %v at position %d", e.Op, e.Code, e.Pos)
}
