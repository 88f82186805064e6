package canon

import "bytes"

// parts are the components of a serialized URL.
type parts struct {
	scheme       []byte // without the colon
	hasAuthority bool
	userinfo     []byte // without the at sign
	host         []byte // with the brackets of an IPv6 address
	port         []byte // without the colon
	path         []byte
	query        []byte // with the question mark
	fragment     []byte // with the number sign
}

// split takes a serialized URL apart. The parts alias href.
//
// Source: https://url.spec.whatwg.org/#concept-url-serializer, backwards
func split(href []byte) (u parts) {
	rest := href
	if i := bytes.IndexByte(rest, '#'); i >= 0 {
		rest, u.fragment = rest[:i], rest[i:]
	}
	if i := bytes.IndexByte(rest, '?'); i >= 0 {
		rest, u.query = rest[:i], rest[i:]
	}
	i := bytes.IndexByte(rest, ':')
	if i < 0 {
		u.path = rest
		return u
	}
	u.scheme, rest = rest[:i], rest[i+1:]
	if len(rest) < 2 || rest[0] != '/' || rest[1] != '/' {
		u.path = rest
		return u
	}
	u.hasAuthority = true
	rest = rest[2:]
	end := bytes.IndexByte(rest, '/')
	if end < 0 {
		end = len(rest)
	}
	authority := rest[:end]
	u.path = rest[end:]
	if i := bytes.LastIndexByte(authority, '@'); i >= 0 {
		u.userinfo, authority = authority[:i], authority[i+1:]
	}
	if i := bytes.LastIndexByte(authority, ':'); i >= 0 && bytes.IndexByte(authority[i:], ']') < 0 {
		authority, u.port = authority[:i], authority[i+1:]
	}
	u.host = authority
	return u
}
