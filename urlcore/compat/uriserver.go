package compat

import "strings"

// server reads [user information@]host[:port].
func (p *uriParser) server(i, end int) {
	if at := p.until(i, end, "@"); at < end {
		p.check(i, at, userInfoChars, "user info")
		p.out.userInfo = part{p.in[i:at], true}
		i = at + 1
	}
	start := i
	if p.at(i, end, '[') {
		i = p.literal(i, end)
	} else if i = p.ipv4Host(start, end); i < 0 {
		i = p.hostname(start, end)
	}
	if p.failure != nil {
		return
	}
	p.out.host = part{p.in[start:i], true}
	switch {
	case i == end:
	case p.in[i] != ':':
		p.fail("Expected port number", i)
	default:
		p.check(i+1, end, digit, "port number")
		if !fitsInt(p.in[i+1 : end]) {
			p.fail("Malformed port number", i+1)
		}
	}
}

// fitsInt reports whether digits are a number of 31 bits.
func fitsInt(digits string) bool {
	const most = "2147483647"
	digits = strings.TrimLeft(digits, "0")
	return len(digits) < len(most) || len(digits) == len(most) && digits <= most
}

// literal reads an address in brackets, which may have a scope, and returns what is behind it.
func (p *uriParser) literal(open, end int) int {
	i := open + 1
	closing := p.until(i, end, "]")
	if closing == i || closing == end {
		return p.fail("Expected closing bracket for IPv6 address", closing)
	}
	address := p.until(i, closing, "%")
	if address == i {
		address = closing // there is no address before the sign: it is what is wrong with it
	}
	p.ipv6(i, address)
	if address < closing {
		if address+1 == closing {
			return p.fail("scope id expected", closing)
		}
		p.check(address+1, closing, scopeChars, "scope id")
	}
	return closing + 1
}

// hostname reads labels with dots between them, of which the last begins with a letter, unless there is only one.
func (p *uriParser) hostname(start, end int) int {
	i, last := start, -1
	for i < end {
		if !alphanumeric.has(p.in[i]) {
			break
		}
		last = i
		i = p.span(i, end, labelChars)
		if p.in[i-1] == '-' {
			return p.fail("Illegal character in hostname", i-1)
		}
		if !p.at(i, end, '.') {
			break
		}
		i++
	}
	switch {
	case i < end && p.in[i] != ':':
		return p.fail("Illegal character in hostname", i)
	case last < 0:
		return p.fail("Expected hostname", start)
	case last > start && !alpha.has(p.in[last]):
		return p.fail("Illegal character in hostname", last)
	}
	return i
}

// octet returns the end of a number of at most 255 from i on, or i. A number of more than 31 bits is fatal: Java's own
// parser of numbers throws then.
func (p *uriParser) octet(i, end int) int {
	n := p.span(i, end, digit)
	if n == i {
		return i
	}
	if !fitsInt(p.in[i:n]) {
		p.fail("For input string: "+p.in[i:n], i)
		p.failure.Fatal = true
		return i
	}
	if digits := strings.TrimLeft(p.in[i:n], "0"); len(digits) > 3 || len(digits) == 3 && digits > "255" {
		return i
	}
	return n
}

// ipv4 reads an address of [i, end), which has digits and dots only, and returns its end, or -1 and where it is wrong.
func (p *uriParser) ipv4(i, end int) (next, wrong int) {
	for k := range 4 {
		if k > 0 {
			if !p.at(i, end, '.') {
				return -1, i
			}
			i++
		}
		n := p.octet(i, end)
		if n == i {
			return -1, i
		}
		i = n
	}
	if i < end {
		return -1, i
	}
	return i, 0
}

// ipv4Host returns the end of an IPv4 address from i on with nothing but a port behind it, or -1. What is wrong with it is
// nothing to it: it may be a name.
func (p *uriParser) ipv4Host(i, end int) int {
	digits := p.span(i, end, addressChars)
	if digits == i {
		return -1
	}
	before := p.failure
	next, _ := p.ipv4(i, digits)
	p.failure = before
	if next >= 0 && next < end && p.in[next] != ':' {
		return -1
	}
	return next
}

// ipv6 reads the IPv6 address [start, end): groups, one gap at most, an IPv4 address at the end.
func (p *uriParser) ipv6(start, end int) {
	i, size := p.groups(start, end)
	if p.failure != nil {
		return
	}
	gap := strings.HasPrefix(p.in[i:end], "::")
	switch {
	case gap:
		var more int
		i, more = p.afterGap(i+2, end)
		size += more
	case i > start && p.at(i, end, ':'):
		i = p.ipv4Tail(i+1, end, "IPv4 address")
		size += 4
	}
	switch {
	case i < end:
		p.fail("Malformed IPv6 address", start)
	case size > 16:
		p.fail("IPv6 address too long", start)
	case !gap && size < 16:
		p.fail("IPv6 address too short", start)
	case gap && size == 16:
		p.fail("Malformed IPv6 address", start)
	}
}

// afterGap reads what is behind a gap and returns its end and how many bytes of the address it has.
func (p *uriParser) afterGap(start, end int) (i, size int) {
	if start == end {
		return start, 0
	}
	const want = "hex digits or IPv4 address"
	i, size = p.groups(start, end)
	switch {
	case p.failure != nil:
		return i, size
	case i == start:
		return p.ipv4Tail(i, end, want), 4
	case p.at(i, end, ':'):
		return p.ipv4Tail(i+1, end, want), size + 4
	}
	return i, size
}

// ipv4Tail reads the IPv4 address that an IPv6 address ends in.
func (p *uriParser) ipv4Tail(i, end int, want string) int {
	if digits := p.span(i, end, addressChars); digits == i || digits != end {
		return p.fail("Expected "+want, i)
	}
	next, wrong := p.ipv4(i, end)
	if next < 0 {
		return p.fail("Malformed IPv4 address", wrong)
	}
	return next
}

// groups reads groups of hexadecimal digits with colons between them, up to a gap or an IPv4 address, and returns their end,
// which is start where there is none, and their size in bytes.
func (p *uriParser) groups(start, end int) (i, size int) {
	i = start
	for first := true; ; first = false {
		group := i
		if !first {
			if !p.at(i, end, ':') || p.at(i+1, end, ':') {
				return i, size
			}
			group++
		}
		next := p.span(group, end, hexDigit)
		switch {
		case first && next == group:
			return start, 0
		case next == group:
			return p.fail("Expected digits for an IPv6 address", group), size
		case p.at(next, end, '.'): // an IPv4 address begins
			return i, size
		case next > group+4:
			return p.fail("IPv6 hexadecimal digit sequence too long", group), size
		}
		i, size = next, size+2
	}
}
