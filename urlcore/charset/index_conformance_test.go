package charset

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlmill/urlmill/internal/dev/conformance"
)

// all lists the encodings in the standard's order.
var all = []*Encoding{
	UTF8, IBM866, ISO8859_2, ISO8859_3, ISO8859_4, ISO8859_5, ISO8859_6, ISO8859_7, ISO8859_8, ISO8859_8I,
	ISO8859_10, ISO8859_13, ISO8859_14, ISO8859_15, ISO8859_16, KOI8R, KOI8U, Macintosh, Windows874,
	Windows1250, Windows1251, Windows1252, Windows1253, Windows1254, Windows1255, Windows1256, Windows1257,
	Windows1258, XMacCyrillic, GBK, GB18030, Big5, EUCJP, ISO2022JP, ShiftJIS, EUCKR, Replacement, UTF16BE,
	UTF16LE, XUserDefined,
}

// entry is a line of an index file.
type entry struct {
	pointer int
	c       rune
}

// readIndex reads an index file: lines of a decimal pointer and a hexadecimal code point.
func readIndex(t *testing.T, name string) []entry {
	t.Helper()
	var entries []entry
	lines := bufio.NewScanner(bytes.NewReader(conformance.Read(t, "encoding-indexes/index-"+name+".txt")))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		var e entry
		if _, err := fmt.Sscanf(line, "%d\t0x%x", &e.pointer, &e.c); err != nil {
			t.Fatalf("%s: %q: %v", name, line, err)
		}
		entries = append(entries, e)
	}
	return entries
}

// toCode and toPointer are an index file as two maps; toPointer has the first pointer.
func maps(entries []entry) (toCode map[int]rune, toPointer map[rune]int) {
	toCode, toPointer = map[int]rune{}, map[rune]int{}
	for _, e := range entries {
		toCode[e.pointer] = e.c
		if _, ok := toPointer[e.c]; !ok {
			toPointer[e.c] = e.pointer
		}
	}
	return toCode, toPointer
}

// fileOf is the index file of a single-byte encoding.
func fileOf(e *Encoding) string {
	if e == ISO8859_8I {
		e = ISO8859_8
	}
	return strings.ToLower(e.Name())
}

// TestConformanceIndexes compares what is read off x/text with the standard's tables, pointer by pointer.
func TestConformanceIndexes(t *testing.T) {
	type pair struct {
		file string
		x    index
	}
	pairs := []pair{
		{"big5", big5Index()},
		{"euc-kr", eucKRIndex()},
		{"gb18030", gb18030Index()},
		{"jis0208", jis0208Index()},
		{"jis0212", jis0212Index()},
	}
	for _, e := range all {
		if e.family == singleByteFamily {
			pairs = append(pairs, pair{fileOf(e), e.index()})
		}
	}
	for _, p := range pairs {
		var s score
		toCode, _ := maps(readIndex(t, p.file))
		for pointer := range 40000 {
			c, ok := p.x.at(pointer)
			want, wanted := toCode[pointer]
			if ok || wanted {
				s.check(t, ok == wanted && c == want, "%s: pointer %d: got %U, want %U", p.file, pointer, c, want)
			}
		}
		s.log(t, "index-"+p.file+".txt")
	}
}

func TestConformanceKatakanaIndex(t *testing.T) {
	var s score
	entries := readIndex(t, "iso-2022-jp-katakana")
	for _, e := range entries {
		s.check(t, katakana[e.pointer] == e.c, "pointer %d: got %U, want %U", e.pointer, katakana[e.pointer], e.c)
	}
	s.check(t, len(entries) == len(katakana), "the table has %d entries, want %d", len(katakana), len(entries))
	s.log(t, "index-iso-2022-jp-katakana.txt")
}

// TestConformanceGB18030Ranges decodes every four-byte pointer and encodes the result back.
func TestConformanceGB18030Ranges(t *testing.T) {
	entries := readIndex(t, "gb18030-ranges")
	_, twoBytes := maps(readIndex(t, "gb18030"))
	var s score
	i := 0
	for p := range (0xFE - 0x81 + 1) * 12600 {
		for i+1 < len(entries) && entries[i+1].pointer <= p {
			i++
		}
		want := entries[i].c + rune(p-entries[i].pointer)
		isCode := p <= 39419 || p >= 189000 && p <= 1237575
		if p == 7457 {
			want = 0xE7C7
		}
		got, ok := gb18030RangesCodePoint(p)
		good := ok == isCode && (!ok || got == want)
		if _, two := twoBytes[want]; ok && !two {
			good = good && gb18030RangesPointer(want) == p
		}
		if s.total++; good {
			s.passed++
		} else {
			t.Errorf("pointer %d: got %U, %t; want %U, %t", p, got, ok, want, isCode)
		}
	}
	s.log(t, "index-gb18030-ranges.txt (all four-byte pointers)")
}

