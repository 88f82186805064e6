package compat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// set is a set of ASCII characters. With escapes in it, escape sequences and visible characters beyond ASCII belong to it,
// too.
type set struct {
	bits    [2]uint64
	escapes bool
}

func (s set) has(c byte) bool { return c < utf8.RuneSelf && s.bits[c>>6]&(1<<(c&63)) != 0 }

func newSet(escapes bool, chars string, others ...set) set {
	s := set{escapes: escapes}
	for i := range len(chars) {
		s.bits[chars[i]>>6] |= 1 << (chars[i] & 63)
	}
	for _, o := range others {
		s.bits[0] |= o.bits[0]
		s.bits[1] |= o.bits[1]
	}
	return s
}

// The classes of characters of RFC 2396, appendix A, with the brackets of RFC 2732.
var (
	digit        = newSet(false, "0123456789")
	alpha        = newSet(false, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
	alphanumeric = newSet(false, "", digit, alpha)
	hexDigit     = newSet(false, "ABCDEFabcdef", digit)
	unreserved   = newSet(false, "-_.!~*'()", alphanumeric)

	schemeChars   = newSet(false, "+-.", alphanumeric)
	uricChars     = newSet(true, ";/?:@&=+$,[]", unreserved)
	pathChars     = newSet(true, ":@&=+$,;/", unreserved)
	userInfoChars = newSet(true, ";:&=+$,", unreserved)
	regNameChars  = newSet(true, "$,;:@&=+", unreserved)
	serverChars   = newSet(true, ".:@[]-", userInfoChars)
	// With "[" and "]" around it, a percent sign may stand before the scope of an address instead of an escape.
	serverPercentChars = newSet(true, "%", serverChars)
	scopeChars         = newSet(false, "_.", alphanumeric)
	addressChars       = newSet(false, ".", digit)
	labelChars         = newSet(false, "-", alphanumeric)
)

// uriParser reads a text as java.net.URI does, which follows RFC 2396, and goes on where that says no: relative paths may be
// empty, and so may an authority with something behind it. Positions are those of bytes: what the grammar looks for is ASCII.
type uriParser struct {
	in      string
	out     Spark
	failure *SparkError // the first
}

// fail notes a failure and returns the end of the text, so that nothing is read any more.
func (p *uriParser) fail(reason string, pos int) int {
	if p.failure == nil {
		p.failure = &SparkError{Pos: pos, Reason: reason}
	}
	return len(p.in)
}

func (p *uriParser) at(i, end int, c byte) bool { return i < end && p.in[i] == c }

// until returns the first position of one of chars in [i, end), or end.
func (p *uriParser) until(i, end int, chars string) int {
	if n := strings.IndexAny(p.in[i:end], chars); n >= 0 {
		return i + n
	}
	return end
}

// span returns the end of the characters of s from i on.
func (p *uriParser) span(i, end int, s set) int {
	for i < end {
		c := p.in[i]
		switch {
		case s.has(c):
			i++
		case !s.escapes:
			return i
		case c == '%':
			if i+3 > end || !hexDigit.has(p.in[i+1]) || !hexDigit.has(p.in[i+2]) {
				return p.fail("Malformed escape pair", i)
			}
			i += 3
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(p.in[i:end])
			if !visible(r) {
				return i
			}
			i += n
		default:
			return i
		}
	}
	return i
}

// visible reports whether Java allows r, which is beyond ASCII, unescaped: spaces and control characters it does not.
func visible(r rune) bool {
	return r > 0x9f && !unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp)
}

// check fails unless [i, end) is of s.
func (p *uriParser) check(i, end int, s set, what string) {
	if n := p.span(i, end, s); n < end {
		p.fail("Illegal character in "+what, n)
	}
}

// parse reads [scheme:]rest[#fragment].
func (p *uriParser) parse() {
	n := len(p.in)
	i, opaque := 0, false
	if colon := p.until(0, n, "/?#:"); p.at(colon, n, ':') {
		i = p.scheme(colon)
		opaque = !p.at(i, n, '/')
	}
	if opaque {
		i = p.opaque(i)
	} else {
		i = p.hierarchy(i)
	}
	if p.failure == nil && p.at(i, n, '#') {
		p.check(i+1, n, uricChars, "fragment")
		p.out.ref = part{p.in[i+1:], true}
	}
}

// scheme reads the scheme before the colon and returns what is behind it.
func (p *uriParser) scheme(colon int) int {
	if colon == 0 {
		return p.fail("Expected scheme name", 0)
	}
	p.check(0, 1, alpha, "scheme name")
	p.check(1, colon, schemeChars, "scheme name")
	p.out.protocol = part{p.in[:colon], true}
	return colon + 1
}

// opaque reads what has no slash behind its scheme: it is no part that Spark asks for.
func (p *uriParser) opaque(i int) int {
	end := p.until(i, len(p.in), "#")
	if end <= i {
		return p.fail("Expected scheme-specific part", i)
	}
	p.check(i, end, uricChars, "opaque part")
	return end
}

// hierarchy reads [//authority]path[?query].
func (p *uriParser) hierarchy(i int) int {
	n := len(p.in)
	if p.at(i, n, '/') && p.at(i+1, n, '/') {
		i += 2
		switch end := p.until(i, n, "/?#"); {
		case end > i:
			p.authority(i, end)
			i = end
		case end == n:
			return p.fail("Expected authority", i)
		}
	}
	end := p.until(i, n, "?#")
	p.check(i, end, pathChars, "path")
	p.out.path = part{p.in[i:end], true}
	i = end
	if p.at(i, n, '?') {
		end = p.until(i+1, n, "#")
		p.check(i+1, end, uricChars, "query")
		p.out.query = part{p.in[i+1 : end], true}
		i = end
	}
	return i
}

// authority reads a server, or else a name of a registry, which has no host.
func (p *uriParser) authority(i, end int) {
	chars := serverChars
	if p.in[i] != ']' {
		chars = serverPercentChars
	}
	server := p.span(i, end, chars)
	name := p.span(i, end, regNameChars)
	if p.failure != nil {
		return
	}
	if server == end {
		p.server(i, end)
		if p.failure == nil {
			p.out.authority = part{p.in[i:end], true}
			return
		}
		if p.failure.Fatal {
			return
		}
		p.out.userInfo, p.out.host = part{}, part{}
	}
	if name == end {
		p.failure = nil
		p.out.authority = part{p.in[i:end], true}
		return
	}
	p.fail("Illegal character in authority", name) // unless what is wrong with the server is known
}
