package rfc3986

import (
	"fmt"
	"strings"
)

// A Code says what the grammar does not accept. Codes are stable.
type Code uint8

const (
	// CodeScheme is a scheme that is not a letter followed by letters, digits, "+", "-" and ".".
	CodeScheme Code = iota + 1
	// CodeUserinfo is a character that userinfo can't have.
	CodeUserinfo
	// CodeHost is a character that a name can't have, or brackets without an address in them.
	CodeHost
	// CodePort is a character that is no digit in a port.
	CodePort
	// CodePath is a character that a path can't have.
	CodePath
	// CodeColon is a colon in the first segment of a relative reference.
	CodeColon
	// CodeQuery is a character that a query can't have.
	CodeQuery
	// CodeFragment is a character that a fragment can't have.
	CodeFragment
	// CodeBase is a base without a scheme: nothing can be resolved against it.
	CodeBase
)

// String returns a short description.
func (c Code) String() string {
	names := [...]string{
		"", "not a scheme", "character not allowed in userinfo", "not a host", "character not allowed in a port", "character not allowed in a path",
		"colon in the first segment of a relative reference", "character not allowed in a query", "character not allowed in a fragment", "base without a scheme",
	}
	if 0 < c && int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("rfc3986.Code(%d)", uint8(c))
}

// An Error says what is wrong with an input and at which byte. Functions return it as a pointer.
type Error struct {
	Code Code
	Pos  int // of the byte at which the grammar stops matching, which may be the end
}

// Error returns what is wrong and where.
func (e *Error) Error() string { return fmt.Sprintf("rfc3986: %v at position %d", e.Code, e.Pos) }

// Parse divides s like [Split] and accepts it when it is a URI-reference of the grammar: a URI when the result has a
// scheme, a relative reference otherwise, and an absolute-URI when it has a scheme and no fragment. A percent sign
// that begins no triplet is not allowed anywhere. The error is an [*Error]; the result is the zero Ref then.
func Parse(s string) (Ref, error) {
	r, err := parse(s)
	if err.Code != 0 {
		return Ref{}, &Error{err.Code, err.Pos} // err itself would always be on the heap
	}
	return r, nil
}

// parse is Parse with an error whose code is 0 for a match, so that matching allocates nothing.
func parse(s string) (Ref, Error) {
	r := Split(s)
	at := 0 // in s
	if r.HasScheme {
		if !isScheme(r.Scheme) {
			return Ref{}, Error{CodeScheme, schemeError(r.Scheme)}
		}
		at += len(r.Scheme) + 1
	}
	if r.HasAuthority {
		if _, err := parseAuthority(r.Authority); err.Code != 0 {
			return Ref{}, Error{err.Code, at + 2 + err.Pos}
		}
		at += 2 + len(r.Authority)
	}
	if n := pathClass.span(r.Path); n < len(r.Path) {
		return Ref{}, Error{CodePath, at + n}
	}
	if r.Path != "" && r.Path[0] == ':' && !r.HasScheme {
		// Any other colon in the first segment would have ended a scheme.
		return Ref{}, Error{CodeColon, at}
	}
	at += len(r.Path)
	if n := queryClass.span(r.Query); n < len(r.Query) {
		return Ref{}, Error{CodeQuery, at + 1 + n}
	}
	if r.HasQuery {
		at += 1 + len(r.Query)
	}
	if n := queryClass.span(r.Fragment); n < len(r.Fragment) {
		return Ref{}, Error{CodeFragment, at + 1 + n}
	}
	return r, Error{}
}

// schemeError returns where s, which is not empty, stops being a scheme.
func schemeError(s string) int {
	if !letterClass.has(s[0]) {
		return 0
	}
	return schemeClass.spanPlain(s)
}

// Auth is an authority, divided into its components. The Has fields tell an absent component from an empty one.
// There always is a host.
type Auth struct {
	Userinfo, Host, Port string
	HasUserinfo, HasPort bool
	Kind                 HostKind
}

// ParseAuthority divides an authority, without the slashes before it, when the grammar accepts it. The components are
// parts of s, the host with its brackets. The error is an [*Error]; the result is the zero Auth then.
func ParseAuthority(s string) (Auth, error) {
	a, err := parseAuthority(s)
	if err.Code != 0 {
		return Auth{}, &Error{err.Code, err.Pos} // err itself would always be on the heap
	}
	return a, nil
}

// parseAuthority is ParseAuthority with an error whose code is 0 for a match.
func parseAuthority(s string) (Auth, Error) {
	var a Auth
	rest := s
	if i := strings.IndexByte(s, '@'); i >= 0 {
		a.Userinfo, a.HasUserinfo, rest = s[:i], true, s[i+1:]
		if n := userinfoClass.span(a.Userinfo); n < i {
			return Auth{}, Error{CodeUserinfo, n}
		}
	}
	at := len(s) - len(rest)
	end := strings.IndexByte(rest, ':')
	if strings.HasPrefix(rest, "[") {
		if end = strings.IndexByte(rest, ']'); end >= 0 {
			end++
		}
	}
	if end < 0 {
		end = len(rest)
	}
	a.Host = rest[:end]
	kind, ok := hostKind(a.Host)
	if !ok {
		pos := 0 // of brackets as a whole
		if a.Host[0] != '[' {
			pos = regNameClass.span(a.Host)
		}
		return Auth{}, Error{CodeHost, at + pos}
	}
	a.Kind = kind
	if rest = rest[end:]; rest == "" {
		return a, Error{}
	}
	if rest[0] != ':' {
		return Auth{}, Error{CodeHost, at + end} // something after the bracket
	}
	a.Port, a.HasPort = rest[1:], true
	if n := digitClass.spanPlain(a.Port); n < len(a.Port) {
		return Auth{}, Error{CodePort, at + end + 1 + n}
	}
	return a, Error{}
}