// reference encodes one code point by the standard's rules with the tables from the files; nil when it
// cannot. ISO-2022-JP is left to reference2022.
type reference func(c rune) []byte

func referenceSingleByte(t *testing.T, e *Encoding) reference {
	_, pointers := maps(readIndex(t, fileOf(e)))
	return func(c rune) []byte {
		if p, ok := pointers[c]; ok {
			return []byte{byte(p + 0x80)}
		}
		return nil
	}
}

func referenceGB(t *testing.T, gbk bool) reference {
	_, pointers := maps(readIndex(t, "gb18030"))
	ranges := readIndex(t, "gb18030-ranges")
	side := map[rune][]byte{}
	lines := bufio.NewScanner(bytes.NewReader(conformance.Read(t, "encoding-indexes/gb18030-encoder-side-table.txt")))
	for lines.Scan() {
		var c rune
		b := make([]byte, 2)
		if _, err := fmt.Sscanf(lines.Text(), "%x %x %x", &c, &b[0], &b[1]); err == nil {
			side[c] = b
		}
	}
	if len(side) != 18 {
		t.Fatalf("the side table has %d rows, want 18", len(side))
	}
	return func(c rune) []byte {
		if c == 0xE5E5 {
			return nil
		}
		if gbk && c == 0x20AC {
			return []byte{0x80}
		}
		if b, ok := side[c]; ok {
			return b
		}
		if p, ok := pointers[c]; ok {
			offset := 0x41
			if p%190 < 0x3F {
				offset = 0x40
			}
			return []byte{byte(p/190 + 0x81), byte(p%190 + offset)}
		}
		if gbk {
			return nil
		}
		p := 7457
		if c != 0xE7C7 {
			i, found := slices.BinarySearchFunc(ranges, c, func(e entry, c rune) int { return int(e.c - c) })
			if !found {
				i--
			}
			p = ranges[i].pointer + int(c-ranges[i].c)
		}
		return []byte{byte(p/12600 + 0x81), byte(p%12600/1260 + 0x30), byte(p%1260/10 + 0x81), byte(p%10 + 0x30)}
	}
}

func referenceBig5(t *testing.T) reference {
	pointers := map[rune]int{}
	for _, e := range readIndex(t, "big5") {
		_, seen := pointers[e.c]
		if e.pointer >= 5024 && (!seen || slices.Contains(big5Last[:], e.c)) {
			pointers[e.c] = e.pointer
		}
	}
	return func(c rune) []byte {
		p, ok := pointers[c]
		if !ok {
			return nil
		}
		offset := 0x62
		if p%157 < 0x3F {
			offset = 0x40
		}
		return []byte{byte(p/157 + 0x81), byte(p%157 + offset)}
	}
}

func referenceEUCKR(t *testing.T) reference {
	_, pointers := maps(readIndex(t, "euc-kr"))
	return func(c rune) []byte {
		if p, ok := pointers[c]; ok {
			return []byte{byte(p/190 + 0x81), byte(p%190 + 0x41)}
		}
		return nil
	}
}

func referenceEUCJP(t *testing.T) reference {
	_, pointers := maps(readIndex(t, "jis0208"))
	return func(c rune) []byte {
		switch {
		case c == 0xA5:
			return []byte{0x5C}
		case c == 0x203E:
			return []byte{0x7E}
		case c >= 0xFF61 && c <= 0xFF9F:
			return []byte{0x8E, byte(c - 0xFF61 + 0xA1)}
		case c == 0x2212:
			c = 0xFF0D
		}
		if p, ok := pointers[c]; ok {
			return []byte{byte(p/94 + 0xA1), byte(p%94 + 0xA1)}
		}
		return nil
	}
}

