package urlcore

import (
	"fmt"
	"strconv"
)

// Code names a validation error of the URL Standard. Some validation errors are also failures: the input
// is then no URL and the code says why. The numbers are stable: new codes are added at the end, so they
// may be stored. [Code.String] gives the standard's name.
//
// https://url.spec.whatwg.org/#writing
type Code uint8

// The codes. "Fatal" means that parsing fails with it.
const (
	// OK is the zero Code: nothing to report.
	OK Code = iota
	// CodeDomainToASCII: the domain is no valid domain name under the strict rules of UTS 46 (hyphens, lengths,
	// characters). Fatal when the domain cannot be used at all: it fails the relaxed rules too, becomes
	// empty, or holds a forbidden domain code point.
	CodeDomainToASCII
	// CodeDomainPercentEncoded: the domain was written with percent-encoded bytes.
	CodeDomainPercentEncoded
	// CodeHostInvalidCodePoint: an opaque host holds a forbidden host code point. Fatal.
	CodeHostInvalidCodePoint
	// CodeIPv4EmptyPart: an IPv4 address ends with a dot.
	CodeIPv4EmptyPart
	// CodeIPv4TooFewParts: an IPv4 address has fewer than four parts.
	CodeIPv4TooFewParts
	// CodeIPv4TooManyParts: an IPv4 address has more than four parts. Fatal.
	CodeIPv4TooManyParts
	// CodeIPv4NonNumericPart: the host ends in a number, yet another part is none. Fatal.
	CodeIPv4NonNumericPart
	// CodeIPv4NonDecimalPart: a part of an IPv4 address is written in hexadecimal or octal.
	CodeIPv4NonDecimalPart
	// CodeIPv4OutOfRangePart: a part of an IPv4 address exceeds 255. Fatal unless it is the last part and fits
	// the bytes that are left.
	CodeIPv4OutOfRangePart
	// CodeIPv4NonASCIIInput: an IPv4 address came out of a host with non-ASCII characters.
	CodeIPv4NonASCIIInput
	// CodeIPv6Unclosed: an IPv6 address lacks its closing bracket. Fatal.
	CodeIPv6Unclosed
	// CodeIPv6InvalidCompression: an IPv6 address begins with a single colon. Fatal.
	CodeIPv6InvalidCompression
	// CodeIPv6TooManyPieces: an IPv6 address has more than eight pieces. Fatal.
	CodeIPv6TooManyPieces
	// CodeIPv6MultipleCompression: an IPv6 address has more than one "::". Fatal.
	CodeIPv6MultipleCompression
	// CodeIPv6InvalidCodePoint: an IPv6 address holds a character that does not belong there, or ends with a
	// single colon. Fatal.
	CodeIPv6InvalidCodePoint
	// CodeIPv6TooFewPieces: an IPv6 address without "::" has fewer than eight pieces. Fatal.
	CodeIPv6TooFewPieces
	// CodeIPv6PieceLeadingZero: a piece of an IPv6 address is written with a leading zero.
	CodeIPv6PieceLeadingZero
	// CodeIPv4InIPv6TooManyPieces: more than six pieces stand before an embedded IPv4 address. Fatal.
	CodeIPv4InIPv6TooManyPieces
	// CodeIPv4InIPv6InvalidCodePoint: an embedded IPv4 address has an empty part, a part with a leading zero or
	// a character that is no digit, or a fifth part. Fatal.
	CodeIPv4InIPv6InvalidCodePoint
	// CodeIPv4InIPv6OutOfRangePart: a part of an embedded IPv4 address exceeds 255. Fatal.
	CodeIPv4InIPv6OutOfRangePart
	// CodeIPv4InIPv6TooFewParts: an embedded IPv4 address has fewer than four parts. Fatal.
	CodeIPv4InIPv6TooFewParts
	// CodeInvalidURLUnit: a character that is no URL code point, a percent sign without two hexadecimal digits,
	// or white space that was removed.
	CodeInvalidURLUnit
	// CodeSpecialSchemeMissingFollowingSolidus: a special scheme is not followed by exactly "//".
	CodeSpecialSchemeMissingFollowingSolidus
	// CodeMissingSchemeNonRelativeURL: there is no scheme, and no base URL that the input could be relative to.
	// Fatal.
	CodeMissingSchemeNonRelativeURL
	// CodeInvalidReverseSolidus: a backslash stands for a slash.
	CodeInvalidReverseSolidus
	// CodeInvalidCredentials: the URL holds a username or password.
	CodeInvalidCredentials
	// CodeHostMissing: a special URL has no host, or credentials or a port come without one. Fatal.
	CodeHostMissing
	// CodePortOutOfRange: the port exceeds 65535. Fatal.
	CodePortOutOfRange
	// CodePortInvalid: the port holds something else than digits. Fatal.
	CodePortInvalid
	// CodeFileInvalidWindowsDriveLetter: a relative reference to a file URL begins with a drive letter.
	CodeFileInvalidWindowsDriveLetter
	// CodeFileInvalidWindowsDriveLetterHost: a drive letter stands where a file URL has its host.
	CodeFileInvalidWindowsDriveLetterHost
	// CodeInputTooLong: the input, or the base, exceeds [MaxInput] bytes. Not in the standard. Fatal.
	CodeInputTooLong

	codeCount
)

