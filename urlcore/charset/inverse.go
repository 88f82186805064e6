package charset

import "sync"

// inversePage is how many code points share a page of an inverse.
const inversePage = 256

// inversePlanes is one more than the highest plane in an index: Big5 reaches U+2FFFF.
const inversePlanes = 3

// An inverse is an index turned round for the encoders: the pointer of each code point, plus one. Pages
// without any pointer are nil. The largest takes about 60 KiB.
type inverse [inversePlanes << 16 / inversePage]*[inversePage]uint16

// pointer returns the pointer of c, and false when the index it was made from lacks c.
func (v *inverse) pointer(c rune) (int, bool) {
	n := int(c) / inversePage
	if n >= len(v) || v[n] == nil {
		return 0, false
	}
	p := int(v[n][c%inversePage])
	return p - 1, p != 0
}

// set gives c the pointer p, unless it has one already.
func (v *inverse) set(c rune, p int) {
	page := &v[c/inversePage]
	if *page == nil {
		*page = new([inversePage]uint16)
	}
	if slot := &(*page)[c%inversePage]; *slot == 0 {
		*slot = uint16(p + 1)
	}
}

// invert returns the first pointer of every code point in x, leaving out the pointers from skip to before
// end.
//
// Encoding Standard: "index pointer" (section 5).
func invert(x index, skip, end int) *inverse {
	v := new(inverse)
	for p, c := range x {
		if c != 0 && (p < skip || p >= end) {
			v.set(c, p)
		}
	}
	return v
}

const (
	// big5FirstEncoded is the first pointer that is encoded to; those before are the Hong Kong extensions.
	big5FirstEncoded = (0xA1 - 0x81) * big5Row
	// Shift_JIS doubles the rows of NEC's selection of IBM characters at the end of the table, and is
	// encoded to the latter.
	shiftJISSkip, shiftJISSkipEnd = 8272, 8836
)

// big5Last are the code points that are in Big5 twice and encoded to the second place.
var big5Last = [...]rune{0x2550, 0x255E, 0x2561, 0x256A, 0x5341, 0x5345}

// The inverses are built once, on first use. Index jis0212 has none: EUC-JP only decodes it.
var (
	jis0208Inverse  = sync.OnceValue(func() *inverse { return invert(jis0208Index(), 0, 0) })
	shiftJISInverse = sync.OnceValue(func() *inverse { return invert(jis0208Index(), shiftJISSkip, shiftJISSkipEnd) })
	eucKRInverse    = sync.OnceValue(func() *inverse { return invert(eucKRIndex(), 0, 0) })
	gb18030Inverse  = sync.OnceValue(func() *inverse { return invert(gb18030Index(), 0, 0) })
	big5Inverse     = sync.OnceValue(func() *inverse {
		x := big5Index()
		v := new(inverse)
		for p := len(x) - 1; p >= big5FirstEncoded; p-- {
			for _, c := range big5Last {
				if x[p] == c {
					v.set(c, p)
				}
			}
		}
		for p := big5FirstEncoded; p < len(x); p++ {
			if x[p] != 0 {
				v.set(x[p], p)
			}
		}
		return v
	})
)
