package rfc3986

import "strings"

// HostKind tells the alternatives of the host production apart.
type HostKind uint8

const (
	// HostName is a registered name, which may be empty.
	HostName HostKind = iota
	// HostIPv4 is an IPv4 address of four decimal numbers. It would be a name as well; the RFC's rule is that
	// the address goes first.
	HostIPv4
	// HostIPv6 is an IPv6 address in brackets.
	HostIPv6
	// HostFuture is an address of a later version in brackets.
	HostFuture
)

// String returns "reg-name", "IPv4address", "IPv6address" or "IPvFuture".
func (k HostKind) String() string {
	switch k {
	case HostIPv4:
		return IPv4Address.String()
	case HostIPv6:
		return IPv6Address.String()
	case HostFuture:
		return IPvFuture.String()
	default:
		return RegName.String()
	}
}

// hostKind returns which alternative of host the whole of s is, and whether it is any.
func hostKind(s string) (HostKind, bool) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		switch {
		case !ok:
			return 0, false
		case isIPv6(inner):
			return HostIPv6, true
		default:
			return HostFuture, isIPvFuture(inner)
		}
	}
	if isIPv4(s) {
		return HostIPv4, true
	}
	return HostName, regNameClass.span(s) == len(s)
}

// isIPvFuture matches "v", hexadecimal digits, a dot, and unreserved characters, sub-delims and colons.
func isIPvFuture(s string) bool {
	if s == "" || s[0]|0x20 != 'v' {
		return false
	}
	version, rest, _ := strings.Cut(s[1:], ".")
	return version != "" && hexClass.spanPlain(version) == len(version) &&
		rest != "" && userinfoClass.spanPlain(rest) == len(rest)
}

// isIPv6 matches the nine forms of IPv6address: eight pieces of 16 bits, or up to seven and one "::" among them or at an
// end, where an IPv4 address may stand for the last two.
func isIPv6(s string) bool {
	pieces, compressed := 0, false
	if strings.HasPrefix(s, "::") {
		compressed = true
		s = s[2:]
	}
	for s != "" {
		end := strings.IndexByte(s, ':')
		if end < 0 { // the last piece
			switch {
			case isH16(s):
				pieces++
			case isIPv4(s):
				pieces += 2
			default:
				return false
			}
			break
		}
		if !isH16(s[:end]) {
			return false
		}
		pieces++
		s = s[end+1:]
		switch {
		case s == "":
			return false // a colon at the end
		case s[0] == ':':
			if compressed {
				return false
			}
			compressed = true
			s = s[1:]
		}
	}
	return pieces == 8 && !compressed || pieces < 8 && compressed
}

// isH16 matches one to four hexadecimal digits.
func isH16(s string) bool {
	return 1 <= len(s) && len(s) <= 4 && hexClass.spanPlain(s) == len(s)
}

// isLS32 matches the last 32 bits of an IPv6 address.
func isLS32(s string) bool {
	high, low, ok := strings.Cut(s, ":")
	return ok && isH16(high) && isH16(low) || isIPv4(s)
}

// isIPv4 matches four decimal numbers up to 255, without leading zeros.
func isIPv4(s string) bool {
	for range 3 {
		octet, rest, ok := strings.Cut(s, ".")
		if !ok || !isDecOctet(octet) {
			return false
		}
		s = rest
	}
	return isDecOctet(s)
}

func isDecOctet(s string) bool {
	if len(s) == 0 || len(s) > 3 || digitClass.spanPlain(s) != len(s) || len(s) > 1 && s[0] == '0' {
		return false
	}
	return len(s) < 3 || s <= "255"
}
