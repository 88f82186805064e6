package compat

import "strings"

// ClickHouse is a URL as the URL functions of ClickHouse 25.8 read it: they look for the characters that end parts, and
// check nothing else. A method is the function of its name with a small first letter. What is missing is "", as there.
// Values are substrings of the URL, but for what is put together: nothing is decoded, and no letter changes its case.
type ClickHouse string

// The longest beginning of a text that ClickHouse looks for a scheme in when it wants a host.
const schemeWindow = 16

// forbidden are the characters for which a host is none at all.
var forbidden = newSet(false, " \t<>%{}|\\^~[];=&")

// afterScheme returns where the authority would begin, and false when there is a character that no host may follow.
func (u ClickHouse) afterScheme() (int, bool) {
	if strings.HasPrefix(string(u), "//") {
		return 2, true
	}
	window := u[:min(len(u), schemeWindow)]
	for i := 1; i < len(window); i++ {
		switch c := window[i]; {
		case schemeChars.has(c):
		case forbidden.has(c):
			return 0, false
		case strings.HasPrefix(string(window[i:]), "://"):
			return i + 3, true
		default:
			return 0, true
		}
	}
	return 0, true
}

// domain returns [start, end) of the host, which is empty for a host without a dot.
func (u ClickHouse) domain() (start, end int) {
	start, ok := u.afterScheme()
	if !ok {
		return 0, 0
	}
	dot := -1
	end = start
scan:
	for ; end < len(u); end++ {
		switch c := u[end]; {
		case c == '.':
			dot = end
		case c == ':' || c == '/' || c == '?' || c == '#':
			break scan
		case c == '@':
			start = end + 1
		case forbidden.has(c):
			return 0, 0
		}
	}
	if dot < 0 || start >= end || dot == end-1 {
		return 0, 0
	}
	return start, end
}

// Protocol is the scheme, where three characters at least follow its colon.
func (u ClickHouse) Protocol() string {
	i := 0
	for i < len(u) && (alpha.has(u[i]) || i > 0 && schemeChars.has(u[i])) {
		i++
	}
	if i == 0 || len(u)-i < 4 || u[i] != ':' {
		return ""
	}
	return string(u[:i])
}

// Domain is the host: "" for one without a dot, for addresses of IPv6, and where one of "%~;=&" is before its end.
func (u ClickHouse) Domain() string {
	start, end := u.domain()
	return string(u[start:end])
}

// DomainWithoutWWW is the host without "www." at its beginning.
func (u ClickHouse) DomainWithoutWWW() string { return withoutWWW(u.Domain()) }

func withoutWWW(host string) string {
	const www = "www."
	if len(host) > len(www) {
		return strings.TrimPrefix(host, www)
	}
	return host
}

// TopLevelDomain is the last label of the host, unless it begins with a digit.
func (u ClickHouse) TopLevelDomain() string {
	host := u.Domain()
	dot := strings.LastIndexByte(host, '.')
	if dot < 0 || digit.has(host[dot+1]) {
		return ""
	}
	return host[dot+1:]
}

// Port is the port, or fallback where there is none or no host that [ClickHouse.Domain] gives. The fallback stands before
// the digits of the URL as if they were all one number, as in ClickHouse: port('http://a.b:8', 1) is 18.
func (u ClickHouse) Port(fallback uint16) uint16 {
	_, end := u.domain()
	if end == 0 || end == len(u) || u[end] != ':' {
		return fallback
	}
	port := int(fallback)
	for _, c := range []byte(u[end+1:]) {
		if c == '/' {
			break
		}
		if port = port*10 + int(c) - '0'; !digit.has(c) || port > 1<<16-1 {
			return fallback
		}
	}
	return uint16(port)
}

// Path is what begins with the first slash, or with the next one behind it where another follows it at once, up to a "?" or
// "#". Slashes of a query count, too, where no path comes before it.
func (u ClickHouse) Path() string {
	path := u.PathFull()
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		return path[:i]
	}
	return path
}

