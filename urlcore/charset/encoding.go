package charset

import (
	"sync"

	"golang.org/x/text/encoding/charmap"
)

// Encoding is one of the 40 encodings of the Encoding Standard. The package's variables are the only
// values; they are compared by pointer, never change and may be used from any number of goroutines.
type Encoding struct {
	name   string
	family family
	// index and inverse return the tables for decoding and encoding, and build them at the first call. They
	// are nil for encodings without an index.
	index   func() index
	inverse func() *inverse
}

// family tells which of the standard's decoder and encoder algorithms an encoding runs on.
type family uint8

const (
	utf8Family family = iota
	utf16BEFamily
	utf16LEFamily
	replacementFamily
	userDefinedFamily
	singleByteFamily
	gbkFamily
	gb18030Family
	big5Family
	eucJPFamily
	iso2022JPFamily
	shiftJISFamily
	eucKRFamily
)

// The encodings of the standard, in its order (section 4.2).
var (
	UTF8         = &Encoding{name: "UTF-8", family: utf8Family}
	IBM866       = singleByte("IBM866", charmap.CodePage866)
	ISO8859_2    = singleByte("ISO-8859-2", charmap.ISO8859_2)
	ISO8859_3    = singleByte("ISO-8859-3", charmap.ISO8859_3)
	ISO8859_4    = singleByte("ISO-8859-4", charmap.ISO8859_4)
	ISO8859_5    = singleByte("ISO-8859-5", charmap.ISO8859_5)
	ISO8859_6    = singleByte("ISO-8859-6", charmap.ISO8859_6)
	ISO8859_7    = singleByte("ISO-8859-7", charmap.ISO8859_7)
	ISO8859_8    = singleByte("ISO-8859-8", charmap.ISO8859_8)
	ISO8859_8I   = singleByte("ISO-8859-8-I", charmap.ISO8859_8) // the same bytes; only the text direction differs
	ISO8859_10   = singleByte("ISO-8859-10", charmap.ISO8859_10)
	ISO8859_13   = singleByte("ISO-8859-13", charmap.ISO8859_13)
	ISO8859_14   = singleByte("ISO-8859-14", charmap.ISO8859_14)
	ISO8859_15   = singleByte("ISO-8859-15", charmap.ISO8859_15)
	ISO8859_16   = singleByte("ISO-8859-16", charmap.ISO8859_16)
	KOI8R        = singleByte("KOI8-R", charmap.KOI8R)
	KOI8U        = singleByte("KOI8-U", charmap.KOI8U)
	Macintosh    = singleByte("macintosh", charmap.Macintosh)
	Windows874   = singleByte("windows-874", charmap.Windows874)
	Windows1250  = singleByte("windows-1250", charmap.Windows1250)
	Windows1251  = singleByte("windows-1251", charmap.Windows1251)
	Windows1252  = singleByte("windows-1252", charmap.Windows1252)
	Windows1253  = singleByte("windows-1253", charmap.Windows1253)
	Windows1254  = singleByte("windows-1254", charmap.Windows1254)
	Windows1255  = singleByte("windows-1255", charmap.Windows1255)
	Windows1256  = singleByte("windows-1256", charmap.Windows1256)
	Windows1257  = singleByte("windows-1257", charmap.Windows1257)
	Windows1258  = singleByte("windows-1258", charmap.Windows1258)
	XMacCyrillic = singleByte("x-mac-cyrillic", charmap.MacintoshCyrillic)
	GBK          = &Encoding{name: "GBK", family: gbkFamily, index: gb18030Index, inverse: gb18030Inverse}
	GB18030      = &Encoding{name: "gb18030", family: gb18030Family, index: gb18030Index, inverse: gb18030Inverse}
	Big5         = &Encoding{name: "Big5", family: big5Family, index: big5Index, inverse: big5Inverse}
	EUCJP        = &Encoding{name: "EUC-JP", family: eucJPFamily, index: jis0208Index, inverse: jis0208Inverse}
	ISO2022JP    = &Encoding{name: "ISO-2022-JP", family: iso2022JPFamily, index: jis0208Index, inverse: jis0208Inverse}
	ShiftJIS     = &Encoding{name: "Shift_JIS", family: shiftJISFamily, index: jis0208Index, inverse: shiftJISInverse}
	EUCKR        = &Encoding{name: "EUC-KR", family: eucKRFamily, index: eucKRIndex, inverse: eucKRInverse}
	Replacement  = &Encoding{name: "replacement", family: replacementFamily}
	UTF16BE      = &Encoding{name: "UTF-16BE", family: utf16BEFamily}
	UTF16LE      = &Encoding{name: "UTF-16LE", family: utf16LEFamily}
	XUserDefined = &Encoding{name: "x-user-defined", family: userDefinedFamily}
)

// Name returns the standard's name, such as "UTF-8" or "Shift_JIS".
func (e *Encoding) Name() string { return e.name }

// String returns the name.
func (e *Encoding) String() string { return e.name }

// Output returns the encoding that URLs and forms are written in where e is the encoding of the document:
// UTF-8 for UTF-16BE, UTF-16LE and replacement, which have no encoder, and else e itself.
//
// Encoding Standard: "get an output encoding" (section 4.3).
func (e *Encoding) Output() *Encoding {
	switch e {
	case UTF16BE, UTF16LE, Replacement:
		return UTF8
	}
	return e
}

// singleByte makes an encoding whose index is the upper half of a code page of x/text.
func singleByte(name string, page *charmap.Charmap) *Encoding {
	x := sync.OnceValue(func() index { return buildSingleByteIndex(page) })
	return &Encoding{
		name:    name,
		family:  singleByteFamily,
		index:   x,
		inverse: sync.OnceValue(func() *inverse { return invert(x(), 0, 0) }),
	}
}
