package charset

// Encoding is one of the 40 encodings of the Encoding Standard. The package's variables are the only
// values; they are compared by pointer, never change and may be used from any number of goroutines.
type Encoding struct {
	name string
}

// The encodings of the standard, in its order (section 4.2).
var (
	UTF8         = &Encoding{name: "UTF-8"}
	IBM866       = &Encoding{name: "IBM866"}
	ISO8859_2    = &Encoding{name: "ISO-8859-2"}
	ISO8859_3    = &Encoding{name: "ISO-8859-3"}
	ISO8859_4    = &Encoding{name: "ISO-8859-4"}
	ISO8859_5    = &Encoding{name: "ISO-8859-5"}
	ISO8859_6    = &Encoding{name: "ISO-8859-6"}
	ISO8859_7    = &Encoding{name: "ISO-8859-7"}
	ISO8859_8    = &Encoding{name: "ISO-8859-8"}
	ISO8859_8I   = &Encoding{name: "ISO-8859-8-I"}
	ISO8859_10   = &Encoding{name: "ISO-8859-10"}
	ISO8859_13   = &Encoding{name: "ISO-8859-13"}
	ISO8859_14   = &Encoding{name: "ISO-8859-14"}
	ISO8859_15   = &Encoding{name: "ISO-8859-15"}
	ISO8859_16   = &Encoding{name: "ISO-8859-16"}
	KOI8R        = &Encoding{name: "KOI8-R"}
	KOI8U        = &Encoding{name: "KOI8-U"}
	Macintosh    = &Encoding{name: "macintosh"}
	Windows874   = &Encoding{name: "windows-874"}
	Windows1250  = &Encoding{name: "windows-1250"}
	Windows1251  = &Encoding{name: "windows-1251"}
	Windows1252  = &Encoding{name: "windows-1252"}
	Windows1253  = &Encoding{name: "windows-1253"}
	Windows1254  = &Encoding{name: "windows-1254"}
	Windows1255  = &Encoding{name: "windows-1255"}
	Windows1256  = &Encoding{name: "windows-1256"}
	Windows1257  = &Encoding{name: "windows-1257"}
	Windows1258  = &Encoding{name: "windows-1258"}
	XMacCyrillic = &Encoding{name: "x-mac-cyrillic"}
	GBK          = &Encoding{name: "GBK"}
	GB18030      = &Encoding{name: "gb18030"}
	Big5         = &Encoding{name: "Big5"}
	EUCJP        = &Encoding{name: "EUC-JP"}
	ISO2022JP    = &Encoding{name: "ISO-2022-JP"}
	ShiftJIS     = &Encoding{name: "Shift_JIS"}
	EUCKR        = &Encoding{name: "EUC-KR"}
	Replacement  = &Encoding{name: "replacement"}
	UTF16BE      = &Encoding{name: "UTF-16BE"}
	UTF16LE      = &Encoding{name: "UTF-16LE"}
	XUserDefined = &Encoding{name: "x-user-defined"}
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
