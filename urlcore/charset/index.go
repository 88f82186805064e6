package charset

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/traditionalchinese"
)

// An index is one of the standard's tables (section 5): the code point of each pointer, 0 where there is
// none. The tables themselves live in x/text, which shows them only through its decoders; so an index is
// read off a decoder, byte sequence by byte sequence, when it is first needed, and kept. It is not changed
// afterwards. The conformance test compares each with the standard's own table.
//
// U+0000 is in no index, which is why it can stand for "none".
type index []rune

// at returns the code point of pointer, and false when the index has none.
func (x index) at(pointer int) (rune, bool) {
	if pointer >= len(x) || x[pointer] == 0 {
		return 0, false
	}
	return x[pointer], true
}

// The sizes of the indexes' rows, in pointers.
const (
	big5Row    = 157
	jisRow     = 94
	sjisRow    = 188
	gb18030Row = 190
	eucKRRow   = 190
)

var (
	big5Index    = sync.OnceValue(buildBig5Index)
	jis0208Index = sync.OnceValue(buildJIS0208Index)
	jis0212Index = sync.OnceValue(buildJIS0212Index)
	eucKRIndex   = sync.OnceValue(buildEUCKRIndex)
	gb18030Index = sync.OnceValue(buildGB18030Index)
)

// reader reads code points off a decoder of x/text.
type reader struct {
	decoder *encoding.Decoder
	in      [4]byte // held here, not on the stack, to allocate once and not for each of the 24,000 pointers
	out     [2 * utf8.UTFMax]byte
}

// read returns the one code point that seq stands for, or 0 if the decoder makes anything else of it.
func (r *reader) read(seq ...byte) rune {
	r.decoder.Reset()
	n, _, err := r.decoder.Transform(r.out[:], r.in[:copy(r.in[:], seq)], true)
	if err != nil {
		return 0
	}
	c, size := utf8.DecodeRune(r.out[:n])
	if size != n || c == utf8.RuneError {
		return 0
	}
	return c
}

// buildSingleByteIndex reads the upper half of a code page. Gaps between 0x80 and 0x9F are the C1 controls:
// the standard follows Windows and ISO here, x/text Unicode's tables, which leave them undefined.
func buildSingleByteIndex(page *charmap.Charmap) index {
	x := make(index, 0x80)
	for p := range x {
		b := byte(0x80 + p)
		if c := page.DecodeByte(b); c != utf8.RuneError {
			x[p] = c
		} else if b < 0xA0 {
			x[p] = rune(b)
		}
	}
	return x
}

// buildIndex reads n code points off a decoder, at the bytes of their pointers.
func buildIndex(from encoding.Encoding, n int, bytes func(pointer int) (lead, trail byte)) index {
	r := reader{decoder: from.NewDecoder()}
	x := make(index, n)
	for p := range x {
		lead, trail := bytes(p)
		x[p] = r.read(lead, trail)
	}
	return x
}

func buildBig5Index() index {
	return buildIndex(traditionalchinese.Big5, (0xFE-0x81+1)*big5Row, big5Bytes)
}

func buildEUCKRIndex() index { return buildIndex(korean.EUCKR, (0xFE-0x81+1)*eucKRRow, eucKRBytes) }

// buildJIS0208Index reads Shift_JIS, not EUC-JP, because only Shift_JIS reaches the pointers from 8836 on.
func buildJIS0208Index() index {
	return buildIndex(japanese.ShiftJIS, (0xFC-0xC1+1)*sjisRow, shiftJISBytes)
}

func buildJIS0212Index() index {
	r := reader{decoder: japanese.EUCJP.NewDecoder()}
	x := make(index, jisRow*jisRow)
	for p := range x {
		x[p] = r.read(0x8F, byte(p/jisRow+0xA1), byte(p%jisRow+0xA1))
	}
	return x
}
