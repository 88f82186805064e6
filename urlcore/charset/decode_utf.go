package charset

// utf8State holds the variables of the UTF-8 decoder.
type utf8State struct {
	c         rune // the code point so far
	need      int  // how many bytes are still to come
	low, high byte // the range of the next of them
}

// stepUTF8 is needed only at the edges of chunks and in ill-formed text: well-formed text goes through
// validPrefix.
//
// Encoding Standard: "UTF-8's decoder" (section 8.1.1).
func (m *machine) stepUTF8(b int) rune {
	s := &m.utf8
	switch {
	case b == endOfQueue && s.need == 0:
		return tokenFinished
	case b == endOfQueue:
		*s = utf8State{}
		return tokenError
	case s.need == 0:
		return m.leadUTF8(byte(b))
	case !between(b, int(s.low), int(s.high)):
		*s = utf8State{}
		m.prepend(byte(b))
		return tokenError
	}
	s.c = s.c<<6 | rune(b&0x3F)
	s.low, s.high = 0x80, 0xBF
	s.need--
	if s.need > 0 {
		return tokenContinue
	}
	return s.c
}

// leadUTF8 takes the first byte of a character.
func (m *machine) leadUTF8(b byte) rune {
	if b < 0x80 {
		return rune(b)
	}
	need, low, high := utf8Lead(b)
	if need == 0 {
		return tokenError
	}
	// Of the lead byte the bits below the length marker count: five, four or three of them.
	m.utf8 = utf8State{c: rune(b & (0x3F >> need)), need: need, low: low, high: high}
	return tokenContinue
}

// utf16State holds the variables of the UTF-16 decoders.
type utf16State struct {
	held bool // half of a code unit was read:
	byte byte // this one
	high rune // the high surrogate that was read, or 0
}

// stepUTF16 is the decoder of both byte orders.
//
// Encoding Standard: "shared UTF-16 decoder" (section 14.2.1).
func (m *machine) stepUTF16(b int, bigEndian bool) rune {
	s := &m.utf16
	switch {
	case b == endOfQueue && !s.held && s.high == 0:
		return tokenFinished
	case b == endOfQueue:
		*s = utf16State{}
		return tokenError
	case !s.held:
		s.held, s.byte = true, byte(b)
		return tokenContinue
	}
	s.held = false
	one, two := s.byte, byte(b)
	unit := rune(two)<<8 | rune(one)
	if bigEndian {
		unit = rune(one)<<8 | rune(two)
	}
	isLow := 0xDC00 <= unit && unit <= 0xDFFF
	if high := s.high; high != 0 {
		s.high = 0
		if isLow {
			return 0x10000 + (high-0xD800)<<10 + unit - 0xDC00
		}
		m.prepend(one, two)
		return tokenError
	}
	switch {
	case 0xD800 <= unit && unit <= 0xDBFF:
		s.high = unit
		return tokenContinue
	case isLow:
		return tokenError
	}
	return unit
}
