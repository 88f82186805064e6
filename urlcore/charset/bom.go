package charset

import "bytes"

// The byte order marks: U+FEFF in the three encodings that have one.
var (
	bomUTF8    = []byte{0xEF, 0xBB, 0xBF}
	bomUTF16BE = []byte{0xFE, 0xFF}
	bomUTF16LE = []byte{0xFF, 0xFE}
)

// SniffBOM returns the encoding whose byte order mark src begins with, and the mark's length; nil and 0
// when there is none. The input may be longer than a mark needs, and of any length below.
//
// Encoding Standard: "BOM sniff" (section 6).
func SniffBOM(src []byte) (*Encoding, int) {
	switch {
	case bytes.HasPrefix(src, bomUTF8):
		return UTF8, len(bomUTF8)
	case bytes.HasPrefix(src, bomUTF16BE):
		return UTF16BE, len(bomUTF16BE)
	case bytes.HasPrefix(src, bomUTF16LE):
		return UTF16LE, len(bomUTF16LE)
	}
	return nil, 0
}
