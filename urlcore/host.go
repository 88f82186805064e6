package urlcore

import (
	"bytes"

	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// parseHost is the host parser for in[start:end]. It appends the serialized host to the buffer and sets
// its kind. On failure it reports and returns false.
//
// https://url.spec.whatwg.org/#concept-host-parser
func (p *Parser) parseHost(start, end int) bool {
	switch {
	case start < end && p.in[start] == '[':
		if p.in[end-1] != ']' {
			p.fail(CodeIPv6Unclosed, end)
			return false
		}
		return p.parseIPv6(start+1, end-1)
	case !p.u.loc.scheme.special():
		return p.parseOpaqueHost(start, end)
	}
	return p.parseDomain(start, end)
}

// parseOpaqueHost is the opaque-host parser.
//
// https://url.spec.whatwg.org/#concept-opaque-host-parser
func (p *Parser) parseOpaqueHost(start, end int) bool {
	for i := start; i < end; i++ {
		if class[p.in[i]]&isForbiddenHost != 0 {
			p.fail(CodeHostInvalidCodePoint, i)
			return false
		}
	}
	if p.CollectErrors {
		p.checkUnits(start, end)
	}
	p.u.loc.host = HostOpaque
	if start == end {
		p.u.loc.host = HostEmpty
	}
	p.u.buf = p.appendEncoded(p.u.buf, start, end, isEncodedC0)
	return true
}

// parseDomain is the rest of the host parser, for special schemes: a domain or IPv4 address.
//
// https://url.spec.whatwg.org/#concept-host-parser, steps 3 to 9
func (p *Parser) parseDomain(start, end int) bool {
	host := len(p.u.buf)
	buf := append(p.u.buf, p.in[start:end]...)
	domain := buf[host:]
	for i, c := range domain {
		lower := domainByte[c]
		if lower == 0 {
			return p.parseUnusualDomain(start, end)
		}
		domain[i] = lower
	}
	p.u.buf = buf
	if p.CollectErrors {
		p.checkStrictDomain(domain, start)
	}
	if !endsInNumber(domain) {
		p.u.loc.host = HostDomain
		return true
	}
	return p.parseIPv4(host, start, true)
}

// parseUnusualDomain does the same for a domain that holds percent signs, non-ASCII characters or
// forbidden domain code points.
func (p *Parser) parseUnusualDomain(start, end int) bool {
	host := len(p.u.buf)
	domain := p.in[start:end]
	exact := true // the domain's bytes are those of the input, less percent-encoding
	if bytes.IndexByte(domain, '%') >= 0 {
		p.host = percent.AppendDecode(p.host[:0], domain)
		if len(p.host) != len(domain) {
			p.report(CodeDomainPercentEncoded, start+bytes.IndexByte(domain, '%'))
		}
		domain = p.host
		if !utf8Valid(domain) {
			domain = charset.AppendUTF8(nil, domain)
			exact = false
		}
	}
	ascii := isASCII(domain)
	if ascii {
		for _, c := range domain {
			p.u.buf = append(p.u.buf, toLower(c))
		}
	} else {
		result, ok := domainToASCII(domain)
		if !ok {
			pos := start
			if exact {
				pos += encodedOffset(p.in[start:end], failingLabel(domain))
			}
			p.fail(CodeDomainToASCII, pos)
			return false
		}
		p.u.buf = append(p.u.buf, result...)
	}
	for i, c := range p.u.buf[host:] {
		if isForbiddenDomainByte(c) {
			pos := start
			if ascii {
				pos += encodedOffset(p.in[start:end], i)
			}
			p.fail(CodeDomainToASCII, pos)
			return false
		}
	}
	if p.CollectErrors {
		p.checkStrictDomain(domain, start)
	}
	if !endsInNumber(p.u.buf[host:]) {
		p.u.loc.host = HostDomain
		return true
	}
	if !ascii {
		p.report(CodeIPv4NonASCIIInput, start)
	}
	return p.parseIPv4(host, start, false)
}

// encodedOffset returns where in s the byte stands that is at offset i of the percent-decoding of s.
func encodedOffset(s []byte, i int) int {
	pos := 0
	for ; i > 0; i-- {
		if size, _ := urlUnit(s[pos:]); size == 3 && s[pos] == '%' {
			pos += 2
		}
		pos++
	}
	return pos
}

// checkStrictDomain notes a domain-to-ASCII error where the strict rules refuse the domain.
//
// https://url.spec.whatwg.org/#concept-domain-to-ascii
func (p *Parser) checkStrictDomain(domain []byte, pos int) {
	if _, ok := domainToASCIIStrict(domain); !ok {
		p.report(CodeDomainToASCII, pos)
	}
}

// isASCII reports whether s holds bytes below 0x80 only.
func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