// codeTexts holds the standard's name of each code and what it means for the reader of an error message.
var codeTexts = [codeCount]struct{ name, text string }{
	OK:                             {"", "no error"},
	CodeDomainToASCII:              {"domain-to-ASCII", "the host is not a valid domain name"},
	CodeDomainPercentEncoded:       {"domain-percent-encoded", "the domain is written with percent-encoded bytes"},
	CodeHostInvalidCodePoint:       {"host-invalid-code-point", "the host holds a forbidden character"},
	CodeIPv4EmptyPart:              {"IPv4-empty-part", "the IPv4 address ends with a dot"},
	CodeIPv4TooFewParts:            {"IPv4-too-few-parts", "the IPv4 address has fewer than four parts"},
	CodeIPv4TooManyParts:           {"IPv4-too-many-parts", "the IPv4 address has more than four parts"},
	CodeIPv4NonNumericPart:         {"IPv4-non-numeric-part", "the host ends in a number, but a part of it is not numeric"},
	CodeIPv4NonDecimalPart:         {"IPv4-non-decimal-part", "a part of the IPv4 address is not decimal"},
	CodeIPv4OutOfRangePart:         {"IPv4-out-of-range-part", "a part of the IPv4 address is too large"},
	CodeIPv4NonASCIIInput:          {"IPv4-non-ASCII-input", "the IPv4 address is written with non-ASCII characters"},
	CodeIPv6Unclosed:               {"IPv6-unclosed", "the IPv6 address lacks its closing bracket"},
	CodeIPv6InvalidCompression:     {"IPv6-invalid-compression", "the IPv6 address begins with a single colon"},
	CodeIPv6TooManyPieces:          {"IPv6-too-many-pieces", "the IPv6 address has more than eight pieces"},
	CodeIPv6MultipleCompression:    {"IPv6-multiple-compression", `the IPv6 address has more than one "::"`},
	CodeIPv6InvalidCodePoint:       {"IPv6-invalid-code-point", "the IPv6 address holds an unexpected character or ends early"},
	CodeIPv6TooFewPieces:           {"IPv6-too-few-pieces", "the IPv6 address has fewer than eight pieces"},
	CodeIPv6PieceLeadingZero:       {"IPv6-piece-leading-zero", "a piece of the IPv6 address has a leading zero"},
	CodeIPv4InIPv6TooManyPieces:    {"IPv4-in-IPv6-too-many-pieces", "too many pieces stand before the embedded IPv4 address"},
	CodeIPv4InIPv6InvalidCodePoint: {"IPv4-in-IPv6-invalid-code-point", "the embedded IPv4 address is malformed"},
	CodeIPv4InIPv6OutOfRangePart:   {"IPv4-in-IPv6-out-of-range-part", "a part of the embedded IPv4 address exceeds 255"},
	CodeIPv4InIPv6TooFewParts:      {"IPv4-in-IPv6-too-few-parts", "the embedded IPv4 address has fewer than four parts"},
	CodeInvalidURLUnit:             {"invalid-URL-unit", "a character or percent sign that has to be percent-encoded, or removed white space"},
	CodeSpecialSchemeMissingFollowingSolidus: {
		"special-scheme-missing-following-solidus", `the scheme is not followed by exactly "//"`,
	},
	CodeMissingSchemeNonRelativeURL: {
		"missing-scheme-non-relative-URL", "there is no scheme, and no base URL to resolve a relative reference against",
	},
	CodeInvalidReverseSolidus:             {"invalid-reverse-solidus", "a backslash stands for a slash"},
	CodeInvalidCredentials:                {"invalid-credentials", "the URL holds credentials"},
	CodeHostMissing:                       {"host-missing", "the host is missing"},
	CodePortOutOfRange:                    {"port-out-of-range", "the port exceeds 65535"},
	CodePortInvalid:                       {"port-invalid", "the port holds something else than digits"},
	CodeFileInvalidWindowsDriveLetter:     {"file-invalid-Windows-drive-letter", "a relative reference begins with a drive letter"},
	CodeFileInvalidWindowsDriveLetterHost: {"file-invalid-Windows-drive-letter-host", "a drive letter stands in place of the host"},
	CodeInputTooLong:                      {"input-too-long", "the input is longer than 256 MiB, or in columns, serialized or not, than 64 MiB"},
}

