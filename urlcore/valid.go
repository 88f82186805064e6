package urlcore

import "bytes"

// The writing requirements of the standard: what a URL should look like, as against what a parser copes
// with. They allow just what is parsed without any validation error. This is the grammar itself, without
// the parser; that the two agree is tested.
//
// https://url.spec.whatwg.org/#url-writing

// IsValidURLString reports whether input may be written as a URL: whether it is a valid URL string, with
// base as the base URL, or nil. Many inputs that parse are not valid.
//
// https://url.spec.whatwg.org/#valid-url-string
func IsValidURLString(input string, base *URL) bool {
	if len(input) > MaxInput {
		return false
	}
	text := appendWellFormed(nil, input)
	text, fragment, hasFragment := bytes.Cut(text, []byte{'#'})
	text, query, hasQuery := bytes.Cut(text, []byte{'?'})
	if !isUnits(fragment) || !isUnits(query) {
		return false
	}
	if scheme, rest, ok := cutScheme(text); ok {
		kind := schemeOf(bytes.ToLower(scheme))
		if kind != schemeOther {
			return bytes.HasPrefix(rest, []byte("//")) && isSchemeRelative(rest, kind)
		}
		return isSchemeRelative(rest, kind) // or an opaque path, whose characters are those of a path
	}
	switch {
	case base == nil || base.IsEmpty():
		return false
	case base.OpaquePath():
		return len(text) == 0 && !hasQuery && hasFragment
	}
	return isSchemeRelative(text, base.loc.scheme)
}

// cutScheme splits a scheme and its colon off.
//
// https://url.spec.whatwg.org/#url-scheme-string
func cutScheme(s []byte) (scheme, rest []byte, ok bool) {
	i := bytes.IndexByte(s, ':')
	if i <= 0 || !isAlpha(s[0]) {
		return nil, nil, false
	}
	for _, c := range s[:i] {
		if class[c]&isSchemeByte == 0 {
			return nil, nil, false
		}
	}
	return s[:i], s[i+1:], true
}

// isSchemeRelative reports whether s is a scheme-relative URL string for a kind of scheme or, without two
// slashes in front, a path-absolute or path-relative one.
//
// https://url.spec.whatwg.org/#scheme-relative-url-string
func isSchemeRelative(s []byte, kind schemeKind) bool {
	authority, ok := bytes.CutPrefix(s, []byte("//"))
	if !ok {
		return isUnits(s)
	}
	end := bytes.IndexByte(authority, '/')
	if end < 0 {
		end = len(authority)
	}
	authority, path := authority[:end], authority[end:]
	if !isUnits(path) {
		return false
	}
	switch {
	case len(authority) == 0:
		return kind == schemeFile || kind == schemeOther
	case kind == schemeFile:
		return isHostString(authority)
	}
	host, port := cutPort(authority)
	if !isPortString(port) {
		return false
	}
	if kind == schemeOther {
		return isOpaqueHostString(host)
	}
	return isHostString(host)
}

// cutPort splits the port off an authority. A colon within brackets is part of the host.
func cutPort(authority []byte) (host, port []byte) {
	start := 0
	if authority[0] == '[' {
		start = bytes.IndexByte(authority, ']') + 1
	}
	if i := bytes.IndexByte(authority[start:], ':'); i >= 0 {
		return authority[:start+i], authority[start+i+1:]
	}
	return authority, nil
}

// isPortString reports whether s is a URL-port string: digits of a number below 65536, or nothing.
//
// https://url.spec.whatwg.org/#url-port-string
func isPortString(s []byte) bool {
	port := 0
	for _, c := range s {
		if !isDigit(c) {
			return false
		}
		port = min(port*10+int(c-'0'), 1<<16)
	}
	return port < 1<<16
}

// IsValidHostString reports whether input may be written as the host of a URL with a special scheme: as a
// domain that can be registered, an IPv4 address of four decimal numbers, or an IPv6 address in brackets.
//
// https://url.spec.whatwg.org/#valid-host-string
func IsValidHostString(input string) bool { return isHostString(appendWellFormed(nil, input)) }

// IsValidOpaqueHostString reports whether input may be written as the host of a URL whose scheme is not
// special.
//
// https://url.spec.whatwg.org/#valid-opaque-host-string
func IsValidOpaqueHostString(input string) bool {
	return isOpaqueHostString(appendWellFormed(nil, input))
}

// isHostString is IsValidHostString for well-formed text.
func isHostString(s []byte) bool {
	if address, ok := inBrackets(s); ok {
		return isIPv6String(address)
	}
	ascii, ok := domainToASCIIStrict(s)
	return ok && (!endsInNumber([]byte(ascii)) || isIPv4String(s))
}

// isOpaqueHostString is IsValidOpaqueHostString for well-formed text.
func isOpaqueHostString(s []byte) bool {
	if address, ok := inBrackets(s); ok {
		return isIPv6String(address)
	}
	for _, c := range s {
		if class[c]&isForbiddenHost != 0 {
			return false
		}
	}
	return len(s) > 0 && isUnits(s)
}

// inBrackets returns what stands between the brackets that s begins and ends with.
func inBrackets(s []byte) (inner []byte, ok bool) {
	if len(s) < 2 || s[0] != '[' || s[len(s)-1] != ']' {
		return nil, false
	}
	return s[1 : len(s)-1], true
}

// isIPv4String reports whether s is a valid IPv4-address string: four shortest decimal numbers up to 255.
//
// https://url.spec.whatwg.org/#valid-ipv4-address-string
func isIPv4String(s []byte) bool {
	parts := 0
	for more := true; more; parts++ {
		var part []byte
		part, s, more = bytes.Cut(s, []byte{'.'})
		n, decimal, ok := parseIPv4Number(part)
		if !ok || !decimal || n > 255 || !isDigit(part[0]) {
			return false
		}
	}
	return parts == 4
}

// isIPv6String reports whether s is a valid IPv6-address string: pieces without leading zeros, of which one
// run may be left out, and perhaps an IPv4 address for the last two.
//
// https://url.spec.whatwg.org/#valid-ipv6-address-string
func isIPv6String(s []byte) bool {
	left, right, compressed := bytes.Cut(s, []byte("::"))
	if !compressed {
		return countPieces(left, true) == 8
	}
	before, after := 0, 0
	if len(left) > 0 {
		before = countPieces(left, false)
	}
	if len(right) > 0 {
		after = countPieces(right, true)
	}
	return before >= 0 && after >= 0 && before+after <= 7
}

// countPieces returns how many pieces s has, separated by colons, or -1 if one is wrong. The last may be an
// IPv4 address, which counts twice, if ipv4 is set.
func countPieces(s []byte, ipv4 bool) int {
	count := 0
	for more := true; more; count++ {
		var piece []byte
		piece, s, more = bytes.Cut(s, []byte{':'})
		if ipv4 && !more && isIPv4String(piece) {
			return count + 2
		}
		if len(piece) == 0 || len(piece) > 4 || len(piece) > 1 && piece[0] == '0' {
			return -1
		}
		for _, c := range piece {
			if class[c]&isHexDigit == 0 {
				return -1
			}
		}
	}
	return count
}

// isUnits reports whether s consists of URL units. Slashes are among them, and so are all characters that
// paths, queries and fragments may hold.
//
// https://url.spec.whatwg.org/#url-units
func isUnits(s []byte) bool {
	for len(s) > 0 {
		size, ok := urlUnit(s)
		if !ok {
			return false
		}
		s = s[size:]
	}
	return true
}
