package urlcore

import (
	"bytes"
	"strconv"
)

// endsInNumber is the ends-in-a-number checker: whether a domain's last label, after one empty label at
// the end is dropped, is a number, so that the whole must be an IPv4 address.
//
// https://url.spec.whatwg.org/#ends-in-a-number-checker
func endsInNumber(domain []byte) bool {
	domain = bytes.TrimSuffix(domain, []byte{'.'})
	if len(domain) == 0 {
		return false
	}
	// A number ends in a digit, in a hexadecimal digit or in the x of a bare 0x.
	if c := domain[len(domain)-1]; class[c]&isHexDigit == 0 && c|0x20 != 'x' {
		return false
	}
	last := domain[bytes.LastIndexByte(domain, '.')+1:]
	if len(last) == 0 || !isDigit(last[0]) {
		return false
	}
	_, _, ok := parseIPv4Number(last)
	if ok {
		return true
	}
	for _, c := range last {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// tooLargeNumber is what parseIPv4Number returns for all numbers that exceed 32 bits.
const tooLargeNumber = 1 << 32

// parseIPv4Number is the IPv4 number parser. decimal is false for octal and hexadecimal numbers.
//
// https://url.spec.whatwg.org/#ipv4-number-parser
func parseIPv4Number(s []byte) (n uint64, decimal, ok bool) {
	if len(s) == 0 {
		return 0, true, false
	}
	base := uint64(10)
	switch {
	case len(s) >= 2 && s[0] == '0' && s[1]|0x20 == 'x':
		s, base = s[2:], 16
	case len(s) >= 2 && s[0] == '0':
		s, base = s[1:], 8
	}
	for _, c := range s {
		digit := uint64(c - '0')
		if base == 16 && !isDigit(c) {
			if class[c]&isHexDigit == 0 {
				return 0, false, false
			}
			digit = uint64(c|0x20-'a') + 10
		}
		if digit >= base {
			return 0, base == 10, false
		}
		n = min(n*base+digit, tooLargeNumber)
	}
	return n, base == 10, true
}

// parseIPv4 is the IPv4 parser for the domain at the end of the buffer, from host on. It replaces it by
// the serialized address. start is where the domain begins in the input; if exact is set, the two are
// alike byte by byte, so that positions can be told.
//
// https://url.spec.whatwg.org/#concept-ipv4-parser
func (p *Parser) parseIPv4(host, start int, exact bool) bool {
	at := func(i int) int {
		if exact {
			return start + i
		}
		return start
	}
	domain := p.u.buf[host:]
	if domain[len(domain)-1] == '.' {
		p.report(CodeIPv4EmptyPart, at(len(domain)-1))
		domain = domain[:len(domain)-1]
	}
	count := bytes.Count(domain, []byte{'.'}) + 1
	if count > 4 {
		p.fail(CodeIPv4TooManyParts, at(0))
		return false
	}
	if count < 4 {
		p.report(CodeIPv4TooFewParts, at(0))
	}
	address := uint64(0)
	for i, pos := 0, 0; i < count; i++ {
		part, _, _ := bytes.Cut(domain[pos:], []byte{'.'})
		n, decimal, ok := parseIPv4Number(part)
		if !ok {
			p.fail(CodeIPv4NonNumericPart, at(pos))
			return false
		}
		if !decimal {
			p.report(CodeIPv4NonDecimalPart, at(pos))
		}
		limit, shift := uint64(256), 8*(3-i)
		if i == count-1 {
			limit, shift = 1<<(8*(5-count)), 0
		}
		if n >= limit {
			p.fail(CodeIPv4OutOfRangePart, at(pos))
			return false
		}
		if n > 255 {
			p.report(CodeIPv4OutOfRangePart, at(pos))
		}
		address |= n << shift
		pos += len(part) + 1
	}
	p.u.buf = appendIPv4(p.u.buf[:host], uint32(address))
	p.u.loc.host = HostIPv4
	return true
}

// appendIPv4 is the IPv4 serializer.
//
// https://url.spec.whatwg.org/#concept-ipv4-serializer
func appendIPv4(dst []byte, address uint32) []byte {
	for shift := 24; shift >= 0; shift -= 8 {
		dst = strconv.AppendUint(dst, uint64(address>>shift&0xFF), 10)
		if shift > 0 {
			dst = append(dst, '.')
		}
	}
	return dst
}