// PathFull is the path with the query and the fragment.
func (u ClickHouse) PathFull() string {
	slash := strings.IndexByte(string(u), '/')
	if slash < 0 {
		return ""
	}
	rest := string(u[slash:])
	if !strings.HasPrefix(rest, "//") {
		return rest
	}
	next := strings.IndexByte(rest[2:], '/')
	if next < 0 {
		return ""
	}
	return rest[2+next:]
}

// QueryString is what is between the first "?" and the "#" behind it, also where that "?" is of the fragment.
func (u ClickHouse) QueryString() string {
	_, rest, _ := strings.Cut(string(u), "?")
	query, _, _ := strings.Cut(rest, "#")
	return query
}

// Fragment is what is behind the first "#".
func (u ClickHouse) Fragment() string {
	_, fragment, _ := strings.Cut(string(u), "#")
	return fragment
}

// QueryStringAndFragment is what is behind the first "?", or what begins with the first "#" where there is none.
func (u ClickHouse) QueryStringAndFragment() string {
	if _, rest, ok := strings.Cut(string(u), "?"); ok {
		return rest
	}
	if i := strings.IndexByte(string(u), '#'); i >= 0 {
		return string(u[i:])
	}
	return ""
}

// Netloc is the authority, with what is behind it up to the last slash, or up to the last "?" where that comes before:
// netloc('http://a.b/c/d') is "a.b/c".
func (u ClickHouse) Netloc() string {
	start, ok := u.netlocStart()
	if !ok {
		return ""
	}
	credentials := false
	question, slash, other := len(u), len(u), len(u)
	for i := start; i < len(u); i++ {
		switch c := u[i]; {
		case c == '#', credentials && (c == '/' || c == '?'):
			return string(u[start:i])
		case c == '/':
			slash = i
		case c == '?':
			question = i
		case c == '@':
			credentials = true
			other = len(u)
		case !credentials && strings.IndexByte(";=&~%", c) >= 0:
			other = i
		case forbidden.has(c):
			return string(u[start:min(i, question, slash)])
		}
	}
	if credentials {
		return string(u[start:])
	}
	return string(u[start:min(question, slash, other)])
}

// netlocStart is afterScheme, but that "//" alone is no authority.
func (u ClickHouse) netlocStart() (int, bool) {
	if u == "//" {
		return 0, true
	}
	return u.afterScheme()
}

// CutWWW is the URL without "www." before its host.
func (u ClickHouse) CutWWW() string {
	s := string(u)
	slash := strings.IndexByte(s, '/')
	if slash < 0 || !strings.HasPrefix(s[slash:], "//") || slash > 0 && slash != len(u.Protocol())+1 {
		return s
	}
	start := slash + 2
	for i := start; i < len(s) && strings.IndexByte(":/?#", s[i]) < 0; i++ {
		if s[i] == '@' {
			start = i + 1
		}
	}
	const www = "www."
	if start+len(www) < len(s) && strings.HasPrefix(s[start:], www) {
		return s[:start] + s[start+len(www):]
	}
	return s
}

// CutQueryString is the URL without its query string and the "?" before it.
func (u ClickHouse) CutQueryString() string {
	i := strings.IndexByte(string(u), '?')
	if i < 0 {
		return string(u)
	}
	if n := strings.IndexByte(string(u[i:]), '#'); n >= 0 {
		return string(u[:i] + u[i+n:])
	}
	return string(u[:i])
}

// CutFragment is the URL without its fragment and the "#" before it.
func (u ClickHouse) CutFragment() string {
	s, _, _ := strings.Cut(string(u), "#")
	return s
}

// CutQueryStringAndFragment is the URL up to the first "?", or up to the first "#" where there is none.
func (u ClickHouse) CutQueryStringAndFragment() string {
	if s, _, ok := strings.Cut(string(u), "?"); ok {
		return s
	}
	return u.CutFragment()
}

// Basename is what is behind the last slash or backslash.
func (u ClickHouse) Basename() string {
	return string(u[strings.LastIndexAny(string(u), `/\`)+1:])
}
