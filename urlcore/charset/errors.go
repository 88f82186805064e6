package charset

import "fmt"

// Code says what was wrong. The values are stable.
type Code uint8

const (
	_ Code = iota
	// CodeIllFormed: the bytes are not text in the encoding.
	CodeIllFormed
	// CodeUnencodable: the encoding has no bytes for a code point.
	CodeUnencodable
	// CodeNoEncoder: the encoding has only a decoder; see [Encoding.Output].
	CodeNoEncoder
	// CodeUnknownLabel: no encoding has that label, or it names replacement where that is not allowed.
	CodeUnknownLabel
)

// String returns a short name in lower case.
func (c Code) String() string {
	names := [...]string{"", "ill-formed", "unencodable", "no-encoder", "unknown-label"}
	if 0 < c && int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("Code(%d)", uint8(c))
}

// Error is the type of every error of this package.
type Error struct {
	Code Code
	// Encoding is the encoding at work; nil with CodeUnknownLabel.
	Encoding *Encoding
	// Pos is the byte position in the input, or for a [Decoder] in its stream since the last reset, where the
	// bytes or the code point in question begin. It is 0 with CodeNoEncoder and CodeUnknownLabel.
	Pos int64
	// Rune is the code point that has no bytes in Encoding, with CodeUnencodable.
	Rune rune
	// Label is the text that is no label, with CodeUnknownLabel.
	Label string
}

// Error says what is wrong and what to do about it.
func (e *Error) Error() string {
	switch e.Code {
	case CodeIllFormed:
		return fmt.Sprintf("charset: byte %d: not text in %s; decode with replacement to go on after it", e.Pos, e.Encoding.name)
	case CodeUnencodable:
		return fmt.Sprintf("charset: byte %d: %U is not in %s; encode to UTF-8 or in the html error mode", e.Pos, e.Rune, e.Encoding.name)
	case CodeNoEncoder:
		return fmt.Sprintf("charset: %s has no encoder; encode to its output encoding, UTF-8", e.Encoding.name)
	case CodeUnknownLabel:
		return fmt.Sprintf("charset: %q is not a label of an encoding that can be used here", e.Label)
	default:
		return "charset: " + e.Code.String()
	}
}
