package charset

// maxLabel is the length of the longest label, cseucpkdfmtjapanese; longer input cannot be one.
const maxLabel = 19

// Lookup returns the encoding that label names: one of the standard's 228 labels, in any ASCII case, with
// any ASCII whitespace around it. The second result is false for any other text, and then the first is nil.
//
// Encoding Standard: "get an encoding" (section 4.2).
func Lookup(label string) (*Encoding, bool) {
	for label != "" && isASCIISpace(label[0]) {
		label = label[1:]
	}
	for label != "" && isASCIISpace(label[len(label)-1]) {
		label = label[:len(label)-1]
	}
	if len(label) > maxLabel {
		return nil, false
	}
	var lower [maxLabel]byte
	for i := range len(label) {
		c := label[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	e := byLabel(lower[:len(label)])
	return e, e != nil
}

// isASCIISpace reports whether c is one of the Infra Standard's ASCII whitespace: no vertical tab, no U+00A0.
func isASCIISpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'
}

// byLabel returns the encoding of a lower-case label, or nil. A switch needs no table built at start-up.
func byLabel(label []byte) *Encoding {
	if e := byUnicodeLabel(label); e != nil {
		return e
	}
	if e := byISOLabel(label); e != nil {
		return e
	}
	if e := bySingleByteLabel(label); e != nil {
		return e
	}
	return byEastAsianLabel(label)
}

// byUnicodeLabel knows the labels of the UTF encodings, replacement and x-user-defined.
func byUnicodeLabel(label []byte) *Encoding {
	switch string(label) {
	case "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "utf-8", "utf8", "x-unicode20utf8":
		return UTF8
	case "csiso2022kr", "hz-gb-2312", "iso-2022-cn", "iso-2022-cn-ext", "iso-2022-kr", "replacement":
		return Replacement
	case "unicodefffe", "utf-16be":
		return UTF16BE
	case "csunicode", "iso-10646-ucs-2", "ucs-2", "unicode", "unicodefeff", "utf-16", "utf-16le":
		return UTF16LE
	case "x-user-defined":
		return XUserDefined
	}
	return nil
}

// byISOLabel knows the labels of the ISO-8859 family.
func byISOLabel(label []byte) *Encoding {
	switch string(label) {
	case "csisolatin2", "iso-8859-2", "iso-ir-101", "iso8859-2", "iso88592", "iso_8859-2",
		"iso_8859-2:1987", "l2", "latin2":
		return ISO8859_2
	case "csisolatin3", "iso-8859-3", "iso-ir-109", "iso8859-3", "iso88593", "iso_8859-3",
		"iso_8859-3:1988", "l3", "latin3":
		return ISO8859_3
	case "csisolatin4", "iso-8859-4", "iso-ir-110", "iso8859-4", "iso88594", "iso_8859-4",
		"iso_8859-4:1988", "l4", "latin4":
		return ISO8859_4
	case "csisolatincyrillic", "cyrillic", "iso-8859-5", "iso-ir-144", "iso8859-5", "iso88595",
		"iso_8859-5", "iso_8859-5:1988":
		return ISO8859_5
	case "arabic", "asmo-708", "csiso88596e", "csiso88596i", "csisolatinarabic", "ecma-114", "iso-8859-6",
		"iso-8859-6-e", "iso-8859-6-i", "iso-ir-127", "iso8859-6", "iso88596", "iso_8859-6", "iso_8859-6:1987":
		return ISO8859_6
	case "csisolatingreek", "ecma-118", "elot_928", "greek", "greek8", "iso-8859-7", "iso-ir-126",
		"iso8859-7", "iso88597", "iso_8859-7", "iso_8859-7:1987", "sun_eu_greek":
		return ISO8859_7
	case "csiso88598e", "csisolatinhebrew", "hebrew", "iso-8859-8", "iso-8859-8-e", "iso-ir-138",
		"iso8859-8", "iso88598", "iso_8859-8", "iso_8859-8:1988", "visual":
		return ISO8859_8
	case "csiso88598i", "iso-8859-8-i", "logical":
		return ISO8859_8I
	case "csisolatin6", "iso-8859-10", "iso-ir-157", "iso8859-10", "iso885910", "l6", "latin6":
		return ISO8859_10
	case "iso-8859-13", "iso8859-13", "iso885913":
		return ISO8859_13
	case "iso-8859-14", "iso8859-14", "iso885914":
		return ISO8859_14
	case "csisolatin9", "iso-8859-15", "iso8859-15", "iso885915", "iso_8859-15", "l9":
		return ISO8859_15
	case "iso-8859-16":
		return ISO8859_16
	}
	return nil
}

// bySingleByteLabel knows the labels of the other single-byte encodings.
func bySingleByteLabel(label []byte) *Encoding {
	switch string(label) {
	case "866", "cp866", "csibm866", "ibm866":
		return IBM866
	case "cskoi8r", "koi", "koi8", "koi8-r", "koi8_r":
		return KOI8R
	case "koi8-ru", "koi8-u":
		return KOI8U
	case "csmacintosh", "mac", "macintosh", "x-mac-roman":
		return Macintosh
	case "dos-874", "iso-8859-11", "iso8859-11", "iso885911", "tis-620", "windows-874":
		return Windows874
	case "cp1250", "windows-1250", "x-cp1250":
		return Windows1250
	case "cp1251", "windows-1251", "x-cp1251":
		return Windows1251
	case "ansi_x3.4-1968", "ascii", "cp1252", "cp819", "csisolatin1", "ibm819", "iso-8859-1", "iso-ir-100",
		"iso8859-1", "iso88591", "iso_8859-1", "iso_8859-1:1987", "l1", "latin1", "us-ascii", "windows-1252",
		"x-cp1252":
		return Windows1252
	case "cp1253", "windows-1253", "x-cp1253":
		return Windows1253
	case "cp1254", "csisolatin5", "iso-8859-9", "iso-ir-148", "iso8859-9", "iso88599", "iso_8859-9",
		"iso_8859-9:1989", "l5", "latin5", "windows-1254", "x-cp1254":
		return Windows1254
	case "cp1255", "windows-1255", "x-cp1255":
		return Windows1255
	case "cp1256", "windows-1256", "x-cp1256":
		return Windows1256
	case "cp1257", "windows-1257", "x-cp1257":
		return Windows1257
	case "cp1258", "windows-1258", "x-cp1258":
		return Windows1258
	case "x-mac-cyrillic", "x-mac-ukrainian":
		return XMacCyrillic
	}
	return nil
}

// byEastAsianLabel knows the labels of the Chinese, Japanese and Korean encodings.
func byEastAsianLabel(label []byte) *Encoding {
	switch string(label) {
	case "chinese", "csgb2312", "csiso58gb231280", "gb2312", "gb_2312", "gb_2312-80", "gbk", "iso-ir-58",
		"x-gbk":
		return GBK
	case "gb18030":
		return GB18030
	case "big5", "big5-hkscs", "cn-big5", "csbig5", "x-x-big5":
		return Big5
	case "cseucpkdfmtjapanese", "euc-jp", "x-euc-jp":
		return EUCJP
	case "csiso2022jp", "iso-2022-jp":
		return ISO2022JP
	case "csshiftjis", "ms932", "ms_kanji", "shift-jis", "shift_jis", "sjis", "windows-31j", "x-sjis":
		return ShiftJIS
	case "cseuckr", "csksc56011987", "euc-kr", "iso-ir-149", "korean", "ks_c_5601-1987", "ks_c_5601-1989",
		"ksc5601", "ksc_5601", "windows-949":
		return EUCKR
	}
	return nil
}
