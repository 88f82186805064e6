package urlcore

import "net/netip"

// ParseHost is the standard's host parser with its serializer: it reads input as the host of a URL whose
// scheme is special or, with isOpaque, is not. Nothing is removed from the input, so white space in it is
// an error. The error is an *[Error].
//
// https://url.spec.whatwg.org/#concept-host-parser
func ParseHost(input string, isOpaque bool) (host string, kind HostKind, err error) {
	var p Parser
	if !p.parseHostAlone(input, isOpaque) {
		return "", HostNone, &Error{Code: p.failure.Code, Pos: p.failure.Pos, Input: input}
	}
	return string(p.u.buf), p.u.loc.host, nil
}

// parseHostAlone runs the host parser over input, with an empty buffer to begin with.
func (p *Parser) parseHostAlone(input string, isOpaque bool) bool {
	if len(input) > MaxInput {
		p.fail(CodeInputTooLong, 0)
		return false
	}
	p.in = appendWellFormed(nil, input)
	if !isOpaque {
		p.u.loc.scheme = schemeHTTPS
		if len(p.in) == 0 {
			p.fail(CodeHostMissing, 0)
			return false
		}
	}
	if p.parseHost(0, len(p.in)) {
		return true
	}
	walk := cleaner{in: stringBytes(input), keep: true}
	p.failure.Pos = walk.original(p.failure.Pos)
	return false
}

// Addr returns the host as an address, and false if it is none. IPv6 addresses come without a zone.
func (u *URL) Addr() (netip.Addr, bool) {
	host := u.Bytes(Host)
	switch u.loc.host {
	case HostIPv6:
		host = host[1 : len(host)-1]
	case HostIPv4:
	default:
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(string(host))
	return addr, err == nil
}
