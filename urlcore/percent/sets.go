package percent

// Set is a percent-encode set of the URL Standard as a bitmap over the 256 byte values: bit b%64 of
// word b/64 says whether byte b is a member, that is, whether it has to be percent-encoded.
//
// The standard's sets are sets of code points that hold everything above U+007E. In UTF-8 such a code
// point is made of bytes from 0x80 on, so a bitmap in which those bytes are members encodes them all.
// Sets are compared with ==.
type Set [4]uint64

// The percent-encode sets of https://url.spec.whatwg.org/#percent-encoded-bytes. Each is written as the
// standard defines it: a smaller set and what is added. Treat them as constants.
var (
	// C0Control holds the C0 controls and everything above U+007E (~).
	C0Control = controls()
	// Fragment is used for the fragment of every URL.
	Fragment = C0Control.With(" \"<>`")
	// Query is used for the query of URLs whose scheme is not special.
	Query = C0Control.With(" \"#<>")
	// SpecialQuery is used for the query of URLs with a special scheme.
	SpecialQuery = Query.With("'")
	// Path is used for path segments; the opaque path uses C0Control.
	Path = Query.With("?^`{}")
	// Userinfo is used for username and password.
	Userinfo = Path.With("/:;=@[\\]|")
	// Component makes the same output as ECMAScript's encodeURIComponent.
	Component = Userinfo.With("$%&+,")
	// FormURLEncoded is used by the application/x-www-form-urlencoded serializer, which writes a space as
	// a plus sign beforehand. Only ASCII letters, digits and * - . _ are left alone.
	FormURLEncoded = Component.With("!'()~")
)

// Has reports whether b is a member, that is, whether it is percent-encoded.
func (s *Set) Has(b byte) bool {
	return s[b>>6]>>(b&63)&1 != 0
}

// With returns the union of s and the bytes of chars.
func (s Set) With(chars string) Set {
	for i := range len(chars) {
		s[chars[i]>>6] |= 1 << (chars[i] & 63)
	}
	return s
}

// Without returns s less the bytes of chars.
func (s Set) Without(chars string) Set {
	for i := range len(chars) {
		s[chars[i]>>6] &^= 1 << (chars[i] & 63)
	}
	return s
}

// controls builds the C0 control percent-encode set from its definition.
func controls() Set {
	var s Set
	for b := range 256 {
		if b < ' ' || b > '~' {
			s[b>>6] |= 1 << (b & 63)
		}
	}
	return s
}
