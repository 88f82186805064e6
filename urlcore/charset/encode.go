package charset

import "unicode/utf8"

// encoded is what encoderState.append returns for a code point that the encoding has.
const encoded rune = -1

// The code points that the Japanese encodings treat specially.
const (
	yenSign             = 0xA5
	overline            = 0x203E
	minusSign           = 0x2212 // encoded as fullwidthHyphen
	fullwidthHyphen     = 0xFF0D
	firstUserDefined    = 0xF780
	lastUserDefined     = 0xF7FF
	gb18030Unencodable  = 0xE5E5 // A3A0 decodes to U+3000, so this has no way back
	euroSign            = 0x20AC
	gbkEuro             = 0x80
	halfWidthSingleByte = 0xA1
)

// encoderState is the state of one of the standard's encoders.
type encoderState struct {
	enc *Encoding
	// inverse is the encoding's table, so that a code point does not cost a call.
	inverse *inverse
	// iso is isoASCII, isoRoman or, for JIS X 0208, isoLeadByte (ISO-2022-JP).
	iso isoState
}

// init makes s the initial state of e's encoder; e must have one.
func (s *encoderState) init(e *Encoding) {
	*s = encoderState{enc: e}
	if e.inverse != nil {
		s.inverse = e.inverse()
	}
}

// span returns how many bytes at the start of src, which is UTF-8, are ASCII that stands for itself.
func (s *encoderState) span(src []byte) int {
	if s.enc.family == iso2022JPFamily {
		return 0
	}
	n := 0
	for n < len(src) && src[n] < 0x80 {
		n++
	}
	return n
}

// append appends the bytes of c, a Unicode scalar value. If the encoding lacks c, it returns as the second
// result the code point to report, which is c or U+FFFD, and else the constant encoded.
func (s *encoderState) append(dst []byte, c rune) ([]byte, rune) {
	switch s.enc.family {
	case iso2022JPFamily:
		return s.appendISO2022JP(dst, c)
	case utf8Family:
		return utf8.AppendRune(dst, c), encoded
	}
	if c < 0x80 {
		return append(dst, byte(c)), encoded
	}
	switch s.enc.family {
	case userDefinedFamily:
		if c < firstUserDefined || c > lastUserDefined {
			return dst, c
		}
		return append(dst, byte(c-firstUserDefined+0x80)), encoded
	case gbkFamily, gb18030Family:
		return s.appendGB18030(dst, c)
	case eucJPFamily:
		return s.appendEUCJP(dst, c)
	case shiftJISFamily:
		return s.appendShiftJIS(dst, c)
	}
	p, ok := s.inverse.pointer(c)
	if !ok {
		return dst, c
	}
	switch s.enc.family {
	case singleByteFamily:
		return append(dst, byte(p+0x80)), encoded
	case big5Family:
		lead, trail := big5Bytes(p)
		return append(dst, lead, trail), encoded
	default:
		lead, trail := eucKRBytes(p)
		return append(dst, lead, trail), encoded
	}
}

// finish returns to the initial state at the end of the text.
func (s *encoderState) finish(dst []byte) []byte {
	if s.iso == isoASCII {
		return dst
	}
	return s.escape(dst, isoASCII)
}

// appendGB18030 is the encoder of GBK too, which has no four-byte sequences and a byte for the euro sign.
//
// Encoding Standard: "gb18030's encoder" (section 10.2.2).
func (s *encoderState) appendGB18030(dst []byte, c rune) ([]byte, rune) {
	isGBK := s.enc.family == gbkFamily
	if c == gb18030Unencodable {
		return dst, c
	}
	if isGBK && c == euroSign {
		return append(dst, gbkEuro), encoded
	}
	if lead, trail, ok := gb18030Side(c); ok {
		return append(dst, lead, trail), encoded
	}
	if p, ok := s.inverse.pointer(c); ok {
		lead, trail := gb18030Bytes(p)
		return append(dst, lead, trail), encoded
	}
	if isGBK {
		return dst, c
	}
	b := gb18030FourBytes(gb18030RangesPointer(c))
	return append(dst, b[:]...), encoded
}

// appendEUCJP never writes JIS X 0212, though the decoder reads it.
//
// Encoding Standard: "EUC-JP's encoder" (section 12.1.2).
func (s *encoderState) appendEUCJP(dst []byte, c rune) ([]byte, rune) {
	switch {
	case c == yenSign:
		return append(dst, '\\'), encoded
	case c == overline:
		return append(dst, '~'), encoded
	case halfWidthKatakana <= c && c <= lastHalfWidthKatakana:
		return append(dst, 0x8E, byte(c-halfWidthKatakana+halfWidthSingleByte)), encoded
	case c == minusSign:
		c = fullwidthHyphen
	}
	p, ok := s.inverse.pointer(c)
	if !ok {
		return dst, c
	}
	return append(dst, byte(p/jisRow+0xA1), byte(p%jisRow+0xA1)), encoded
}