// String returns the standard's name of the code, such as "host-missing", and "" for OK.
func (c Code) String() string {
	if c < codeCount {
		return codeTexts[c].name
	}
	return "code-" + strconv.Itoa(int(c))
}

// Text returns one clause of plain English that says what the code means.
func (c Code) Text() string {
	if c < codeCount {
		return codeTexts[c].text
	}
	return "unknown code"
}

// Codes returns all codes but OK in the order of their numbers. The caller owns the slice.
func Codes() []Code {
	all := make([]Code, 0, codeCount-1)
	for c := OK + 1; c < codeCount; c++ {
		all = append(all, c)
	}
	return all
}

// ValidationError is one validation error of an input, at the byte position in the original input where
// the parser noticed it.
type ValidationError struct {
	Code Code
	Pos  int
}

// Failure says why an input is no URL. Its zero value means success. Pos is the byte position in the
// original input, before white space is removed: that of the character at fault where there is one, of
// the component at fault otherwise, and the input's end when something is missing there.
type Failure struct {
	Code Code
	Pos  int
}

// OK reports whether there was no failure.
func (f Failure) OK() bool { return f.Code == OK }

// Err returns nil for success and otherwise an *[Error] with a copy of the input.
func (f Failure) Err(input []byte) error {
	if f.Code == OK {
		return nil
	}
	return &Error{Code: f.Code, Pos: f.Pos, Input: string(input)}
}

// Error is the error of the functions that take a string. Test for a reason with errors.As and Code.
type Error struct {
	Code  Code   // why
	Pos   int    // byte position in Input
	Input string // what was parsed
	Base  bool   // Input is the base URL, not the reference
}

// errorInputLimit bounds how much of the input an error message shows.
const errorInputLimit = 120

// Error says what could not be parsed, where and why.
func (e *Error) Error() string {
	what := "URL"
	if e.Base {
		what = "base URL"
	}
	return fmt.Sprintf("urlcore: %s %s: %s at byte %d: %s", what, quoted(e.Input), e.Code, e.Pos, e.Code.Text())
}

// quoted returns the beginning of an input for an error message.
func quoted(input string) string {
	if len(input) > errorInputLimit {
		return strconv.Quote(input[:errorInputLimit]) + "..."
	}
	return strconv.Quote(input)
}
