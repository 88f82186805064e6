package urlcore

import "strconv"

// parseIPv6 is the IPv6 parser for in[start:end], the text between the brackets. It appends the serialized
// address in brackets.
//
// https://url.spec.whatwg.org/#concept-ipv6-parser
func (p *Parser) parseIPv6(start, end int) bool {
	s := ipv6Parser{p: p, in: p.in[:end], pos: start, compress: -1}
	if !s.parse() {
		return false
	}
	p.u.buf = append(appendIPv6(append(p.u.buf, '['), &s.pieces), ']')
	p.u.loc.host = HostIPv6
	return true
}

// ipv6Parser holds the variables of the IPv6 parser.
type ipv6Parser struct {
	p        *Parser
	in       []byte // ends where the address ends
	pos      int
	pieces   [8]uint16
	piece    int // index of the next piece
	compress int // index of the first piece after "::", -1 if there is none
}

// fail reports a failure at the current position.
func (s *ipv6Parser) fail(code Code) bool {
	s.p.fail(code, s.pos)
	return false
}

// at reports whether c stands at the position plus ahead.
func (s *ipv6Parser) at(ahead int, c byte) bool {
	return s.pos+ahead < len(s.in) && s.in[s.pos+ahead] == c
}

// parse reads the pieces.
func (s *ipv6Parser) parse() bool {
	if s.at(0, ':') {
		if !s.at(1, ':') {
			return s.fail(CodeIPv6InvalidCompression)
		}
		s.pos += 2
		s.piece++
		s.compress = s.piece
	}
	for s.pos < len(s.in) {
		if s.piece == 8 {
			return s.fail(CodeIPv6TooManyPieces)
		}
		if s.at(0, ':') {
			if s.compress >= 0 {
				return s.fail(CodeIPv6MultipleCompression)
			}
			s.pos++
			s.piece++
			s.compress = s.piece
			continue
		}
		last, ok := s.readPiece()
		if !ok {
			return false
		}
		if last {
			break
		}
	}
	return s.expand()
}

// readPiece reads one piece with the colon behind it, or an embedded IPv4 address, which is the last.
func (s *ipv6Parser) readPiece() (last, ok bool) {
	value, length := uint16(0), 0
	start := s.pos
	for length < 4 && s.pos < len(s.in) && class[s.in[s.pos]]&isHexDigit != 0 {
		c := s.in[s.pos]
		digit := c - '0'
		if !isDigit(c) {
			digit = c | 0x20 - 'a' + 10
		}
		value = value<<4 | uint16(digit)
		s.pos++
		length++
	}
	switch {
	case s.at(0, '.'):
		if length == 0 {
			return false, s.fail(CodeIPv4InIPv6InvalidCodePoint)
		}
		s.pos = start
		if s.piece > 6 {
			return false, s.fail(CodeIPv4InIPv6TooManyPieces)
		}
		return true, s.readIPv4()
	case s.at(0, ':'):
		s.pos++
		if s.pos == len(s.in) {
			return false, s.fail(CodeIPv6InvalidCodePoint)
		}
	case s.pos < len(s.in):
		return false, s.fail(CodeIPv6InvalidCodePoint)
	}
	if length > 1 && s.in[start] == '0' {
		s.p.report(CodeIPv6PieceLeadingZero, start)
	}
	s.pieces[s.piece] = value
	s.piece++
	return false, true
}

// readIPv4 reads an embedded IPv4 address into two pieces.
//
// https://url.spec.whatwg.org/#concept-ipv6-parser, step 6.5
func (s *ipv6Parser) readIPv4() bool {
	numbers := 0
	for s.pos < len(s.in) {
		if numbers > 0 {
			if !s.at(0, '.') || numbers == 4 {
				return s.fail(CodeIPv4InIPv6InvalidCodePoint)
			}
			s.pos++
		}
		if s.pos == len(s.in) || !isDigit(s.in[s.pos]) {
			return s.fail(CodeIPv4InIPv6InvalidCodePoint)
		}
		value := -1
		for s.pos < len(s.in) && isDigit(s.in[s.pos]) {
			number := int(s.in[s.pos] - '0')
			switch {
			case value < 0:
				value = number
			case value == 0:
				return s.fail(CodeIPv4InIPv6InvalidCodePoint)
			default:
				value = value*10 + number
			}
			if value > 255 {
				return s.fail(CodeIPv4InIPv6OutOfRangePart)
			}
			s.pos++
		}
		s.pieces[s.piece] = s.pieces[s.piece]<<8 + uint16(value)
		numbers++
		if numbers == 2 || numbers == 4 {
			s.piece++
		}
	}
	if numbers != 4 {
		return s.fail(CodeIPv4InIPv6TooFewParts)
	}
	return true
}

// expand moves the pieces behind "::" to the end.
//
// https://url.spec.whatwg.org/#concept-ipv6-parser, steps 7 and 8
func (s *ipv6Parser) expand() bool {
	if s.compress < 0 {
		if s.piece != 8 {
			return s.fail(CodeIPv6TooFewPieces)
		}
		return true
	}
	swaps := s.piece - s.compress
	for i := 7; i != 0 && swaps > 0; i-- {
		j := s.compress + swaps - 1
		s.pieces[i], s.pieces[j] = s.pieces[j], s.pieces[i]
		swaps--
	}
	return true
}

// appendIPv6 is the IPv6 serializer, which follows RFC 5952 but for embedded IPv4 addresses.
//
// https://url.spec.whatwg.org/#concept-ipv6-serializer
func appendIPv6(dst []byte, pieces *[8]uint16) []byte {
	compress, length := compressedPieces(pieces)
	for i := 0; i < 8; i++ {
		if i == compress {
			dst = append(dst, ':')
			if i == 0 {
				dst = append(dst, ':')
			}
			i += length - 1
			continue
		}
		dst = strconv.AppendUint(dst, uint64(pieces[i]), 16)
		if i != 7 {
			dst = append(dst, ':')
		}
	}
	return dst
}

// compressedPieces returns the index and length of the first longest run of zero pieces, and index -1 when
// no run is longer than one.
//
// https://url.spec.whatwg.org/#find-the-ipv6-address-compressed-piece-index
func compressedPieces(pieces *[8]uint16) (index, length int) {
	index, length = -1, 1
	for i := 0; i < 8; i++ {
		run := i
		for run < 8 && pieces[run] == 0 {
			run++
		}
		if run-i > length {
			index, length = i, run-i
		}
		i = max(run, i)
	}
	return index, length
}
