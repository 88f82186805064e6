package urlcore

import (
	"bytes"
	"slices"
)

// The state machine handles every input. Most inputs in practice are absolute http and https URLs that are
// written as they are serialized, but perhaps for a path that is left out; for those parseClean finds the
// parts in one pass and copies the input. It declines all others before it has written anything.

// parseClean parses input into dst and returns true, or leaves both alone and returns false.
func (p *Parser) parseClean(dst *URL, input []byte) bool {
	l := location{port: -1}
	rest := input
	switch {
	case bytes.HasPrefix(rest, []byte("https://")):
		l.scheme, l.schemeEnd = schemeHTTPS, uint32(len("https"))
	case bytes.HasPrefix(rest, []byte("http://")):
		l.scheme, l.schemeEnd = schemeHTTP, uint32(len("http"))
	default:
		return false
	}
	i := int(l.schemeEnd) + len("://")
	l.userEnd, l.hostStart = uint32(i), uint32(i)
	if i = scanCleanHost(input, i); i < 0 {
		return false
	}
	l.host, l.hostEnd = HostDomain, uint32(i)
	if i < len(input) && input[i] == ':' {
		if i, l.port = scanCleanPort(input, i+1); l.port < 0 || l.port == l.scheme.defaultPort() {
			return false
		}
	}
	l.pathStart = uint32(i)
	noPath := i == len(input) || input[i] != '/'
	if i = scanCleanPath(input, i); i < 0 {
		return false
	}
	l.queryStart = uint32(i)
	if i < len(input) && input[i] == '?' {
		i = scanUntil(input, i+1, isEncodedSpecial) // which holds the number sign
	}
	l.fragStart = uint32(i)
	if i < len(input) {
		if input[i] != '#' || scanUntil(input, i+1, isEncodedFragment) < len(input) {
			return false
		}
	}
	if noPath {
		if cap(dst.buf) <= len(input) {
			dst.buf = make([]byte, 0, len(input)+1)
		}
		dst.buf = slices.Insert(append(dst.buf[:0], input...), int(l.pathStart), '/')
		l.queryStart++
		l.fragStart++
	} else {
		dst.buf = append(dst.buf[:0], input...)
	}
	dst.loc = l
	return true
}

// scanCleanHost returns the end of the host at i, or -1 if that is no domain of lower-case letters, digits,
// hyphens, underscores and dots, or could be an IPv4 address.
func scanCleanHost(s []byte, i int) int {
	start, label := i, i
	for i < len(s) && class[s[i]]&isCleanHostByte != 0 {
		if s[i] == '.' {
			label = i + 1
		}
		i++
	}
	if i == start || i < len(s) && !isOneOf(s[i], "/:?#") || label == i || isDigit(s[label]) {
		return -1
	}
	return i
}

// scanCleanPort returns the end of the port at i and its number, which is -1 if it is not written as it is
// serialized.
func scanCleanPort(s []byte, i int) (end int, port int32) {
	start := i
	for i < len(s) && i-start < 5 && isDigit(s[i]) {
		port = port*10 + int32(s[i]-'0')
		i++
	}
	if i == start || s[start] == '0' || port > 65535 || i < len(s) && !isOneOf(s[i], "/?#") {
		return i, -1
	}
	return i, port
}

// scanCleanPath returns the end of the path at i, or -1 if something in it has to be encoded or resolved.
func scanCleanPath(s []byte, i int) int {
	for ; i < len(s); i++ {
		c := s[i]
		if class[c]&isPathStop == 0 {
			continue
		}
		if c == '?' || c == '#' {
			return i
		}
		if c != '/' || mayBeDotSegment(s[i+1:]) {
			return -1
		}
	}
	return i
}

// mayBeDotSegment reports whether s begins like a single-dot or double-dot segment.
func mayBeDotSegment(s []byte) bool {
	switch {
	case len(s) == 0:
		return false
	case s[0] == '.':
		return len(s) == 1 || isOneOf(s[1], "./?#%")
	}
	return s[0] == '%' && len(s) >= 3 && s[1] == '2' && s[2]|0x20 == 'e'
}

// scanUntil returns the position of the first byte of a class, from i on, or the end.
func scanUntil(s []byte, i int, bit uint16) int {
	for i < len(s) && class[s[i]]&bit == 0 {
		i++
	}
	return i
}