func referenceShiftJIS(t *testing.T) reference {
	entries := slices.DeleteFunc(readIndex(t, "jis0208"), func(e entry) bool { return e.pointer >= 8272 && e.pointer <= 8835 })
	_, pointers := maps(entries)
	return func(c rune) []byte {
		switch {
		case c == 0x80:
			return []byte{0x80}
		case c == 0xA5:
			return []byte{0x5C}
		case c == 0x203E:
			return []byte{0x7E}
		case c >= 0xFF61 && c <= 0xFF9F:
			return []byte{byte(c - 0xFF61 + 0xA1)}
		case c == 0x2212:
			c = 0xFF0D
		}
		p, ok := pointers[c]
		if !ok {
			return nil
		}
		lead, trail := p/188+0x81, p%188+0x40
		if p/188 >= 0x1F {
			lead += 0x40
		}
		if p%188 >= 0x3F {
			trail++
		}
		return []byte{byte(lead), byte(trail)}
	}
}

// reference2022 gives the bytes from the initial state back to it.
func reference2022(t *testing.T) reference {
	_, pointers := maps(readIndex(t, "jis0208"))
	folded, _ := maps(readIndex(t, "iso-2022-jp-katakana"))
	return func(c rune) []byte {
		switch {
		case c == 0xA5:
			return []byte("\x1B(J\\\x1B(B")
		case c == 0x203E:
			return []byte("\x1B(J~\x1B(B")
		case c >= 0xFF61 && c <= 0xFF9F:
			c = folded[int(c-0xFF61)]
		case c == 0x2212:
			c = 0xFF0D
		}
		p, ok := pointers[c]
		if !ok {
			return nil
		}
		return []byte{0x1B, '$', 'B', byte(p/94 + 0x21), byte(p%94 + 0x21), 0x1B, '(', 'B'}
	}
}

// TestConformanceEncodersOverAllCodePoints encodes every Unicode scalar value in every encoding that has an
// encoder and compares with the rules applied to the standard's tables. What could be encoded must decode
// to the same again, but for the code points that the standard folds into others.
func TestConformanceEncodersOverAllCodePoints(t *testing.T) {
	folds := map[*Encoding][]rune{
		EUCJP:     {0xA5, 0x203E, 0x2212},
		ShiftJIS:  {0xA5, 0x203E, 0x2212},
		ISO2022JP: {0x2212},
	}
	for _, e := range all {
		if e.Output() != e || e == UTF8 {
			continue
		}
		var want reference
		switch e.family {
		case gbkFamily, gb18030Family:
			want = referenceGB(t, e == GBK)
		case big5Family:
			want = referenceBig5(t)
		case eucKRFamily:
			want = referenceEUCKR(t)
		case eucJPFamily:
			want = referenceEUCJP(t)
		case shiftJISFamily:
			want = referenceShiftJIS(t)
		case iso2022JPFamily:
			want = reference2022(t)
		case userDefinedFamily:
			want = func(c rune) []byte {
				if c >= 0xF780 && c <= 0xF7FF {
					return []byte{byte(c - 0xF700)}
				}
				return nil
			}
		default:
			want = referenceSingleByte(t, e)
		}
		compareEncoder(t, e, want, func(c rune) bool {
			_, _, isSide := gb18030Side(c)
			return slices.Contains(folds[e], c) ||
				e == ISO2022JP && c >= 0xFF61 && c <= 0xFF9F ||
				(e == GBK || e == GB18030) && isSide
		})
	}
}

func compareEncoder(t *testing.T, e *Encoding, want reference, isFolded func(rune) bool) {
	var s encoderState
	s.init(e)
	var out, text, src []byte
	var counts score
	for c := rune(0x80); c <= utf8.MaxRune; c++ {
		if !utf8.ValidRune(c) {
			continue
		}
		expected := want(c)
		var bad rune
		out, bad = s.append(out[:0], c)
		out = s.finish(out)
		ok := bad == encoded && bytes.Equal(out, expected) || bad == c && expected == nil && len(out) == 0
		if ok && expected != nil && !isFolded(c) {
			text = e.AppendDecode(text[:0], out)
			src = utf8.AppendRune(src[:0], c)
			ok = bytes.Equal(text, src)
		}
		if counts.total++; ok {
			counts.passed++
		} else {
			t.Errorf("%s: %U: got % X (reported %d), want % X; decoded %q", e, c, out, bad, expected, text)
		}
	}
	counts.log(t, "encoder of "+e.Name()+" over all code points")
}

