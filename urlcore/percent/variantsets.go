package percent

import (
	"fmt"
	"iter"
	"strings"
)

// The classes of characters that the variants' own texts are written in.
const (
	digits     = "0123456789"
	letters    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	marks      = "-_.!~*'()"   // RFC 2396, section 2.3
	genDelims  = ":/?#[]@"     // RFC 3986, section 2.2
	subDelims  = "!$&'()*+,;=" // RFC 3986, section 2.2
	unreserved = letters + digits + "-._~"
	reserved12 = ";/?:@&=+$,[]" // RFC 3875, section 2.2
)

// The sets of variants of percent-encoding that are not the URL Standard's, each of those bytes that are encoded.
// Treat them as constants.
var (
	// EncodeURISet is the set of ECMAScript's encodeURI: all but letters, digits, "-_.!~*'()" and ";/?:@&=+$,#".
	EncodeURISet = allBut(letters + digits + marks + ";/?:@&=+$,#")
	// EncodeURIComponentSet is the set of ECMAScript's encodeURIComponent: all but letters, digits and "-_.!~*'()".
	// It has the same members as Component.
	EncodeURIComponentSet = allBut(letters + digits + marks)
	// EscapeSet is the set of ECMAScript's escape: all but letters, digits and "@*_+-./".
	EscapeSet = allBut(letters + digits + "@*_+-./")
	// Unreserved holds all but RFC 3986's unreserved characters: letters, digits and "-._~". OAuth 1.0 encodes these
	// bytes, and the simple expansion of URI Template.
	Unreserved = allBut(unreserved)
	// NotInURI holds the bytes that have no place in a URI but as triplets. The percent sign is a member.
	NotInURI = allBut(unreserved + genDelims + subDelims)
	// ALPN holds all but the token characters of HTTP less the percent sign.
	ALPN = allBut(letters + digits + "!#$&'*+-.^_`|~")
	// ExtValueSet holds all but the attr-char of RFC 8187.
	ExtValueSet = allBut(letters + digits + "!#$&+-.^_`|~")
	// NonASCII holds the bytes from 0x80 on.
	NonASCII = Set{2: ^uint64(0), 3: ^uint64(0)}
)

// A NamedSet is a set with the name of the text that defines it.
type NamedSet struct {
	Name string
	Set  Set
}

// Sets returns all sets of this package, those of the URL Standard first. The caller owns the slice.
func Sets() []NamedSet {
	return []NamedSet{
		{"C0 control", C0Control},
		{"fragment", Fragment},
		{"query", Query},
		{"special-query", SpecialQuery},
		{"path", Path},
		{"userinfo", Userinfo},
		{"component", Component},
		{"application/x-www-form-urlencoded", FormURLEncoded},
		{"encodeURI", EncodeURISet},
		{"encodeURIComponent", EncodeURIComponentSet},
		{"escape", EscapeSet},
		{"OAuth 1.0", Unreserved},
		{"URI Template simple", Unreserved},
		{"URI Template reserved", NotInURI},
		{"ALPN", ALPN},
		{"ext-value", ExtValueSet},
		{"CGI", must(CGISet(""))},
		{"IRI", NonASCII},
	}
}

// CGISet returns the set of RFC 3875, section 2.3, for a place in which the given characters are reserved:
// these, and all that are neither reserved anywhere nor unreserved, percent sign included. The other reserved
// characters are left as they are. An error tells the first of the given characters that is none of ";/?:@&=+$,[]".
func CGISet(reserved string) (Set, error) {
	for i := range len(reserved) {
		if strings.IndexByte(reserved12, reserved[i]) < 0 {
			return Set{}, &Error{Op: "CGI reserved characters", Code: CodeByte, Pos: i}
		}
	}
	return allBut(letters + digits + marks + reserved12).With(reserved), nil
}

// must returns the set of a call that can't fail.
func must(s Set, err error) Set {
	if err != nil {
		panic(err)
	}
	return s
}

// allBut returns the set of all bytes that are not in kept.
func allBut(kept string) Set {
	return Set{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}.Without(kept)
}

// Union returns the bytes that are members of s or of t.
func (s Set) Union(t Set) Set {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

// Minus returns the bytes that are members of s and not of t.
func (s Set) Minus(t Set) Set {
	for i := range s {
		s[i] &^= t[i]
	}
	return s
}

// SubsetOf reports whether every member of s is one of t.
func (s Set) SubsetOf(t Set) bool { return s.Minus(t) == Set{} }

// Members ranges over the members in ascending order.
func (s Set) Members() iter.Seq[byte] {
	return func(yield func(byte) bool) {
		for b := range 256 {
			if s.Has(byte(b)) && !yield(byte(b)) {
				return
			}
		}
	}
}

// Printable returns the members that are printable ASCII characters, space among them, in ascending order.
func (s Set) Printable() string {
	var text []byte
	for b := range s.Members() {
		if ' ' <= b && b <= '~' {
			text = append(text, b)
		}
	}
	return string(text)
}

// String describes the set by its printable members and tells which of C0 controls, U+007F and bytes above are
// members, as far as all or none of them are.
func (s Set) String() string {
	text := fmt.Sprintf("%q", s.Printable())
	rest := C0Control.Minus(NonASCII)
	for _, part := range []struct {
		name string
		set  Set
	}{{"controls", rest}, {"non-ASCII", NonASCII}} {
		switch {
		case part.set.SubsetOf(s):
			text += " and " + part.name
		case part.set.Minus(s) != part.set:
			text += " and some " + part.name
		}
	}
	return text
}