// appendShiftJIS encodes to Shift_JIS as Windows knows it, less the user-defined characters.
//
// Encoding Standard: "Shift_JIS's encoder" (section 12.3.2).
func (s *encoderState) appendShiftJIS(dst []byte, c rune) ([]byte, rune) {
	switch {
	case c == 0x80:
		return append(dst, 0x80), encoded
	case c == yenSign:
		return append(dst, '\\'), encoded
	case c == overline:
		return append(dst, '~'), encoded
	case halfWidthKatakana <= c && c <= lastHalfWidthKatakana:
		return append(dst, byte(c-halfWidthKatakana+halfWidthSingleByte)), encoded
	case c == minusSign:
		c = fullwidthHyphen
	}
	p, ok := s.inverse.pointer(c)
	if !ok {
		return dst, c
	}
	lead, trail := shiftJISBytes(p)
	return append(dst, lead, trail), encoded
}

// appendISO2022JP switches to the character set that c is in.
//
// Encoding Standard: "ISO-2022-JP's encoder" (section 12.2.2).
func (s *encoderState) appendISO2022JP(dst []byte, c rune) ([]byte, rune) {
	if s.iso == isoLeadByte && c < 0x80 {
		dst = s.escape(dst, isoASCII)
	}
	isRomanOnly := c == yenSign || c == overline
	switch {
	case isISO2022Control(c):
		return dst, utf8.RuneError
	case c < 0x80:
		if s.iso == isoRoman && (c == '\\' || c == '~') {
			dst = s.escape(dst, isoASCII)
		}
		return append(dst, byte(c)), encoded
	case isRomanOnly:
		if s.iso != isoRoman {
			dst = s.escape(dst, isoRoman)
		}
		if c == yenSign {
			return append(dst, '\\'), encoded
		}
		return append(dst, '~'), encoded
	case c == minusSign:
		c = fullwidthHyphen
	case halfWidthKatakana <= c && c <= lastHalfWidthKatakana:
		c = katakana[c-halfWidthKatakana]
	}
	p, ok := s.inverse.pointer(c)
	if !ok {
		if s.iso == isoLeadByte {
			dst = s.escape(dst, isoASCII)
		}
		return dst, c
	}
	if s.iso != isoLeadByte {
		dst = s.escape(dst, isoLeadByte)
	}
	return append(dst, byte(p/jisRow+0x21), byte(p%jisRow+0x21)), encoded
}

// escape writes the escape sequence that leads to the given state.
func (s *encoderState) escape(dst []byte, to isoState) []byte {
	s.iso = to
	switch to {
	case isoRoman:
		return append(dst, 0x1B, '(', 'J')
	case isoLeadByte:
		return append(dst, 0x1B, '$', 'B')
	default:
		return append(dst, 0x1B, '(', 'B')
	}
}

// katakana holds the full-width forms of the half-width katakana from U+FF61 on; voicing marks stay alone.
//
// Encoding Standard: "index ISO-2022-JP katakana" (section 5).
var katakana = [lastHalfWidthKatakana - halfWidthKatakana + 1]rune{
	0x3002, 0x300C, 0x300D, 0x3001, 0x30FB, 0x30F2, 0x30A1, 0x30A3, 0x30A5, 0x30A7, 0x30A9, 0x30E3, 0x30E5,
	0x30E7, 0x30C3, 0x30FC, 0x30A2, 0x30A4, 0x30A6, 0x30A8, 0x30AA, 0x30AB, 0x30AD, 0x30AF, 0x30B1, 0x30B3,
	0x30B5, 0x30B7, 0x30B9, 0x30BB, 0x30BD, 0x30BF, 0x30C1, 0x30C4, 0x30C6, 0x30C8, 0x30CA, 0x30CB, 0x30CC,
	0x30CD, 0x30CE, 0x30CF, 0x30D2, 0x30D5, 0x30D8, 0x30DB, 0x30DE, 0x30DF, 0x30E0, 0x30E1, 0x30E2, 0x30E4,
	0x30E6, 0x30E8, 0x30E9, 0x30EA, 0x30EB, 0x30EC, 0x30ED, 0x30EF, 0x30F3, 0x309B, 0x309C,
}
