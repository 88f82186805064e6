package charset

// stepGB18030 decodes GBK too: the standard reads both alike.
//
// Encoding Standard: "gb18030's decoder" (section 10.2.1).
func (m *machine) stepGB18030(b int) rune {
	switch {
	case m.third != 0:
		return m.fourthGB18030(b)
	case m.second != 0:
		if between(b, 0x81, 0xFE) {
			m.third = byte(b)
			return tokenContinue
		}
		m.prepend(m.second, byte(b))
		m.first, m.second = 0, 0
		return tokenError
	case m.first != 0 && between(b, 0x30, 0x39):
		m.second = byte(b)
		return tokenContinue
	case m.first != 0:
		lead := int(m.first)
		m.first = 0
		if between(b, 0x40, 0x7E) || between(b, 0x80, 0xFE) {
			if c, ok := m.index.at((lead-0x81)*gb18030Row + column(b, 0x41)); ok {
				return c
			}
		}
		m.prependASCII(b)
		return tokenError
	case b == 0x80:
		return 0x20AC
	case b == 0xFF:
		return tokenError
	}
	m.first = byte(b)
	return tokenContinue
}

// fourthGB18030 takes the last byte of a four-byte sequence.
func (m *machine) fourthGB18030(b int) rune {
	first, second, third := m.first, m.second, m.third
	m.first, m.second, m.third = 0, 0, 0
	if !between(b, 0x30, 0x39) {
		m.prepend(second, third, byte(b))
		return tokenError
	}
	pointer := (((int(first)-0x81)*10+int(second)-0x30)*126+int(third)-0x81)*10 + b - 0x30
	return orError(gb18030RangesCodePoint(pointer))
}

// column returns the place in its row of a trail byte, which counts from 0x40 below 0x7F and from high above.
func column(trail, high int) int {
	if trail < 0x7F {
		return trail - 0x40
	}
	return trail - high
}

// stepBig5 decodes Big5 with the Hong Kong extensions.
//
// Encoding Standard: "Big5's decoder" (section 11.1.1).
func (m *machine) stepBig5(b int) rune {
	if m.first == 0 {
		return m.leadByte(b, 0x81, 0xFE)
	}
	lead := int(m.first)
	m.first = 0
	if between(b, 0x40, 0x7E) || between(b, 0xA1, 0xFE) {
		pointer := (lead-0x81)*big5Row + column(b, 0x62)
		switch pointer { // a letter with two marks, for which Unicode has no code point of its own
		case 1133:
			m.extra = 0x0304
			return 0xCA
		case 1135:
			m.extra = 0x030C
			return 0xCA
		case 1164:
			m.extra = 0x0304
			return 0xEA
		case 1166:
			m.extra = 0x030C
			return 0xEA
		}
		if c, ok := m.index.at(pointer); ok {
			return c
		}
	}
	m.prependASCII(b)
	return tokenError
}

// leadByte holds b back if it is between low and high; any other byte, not being ASCII, is an error.
func (m *machine) leadByte(b, low, high int) rune {
	if !between(b, low, high) {
		return tokenError
	}
	m.first = byte(b)
	return tokenContinue
}

// stepEUCKR decodes EUC-KR, that is windows-949.
//
// Encoding Standard: "EUC-KR's decoder" (section 13.1.1).
func (m *machine) stepEUCKR(b int) rune {
	if m.first == 0 {
		return m.leadByte(b, 0x81, 0xFE)
	}
	lead := int(m.first)
	m.first = 0
	if between(b, 0x41, 0xFE) {
		if c, ok := m.index.at((lead-0x81)*eucKRRow + b - 0x41); ok {
			return c
		}
	}
	m.prependASCII(b)
	return tokenError
}

// stepEUCJP decodes EUC-JP with half-width katakana after 8E and JIS X 0212 after 8F.
//
// Encoding Standard: "EUC-JP's decoder" (section 12.1.1).
func (m *machine) stepEUCJP(b int) rune {
	switch {
	case m.first == 0 && between(b, 0x8E, 0x8F):
		m.first = byte(b)
		return tokenContinue
	case m.first == 0:
		return m.leadByte(b, 0xA1, 0xFE)
	case m.first == 0x8E && between(b, 0xA1, 0xDF):
		m.first = 0
		return halfWidthKatakana + rune(b) - 0xA1
	case m.first == 0x8F && between(b, 0xA1, 0xFE):
		m.jis0212 = true
		m.first = byte(b)
		return tokenContinue
	}
	lead, x := int(m.first), m.index
	if m.jis0212 {
		x = jis0212Index()
	}
	m.first, m.jis0212 = 0, false
	if between(lead, 0xA1, 0xFE) && between(b, 0xA1, 0xFE) {
		if c, ok := x.at((lead-0xA1)*jisRow + b - 0xA1); ok {
			return c
		}
	}
	m.prependASCII(b)
	return tokenError
}

const (
	// halfWidthKatakana is the first of the 63 half-width katakana and their punctuation.
	halfWidthKatakana = 0xFF61
	// lastHalfWidthKatakana is the last of them.
	lastHalfWidthKatakana = 0xFF9F
	// shiftJISUser is the first pointer of the user-defined characters, before shiftJISUserEnd.
	shiftJISUser, shiftJISUserEnd = 8836, 10716
)

// stepShiftJIS decodes Shift_JIS as Windows knows it, user-defined characters included.
//
// Encoding Standard: "Shift_JIS's decoder" (section 12.3.1).
func (m *machine) stepShiftJIS(b int) rune {
	switch {
	case m.first == 0 && b == 0x80:
		return 0x80
	case m.first == 0 && between(b, 0xA1, 0xDF):
		return halfWidthKatakana + rune(b) - 0xA1
	case m.first == 0 && b == 0xA0:
		return tokenError
	case m.first == 0:
		return m.leadByte(b, 0x81, 0xFC)
	}
	lead := int(m.first)
	m.first = 0
	if between(b, 0x40, 0x7E) || between(b, 0x80, 0xFC) {
		row := lead - 0x81
		if lead >= 0xA0 {
			row = lead - 0xC1
		}
		pointer := row*sjisRow + column(b, 0x41)
		if between(pointer, shiftJISUser, shiftJISUserEnd-1) {
			return 0xE000 + rune(pointer-shiftJISUser)
		}
		if c, ok := m.index.at(pointer); ok {
			return c
		}
	}
	m.prependASCII(b)
	return tokenError
}