// TestConformanceDecodersOverAllPairs decodes every sequence of two bytes, the first not ASCII, and compares
// with the rules applied to the standard's tables.
func TestConformanceDecodersOverAllPairs(t *testing.T) {
	big5, _ := maps(readIndex(t, "big5"))
	for pointer, text := range map[int]string{1133: "\u00CA\u0304", 1135: "\u00CA\u030C", 1164: "\u00EA\u0304", 1166: "\u00EA\u030C"} {
		if _, ok := big5[pointer]; ok {
			t.Fatalf("pointer %d is in the index", pointer)
		}
		lead, trail := big5Bytes(pointer)
		if got := string(Big5.AppendDecode(nil, []byte{lead, trail})); got != text {
			t.Errorf("Big5: %X %X: got %q, want %q", lead, trail, got, text)
		}
		big5[pointer] = -1
	}
	gb, _ := maps(readIndex(t, "gb18030"))
	kr, _ := maps(readIndex(t, "euc-kr"))
	jis, _ := maps(readIndex(t, "jis0208"))
	high := func(b byte) int {
		if b < 0x7F {
			return 0x40
		}
		return 0x41
	}
	comparePairs(t, Big5, 0x81, 0xFE, func(l, b byte) (int, bool) {
		if b >= 0xA1 {
			return int(l-0x81)*157 + int(b) - 0x62, b <= 0xFE
		}
		return int(l-0x81)*157 + int(b) - 0x40, b >= 0x40 && b <= 0x7E
	}, big5)
	for _, e := range []*Encoding{GBK, GB18030} {
		comparePairs(t, e, 0x81, 0xFE, func(l, b byte) (int, bool) {
			return int(l-0x81)*190 + int(b) - high(b), b >= 0x40 && b <= 0xFE && b != 0x7F
		}, gb)
	}
	comparePairs(t, EUCKR, 0x81, 0xFE, func(l, b byte) (int, bool) {
		return int(l-0x81)*190 + int(b) - 0x41, b >= 0x41 && b <= 0xFE
	}, kr)
	comparePairs(t, EUCJP, 0xA1, 0xFE, func(l, b byte) (int, bool) {
		return int(l-0xA1)*94 + int(b) - 0xA1, b >= 0xA1 && b <= 0xFE
	}, jis)
	withUser := map[int]rune{}
	for p, c := range jis {
		withUser[p] = c
	}
	for p := 8836; p <= 10715; p++ {
		withUser[p] = 0xE000 + rune(p-8836)
	}
	shiftJIS := func(l, b byte) (int, bool) {
		if l >= 0xE0 {
			l -= 0x40
		}
		return int(l-0x81)*188 + int(b) - high(b), b >= 0x40 && b <= 0xFC && b != 0x7F
	}
	comparePairs(t, ShiftJIS, 0x81, 0x9F, shiftJIS, withUser)
	comparePairs(t, ShiftJIS, 0xE0, 0xFC, shiftJIS, withUser)
}

// comparePairs checks the pairs with a lead byte from first to last. pointer computes the index pointer, and
// whether the second byte can follow at all. A code point of -1 stands for "checked elsewhere".
func comparePairs(t *testing.T, e *Encoding, first, last int, pointer func(l, b byte) (int, bool), codes map[int]rune) {
	var s score
	isGB := e.family == gbkFamily || e.family == gb18030Family
	for l := first; l <= last; l++ {
		for b := range 256 {
			if isGB && b >= 0x30 && b <= 0x39 {
				continue // the start of four bytes
			}
			want := "\uFFFD"
			if b < 0x80 {
				want += string(rune(b))
			}
			if p, ok := pointer(byte(l), byte(b)); ok {
				if c, ok := codes[p]; ok && c < 0 {
					continue
				} else if ok {
					want = string(c)
				}
			}
			got := string(e.AppendDecode(nil, []byte{byte(l), byte(b)}))
			if s.total++; got == want {
				s.passed++
			} else {
				t.Errorf("%s: %X %X: got %q, want %q", e, l, b, got, want)
			}
		}
	}
	s.log(t, fmt.Sprintf("decoder of %s over all pairs from %X to %X", e, first, last))
}

// TestConformanceJIS0212 decodes every three-byte sequence of EUC-JP.
func TestConformanceJIS0212(t *testing.T) {
	codes, _ := maps(readIndex(t, "jis0212"))
	var s score
	for p := range 94 * 94 {
		want, ok := codes[p]
		if !ok {
			want = utf8.RuneError
		}
		got := string(EUCJP.AppendDecode(nil, []byte{0x8F, byte(p/94 + 0xA1), byte(p%94 + 0xA1)}))
		s.check(t, got == string(want), "pointer %d: got %q, want %q", p, got, want)
	}
	s.log(t, "index-jis0212.txt (decoded from EUC-JP)")
}
