package urlcore

import "unsafe"

// Parse parses an absolute URL. The error is an *[Error].
func Parse(input string) (*URL, error) {
	return ParseRef(input, nil)
}

// ParseRef parses input, which may be relative, against base. A nil base means that there is none. The
// error is an *[Error].
//
// https://url.spec.whatwg.org/#dom-url-url
func ParseRef(input string, base *URL) (*URL, error) {
	var p Parser
	u := new(URL)
	if f := p.Parse(u, stringBytes(input), base); !f.OK() {
		return nil, &Error{Code: f.Code, Pos: f.Pos, Input: input}
	}
	return u, nil
}

// ParseWithBase parses input against a base given as a string, which is parsed alone beforehand: the URL
// class's constructor with two arguments. The error is an *[Error]; its Base field says whether the base
// was at fault.
//
// https://url.spec.whatwg.org/#api-url-parser
func ParseWithBase(input, base string) (*URL, error) {
	var p Parser
	var b URL
	if f := p.Parse(&b, stringBytes(base), nil); !f.OK() {
		return nil, &Error{Code: f.Code, Pos: f.Pos, Input: base, Base: true}
	}
	u := new(URL)
	if f := p.Parse(u, stringBytes(input), &b); !f.OK() {
		return nil, &Error{Code: f.Code, Pos: f.Pos, Input: input}
	}
	return u, nil
}

// MustParse is [Parse] for URLs that are known to be right, such as constants. It panics on an error.
func MustParse(input string) *URL {
	u, err := Parse(input)
	if err != nil {
		panic(err)
	}
	return u
}

// CanParse reports whether input is an absolute URL.
//
// https://url.spec.whatwg.org/#dom-url-canparse
func CanParse(input string) bool {
	var p Parser
	return p.parse(stringBytes(input), nil)
}

// CanParseWithBase reports whether base is an absolute URL and input can be parsed against it.
func CanParseWithBase(input, base string) bool {
	var p Parser
	var b URL
	return p.Parse(&b, stringBytes(base), nil).OK() && p.parse(stringBytes(input), &b)
}

// Resolve parses ref against u.
func (u *URL) Resolve(ref string) (*URL, error) { return ParseRef(ref, u) }

// stringBytes returns the bytes of s without copying them. The parser only reads its input.
func stringBytes(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
