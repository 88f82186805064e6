package privacy

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	eachByte = 0x0101010101010101
	highBits = 0x8080808080808080
	bit6     = 0x4040404040404040
	topThree = 0xe0e0e0e0e0e0e0e0
	spaces   = 0x2020202020202020
	percents = 0x2525252525252525
)

// leastDigits is how many digits the shortest telephone number, card or pair of coordinates has that is recognised.
const leastDigits = 10

// suspect reports whether text may have something to remove. It is false for most URLs, and what it is false for has nothing: the scan
// finds nothing without one of the bytes that are looked for here, which TestPrefilter compares. It looks at eight bytes a time.
func (r *redactor) suspect(text []byte, url bool) bool {
	percent, low, before := uint64(0), uint64(0), uint64(1)
	n := len(text)
	for i := 0; i < n; i += 8 {
		var w uint64
		switch {
		case i+8 <= n:
			w = binary.LittleEndian.Uint64(text[i:])
		case n >= 8: // the last bytes, with spaces behind them
			w = binary.LittleEndian.Uint64(text[n-8:])>>(8*(8-uint(n-i))) | spaces<<(8*uint(n-i))
		default:
			w = spaces << (8 * uint(n))
			for k, c := range text {
				w |= uint64(c) << (8 * k)
			}
		}
		x := w ^ percents
		percent |= (x - eachByte) &^ x & highBits
		low |= (w - spaces) &^ w & highBits // bytes below a space
		// Two quads of bytes from space to question mark, one behind the other, have digits and what stands between them: a run of
		// eleven such bytes has two wherever it begins.
		m := (w ^ spaces) & topThree
		if uint32(m) == 0 && (before == 0 && manyDigits(text, i-4) || m == 0 && manyDigits(text, i)) {
			return true
		}
		before = m >> 32
		if up := w &^ (w << 1) & bit6; up != 0 { // bytes from @ to underscore
			for up &= marking(w); up != 0; up &= up - 1 {
				if marks(text, i+bits.TrailingZeros64(up)>>3) {
					return true
				}
			}
		}
	}
	if low != 0 && url && bytes.ContainsAny(text, "\t\r\n") {
		return true // the parser takes them out, and what is left may be something else
	}
	return !url && (bytes.IndexByte(text, '"') >= 0 || bytes.IndexByte(text, '\\') >= 0 || bytes.Contains(text, []byte("bearer")) || bytes.Contains(text, []byte("ya29"))) || percent != 0 && hides(text) || r.named(text)
}

// marking returns the sixth bit of each byte from @ to underscore that is one of @ABGJ_, of which something may be. What it returns for
// other bytes means nothing. Of the lower five bits, shifted to the sixth of their byte, these have 0, 1, 2 and 7; 10; 31.
func marking(w uint64) uint64 {
	b0, b1, b2, b3, b4 := w<<6, w<<5, w<<4, w<<3, w<<2
	return (^(b4 | b3 | (b2 ^ b0&b1)) | b3&b1&^(b4|b2|b0) | b4&b3&b2&b1&b0) & bit6
}

// marks reports whether the byte at i, of those that marking has, may be of something.
func marks(text []byte, i int) bool {
	before, behind := text[:i], text[i+1:]
	starts := func(s string) bool { return len(behind) >= len(s) && string(behind[:len(s)]) == s }
	ends := func(s string) bool { return i >= len(s) && string(before[i-len(s):]) == s }
	switch text[i] {
	case '@':
		return true
	case 'A': // AKIA, ASIA, AIza, EAA
		return starts("KI") || starts("SI") || starts("Iz") || starts("A") && ends("E")
	case 'B':
		return starts("ear")
	case 'G':
		return starts(".") && ends("S")
	case 'J':
		return ends("ey")
	case '_': // ghp_, gho_ and so on, github_pat_, sk_, rk_, npm_
		return i > 2 && before[i-2] == 'h' && before[i-3] == 'g' || ends("sk") || ends("rk") || ends("hub") || ends("npm")
	}
	return false
}

// manyDigits reports whether the eight bytes at i, as far as there are so many, are digits and what may stand between them, in a run with
// enough digits for a telephone number, a card or coordinates.
func manyDigits(text []byte, i int) bool {
	end := min(i+8, len(text))
	for _, c := range text[i:end] {
		if class[c]&ofNumber == 0 {
			return false
		}
	}
	for i > 0 && class[text[i-1]]&ofNumber != 0 && end-i < longestNumber {
		i--
	}
	digits, separated := 0, false
	for last := min(len(text), end+longestNumber); i < last && class[text[i]]&ofNumber != 0; i++ {
		if text[i]-'0' <= 9 {
			digits++
		} else {
			separated = true
		}
		if separated && digits >= leastDigits {
			return true
		}
	}
	return digits >= leastCard && digits <= mostCard // and nothing else is without separators
}

// longestNumber is how far a run is followed to either side: numbers that go beyond it have enough digits in it.
const longestNumber = 64

