package charset

// A handler, one of the standard's decoder algorithms, takes one byte at a time and answers with a code
// point or with one of these.
const (
	tokenContinue rune = -1 - iota // nothing yet: the byte is part of something longer
	tokenFinished                  // the end of the input was reached
	tokenError                     // the bytes read so far stand for nothing
)

// endOfQueue is what a handler is given in place of a byte when the input has ended.
const endOfQueue = -1

// machine is the state of a decoder: the variables of all the standard's algorithms, of which an encoding
// uses one. The zero value with an encoding is ready.
type machine struct {
	enc *Encoding
	// index is the encoding's table, so that a byte does not cost a call.
	index index

	// first, second and third are the bytes held back of a character; 0 when there are none. No encoding
	// that uses them has a character of more than one byte that begins with 0.
	first, second, third byte
	// jis0212 says that first is followed by a character of JIS X 0212 (EUC-JP).
	jis0212 bool

	utf8  utf8State
	utf16 utf16State
	iso   iso2022JPState
	// reported says that the replacement encoding has given its one error.
	reported bool

	// extra is a second code point to put out after the token: four pointers of Big5 stand for two.
	extra rune
	// back holds bytes that were put back into the input, the next one last.
	back  [4]byte
	nback int
}

// init makes m the initial state of e's decoder.
func (m *machine) init(e *Encoding) {
	*m = machine{enc: e}
	if e.index != nil {
		m.index = e.index()
	}
}

// prepend puts bytes back into the input, to be read again in this order.
func (m *machine) prepend(bytes ...byte) {
	for i := len(bytes) - 1; i >= 0; i-- {
		m.back[m.nback] = bytes[i]
		m.nback++
	}
}

// prependASCII puts b back if it is ASCII: an ASCII byte after a lead byte is never swallowed by an error,
// which could hide a quote or a bracket from whoever reads the text.
func (m *machine) prependASCII(b int) {
	if b < 0x80 {
		m.prepend(byte(b))
	}
}

// pending reports whether m is in the middle of a character or an escape sequence.
func (m *machine) pending() bool {
	switch m.enc.family {
	case utf8Family:
		return m.utf8.need != 0
	case utf16BEFamily, utf16LEFamily:
		return m.utf16.held || m.utf16.high != 0
	case iso2022JPFamily:
		return m.iso.state >= isoTrailByte
	default:
		return m.first != 0
	}
}

// span returns how many bytes at the start of src stand for themselves in UTF-8, when nothing is pending.
func (m *machine) span(src []byte) int {
	switch m.enc.family {
	case utf8Family:
		return validPrefix(src)
	case utf16BEFamily, utf16LEFamily, replacementFamily:
		return 0
	case iso2022JPFamily:
		if m.iso.state != isoASCII {
			return 0
		}
		n := 0
		for n < len(src) && src[n] < 0x80 && !isISO2022Control(rune(src[n])) {
			n++
		}
		if n > 0 {
			m.iso.empty = false
		}
		return n
	default:
		n := 0
		for n < len(src) && src[n] < 0x80 {
			n++
		}
		return n
	}
}

// step runs the handler of m's encoding on b, a byte or endOfQueue.
func (m *machine) step(b int) rune {
	switch m.enc.family {
	case utf8Family:
		return m.stepUTF8(b)
	case utf16BEFamily:
		return m.stepUTF16(b, true)
	case utf16LEFamily:
		return m.stepUTF16(b, false)
	case replacementFamily:
		return m.stepReplacement(b)
	case iso2022JPFamily:
		return m.stepISO2022JP(b)
	}
	// What is left has no shifts and is ASCII below 0x80, unless a lead byte is held.
	switch {
	case b == endOfQueue && m.first == 0:
		return tokenFinished
	case b == endOfQueue:
		m.first, m.second, m.third, m.jis0212 = 0, 0, 0, false
		return tokenError
	case b < 0x80 && m.first == 0:
		return rune(b)
	}
	switch m.enc.family {
	case userDefinedFamily:
		return 0xF780 + rune(b) - 0x80
	case singleByteFamily:
		return orError(m.index.at(b - 0x80))
	case gbkFamily, gb18030Family:
		return m.stepGB18030(b)
	case big5Family:
		return m.stepBig5(b)
	case eucJPFamily:
		return m.stepEUCJP(b)
	case shiftJISFamily:
		return m.stepShiftJIS(b)
	default:
		return m.stepEUCKR(b)
	}
}

// stepReplacement gives one error for the whole of any input that is not empty.
//
// Encoding Standard: "replacement's decoder" (section 14.1.1).
func (m *machine) stepReplacement(b int) rune {
	if b == endOfQueue || m.reported {
		return tokenFinished
	}
	m.reported = true
	return tokenError
}

// orError makes a token of the result of a table look-up.
func orError(c rune, ok bool) rune {
	if !ok {
		return tokenError
	}
	return c
}

// between reports whether low <= b <= high; endOfQueue is between nothing.
func between(b, low, high int) bool { return low <= b && b <= high }
