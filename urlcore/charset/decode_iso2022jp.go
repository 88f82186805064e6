package charset

// isoState is a state of the ISO-2022-JP decoder and, the first four, of its output.
type isoState uint8

const (
	isoASCII isoState = iota
	isoRoman
	isoKatakana
	isoLeadByte
	// In the states from here on something was read that has not been put out.
	isoTrailByte
	isoEscapeStart
	isoEscape
)

// iso2022JPState holds the variables of the ISO-2022-JP decoder.
type iso2022JPState struct {
	state, output isoState
	lead          byte
	// empty says that nothing came after the last escape sequence, which makes the next one an error: a
	// pile of them could hide text.
	empty bool
}

// isISO2022Control reports whether c is one of the controls that shift in ISO 2022 and that ISO-2022-JP
// therefore neither decodes nor encodes: SO, SI and ESC.
func isISO2022Control(c rune) bool { return c == 0x0E || c == 0x0F || c == 0x1B }

// stepISO2022JP dispatches on the state.
//
// Encoding Standard: "ISO-2022-JP's decoder" (section 12.2.1).
func (m *machine) stepISO2022JP(b int) rune {
	switch m.iso.state {
	case isoTrailByte:
		return m.trailISO2022JP(b)
	case isoEscapeStart:
		return m.escapeStartISO2022JP(b)
	case isoEscape:
		return m.escapeISO2022JP(b)
	}
	switch b {
	case endOfQueue:
		return tokenFinished
	case 0x1B:
		m.iso.state = isoEscapeStart
		return tokenContinue
	}
	m.iso.empty = false
	switch m.iso.state {
	case isoASCII:
		return asciiISO2022JP(b)
	case isoRoman:
		switch b {
		case 0x5C:
			return 0xA5
		case 0x7E:
			return 0x203E
		}
		return asciiISO2022JP(b)
	case isoKatakana:
		if between(b, 0x21, 0x5F) {
			return halfWidthKatakana + rune(b) - 0x21
		}
		return tokenError
	default: // isoLeadByte
		if between(b, 0x21, 0x7E) {
			m.iso.lead, m.iso.state = byte(b), isoTrailByte
			return tokenContinue
		}
		return tokenError
	}
}

// asciiISO2022JP is what the states ASCII and Roman have in common.
func asciiISO2022JP(b int) rune {
	if b < 0x80 && !isISO2022Control(rune(b)) {
		return rune(b)
	}
	return tokenError
}

// trailISO2022JP takes the second byte of a character.
func (m *machine) trailISO2022JP(b int) rune {
	m.iso.state = isoLeadByte
	switch {
	case b == 0x1B:
		m.prepend(0x1B) // read again as a lead byte it starts an escape sequence, as it does here
	case between(b, 0x21, 0x7E):
		return orError(m.index.at((int(m.iso.lead)-0x21)*jisRow + b - 0x21))
	}
	return tokenError
}

// escapeStartISO2022JP takes the byte after ESC.
func (m *machine) escapeStartISO2022JP(b int) rune {
	if b == '$' || b == '(' {
		m.iso.lead, m.iso.state = byte(b), isoEscape
		return tokenContinue
	}
	if b != endOfQueue {
		m.prepend(byte(b))
	}
	m.iso.empty, m.iso.state = false, m.iso.output
	return tokenError
}

// escapeISO2022JP takes the last byte of an escape sequence.
func (m *machine) escapeISO2022JP(b int) rune {
	lead := m.iso.lead
	var next isoState
	switch {
	case lead == '(' && b == 'B':
		next = isoASCII
	case lead == '(' && b == 'J':
		next = isoRoman
	case lead == '(' && b == 'I':
		next = isoKatakana
	case lead == '$' && (b == '@' || b == 'B'):
		next = isoLeadByte
	default:
		if b == endOfQueue {
			m.prepend(lead)
		} else {
			m.prepend(lead, byte(b))
		}
		m.iso.empty, m.iso.state = false, m.iso.output
		return tokenError
	}
	m.iso.state, m.iso.output = next, next
	again := m.iso.empty
	m.iso.empty = true
	if again {
		return tokenError
	}
	return tokenContinue
}