// hides reports whether text has an escape of a character by which something is recognised, or behind a digit of one that may stand
// between digits.
func hides(text []byte) bool {
	for from := 0; ; {
		i := bytes.IndexByte(text[from:], '%') + from
		if i < from || i+2 >= len(text) {
			return false
		}
		c, ok := unhex(text[i+1], text[i+2])
		behind := text[i+3:]
		switch {
		case !ok:
		case c == '%':
			if len(behind) > 1 && class[behind[0]]&class[behind[1]]&ofToken != 0 {
				return true
			}
		case c == '+':
			if len(behind) > 0 && behind[0]-'0' <= 9 {
				return true
			}
		case class[c]&telling != 0:
			return true
		case class[c]&betweenDigits != 0 && i > 0 && text[i-1]-'0' <= 9 && (i < 3 || text[i-3] != '%'):
			return true
		}
		from = i + 1
	}
}

// named reports whether text has the name of a rule before an equals sign, or a segment of one.
func (r *redactor) named(text []byte) bool {
	for from := 0; !r.names.none(); {
		i := bytes.IndexByte(text[from:], '=')
		if i < 0 {
			break
		}
		to := from + i
		if n := to - longWord; n >= 0 {
			if w, ok := lastWord(text[n:to]); ok {
				known := r.words.slot(w)
				if known.word != w {
					*known = knownWord{w, r.namedAt(text, n, to)}
				}
				if known.named {
					return true
				}
				from = to + 1
				continue
			}
		}
		if r.namedAt(text, from, to) {
			return true
		}
		from = to + 1
	}
	if r.segments.none() {
		return false
	}
	for from := 0; ; {
		i := bytes.IndexByte(text[from:], '/')
		if i < 0 {
			return false
		}
		if r.segments.match(text[from:from+i]) >= 0 {
			return true
		}
		from += i + 1
	}
}

// namedAt reports whether the name of a rule stands before the equals sign at to, or one with an escape before it.
func (r *redactor) namedAt(text []byte, from, to int) bool {
	start := to
	for start > from && class[text[start-1]]&ofName != 0 {
		start--
	}
	return start > from && text[start-1] == '%' || r.names.match(text[start:to]) >= 0
}

// longWord is how many bytes before an equals sign a name is remembered by, with the separator before it.
const longWord = 16

// word is the last & or ? of longWord bytes and what stands behind it, with zeros before it. A name and what it is told by are in it.
type word struct{ low, high uint64 }

// lastWord returns the word of longWord bytes, false if there is no & and no ?.
func lastWord(b []byte) (w word, ok bool) {
	_ = b[longWord-1]
	w.low, w.high = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if at := separators(w.high); at != 0 {
		return word{0, w.high &^ (1<<(56-uint(bits.LeadingZeros64(at))) - 1)}, true
	}
	at := separators(w.low)
	return word{w.low &^ (1<<((56-uint(bits.LeadingZeros64(at)))&63) - 1), w.high}, at != 0
}

// separators returns the high bit of each byte that is & or ?.
func separators(w uint64) uint64 {
	x, y := w^eachByte*'&', w^eachByte*'?'
	x, y = (x&^highBits+^uint64(highBits))|x, (y&^highBits+^uint64(highBits))|y
	return ^(x & y) & highBits
}

// words remember whether the name of a rule stands at the end of a word.
type words [1 << 9]knownWord

type knownWord struct {
	word
	named bool
}

// slot returns where a word is remembered. No word is zero, as empty slots are.
func (k *words) slot(w word) *knownWord {
	return &k[(w.low*0x9E3779B97F4A7C15^w.high*0xC2B2AE3D27D4EB4F)>>55]
}

// Classes of bytes.
const (
	ofName        = 1 << iota // what names are of
	betweenDigits             // what may stand between digits
	ofNumber                  // digits, and what may stand between them
	telling                   // what something is recognised by when it is escaped
	ofToken                   // letters, digits, hyphen and underscore
	alphanumeric              // ASCII letters and digits, and all beyond ASCII
	ofDomain                  // of domains of e-mail addresses
	ofLocal                   // of what stands before their @
	anchor                    // what the scan stops at
	inTexts                   // what secrets begin with that are looked for in texts alone
)

var class = func() (t [256]uint16) {
	set := func(c int, in bool, bit uint16) {
		if in {
			t[c] |= bit
		}
	}
	for c := range t {
		b := byte(c)
		digit, letter := b-'0' <= 9, (b|0x20)-'a' < 26
		among := func(s string) bool { return bytes.IndexByte([]byte(s), b) >= 0 }
		set(c, digit || letter || b >= 0x80 || among("_-.[]$~@*"), ofName)
		set(c, among(" -.+(),;%"), betweenDigits)
		set(c, digit || among(" -.+(),;%"), ofNumber)
		set(c, digit || letter || b < ' ' || among("@=._-[]\\\""), telling)
		set(c, digit || letter || among("-_"), ofToken)
		set(c, digit || letter || b >= 0x80, alphanumeric)
		set(c, digit || letter || b >= 0x80 || among("-."), ofDomain)
		set(c, digit || letter || b >= 0x80 || among("-._+%"), ofLocal)
		set(c, among("by"), inTexts)
		set(c, digit || among("@:=+(-/?#") || among("eAgsrxnEBSby"), anchor)
	}
	return t
}()

// unhex returns the byte of two hex digits.
func unhex(hi, lo byte) (byte, bool) {
	h, okHigh := nibble(hi)
	l, okLow := nibble(lo)
	return h<<4 | l, okHigh && okLow
}

func nibble(c byte) (byte, bool) {
	switch {
	case c-'0' <= 9:
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return (c | 0x20) - 'a' + 10, true
	}
	return 0, false
}
