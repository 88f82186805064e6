package display

import "unicode"

// isShown reports whether c may be shown decoded, marks aside, which need something to stand on. U+FFFD, which
// stands for what could not be decoded, is not.
func isShown(c rune) bool {
	switch {
	case c < 0x80:
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			c == '-' || c == '.' || c == '_' || c == '~'
	case !unicode.IsGraphic(c), unicode.Is(unicode.Zs, c):
		return false // controls, formats, private use, not assigned; spaces
	}
	return !unicode.In(c, blank, pretending, delimiting)
}

// blank holds characters that take space, or none, and show nothing, and are not in the categories that say
// so.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034F, Hi: 0x034F, Stride: 1}, // combining grapheme joiner
		{Lo: 0x115F, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17B4, Hi: 0x17B5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180B, Hi: 0x180F, Stride: 1}, // Mongolian variation selectors, vowel separator
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // braille pattern blank
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xFE00, Hi: 0xFE0F, Stride: 1}, // variation selectors
		{Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1}, // half-width Hangul filler
		{Lo: 0xFFFC, Hi: 0xFFFD, Stride: 1}, // object replacement, replacement character
	},
	R32: []unicode.Range32{
		{Lo: 0x16FE4, Hi: 0x16FE4, Stride: 1}, // Khitan small script filler
		{Lo: 0x1D159, Hi: 0x1D159, Stride: 1}, // null notehead
		{Lo: 0xE0100, Hi: 0xE01EF, Stride: 1}, // variation selectors supplement
	},
}

// pretending holds characters by which a page could pretend to be what only the browser says: that a
// connection is safe, that text goes on.
var pretending = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x2025, Hi: 0x2026, Stride: 1}, // leaders, the ellipsis
		{Lo: 0x22EF, Hi: 0x22EF, Stride: 1}, // midline ellipsis
		{Lo: 0x2611, Hi: 0x2611, Stride: 1}, // ballot box with check
		{Lo: 0x26BF, Hi: 0x26BF, Stride: 1}, // squared key
		{Lo: 0x2705, Hi: 0x2705, Stride: 1}, // check marks
		{Lo: 0x2713, Hi: 0x2714, Stride: 1},
		{Lo: 0xFE19, Hi: 0xFE19, Stride: 1}, // vertical ellipsis
	},
	R32: []unicode.Range32{
		{Lo: 0x1F50F, Hi: 0x1F513, Stride: 1}, // locks and keys
		{Lo: 0x1F5DD, Hi: 0x1F5DD, Stride: 1}, // old key
		{Lo: 0x1F5F8, Hi: 0x1F5F9, Stride: 1}, // light check mark, ballot box with bold check
		{Lo: 0x1F6E1, Hi: 0x1F6E1, Stride: 1}, // shield
	},
}

// delimiting holds characters that look like the delimiters of URLs. Those that UTS 46 maps to ASCII can be
// in no host; of them the ones that ordinary East Asian text needs, such as U+FF1A and U+FF1F, are left out.
var delimiting = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0337, Hi: 0x0338, Stride: 1}, // solidus overlays
		{Lo: 0x0589, Hi: 0x0589, Stride: 1}, // Armenian full stop, like :
		{Lo: 0x05C3, Hi: 0x05C3, Stride: 1}, // Hebrew sof pasuq, like :
		{Lo: 0x066A, Hi: 0x066A, Stride: 1}, // Arabic percent sign
		{Lo: 0x1735, Hi: 0x1735, Stride: 1}, // Philippine single punctuation, like /
		{Lo: 0x2024, Hi: 0x2024, Stride: 1}, // one dot leader
		{Lo: 0x2044, Hi: 0x2044, Stride: 1}, // fraction slash
		{Lo: 0x2052, Hi: 0x2052, Stride: 1}, // commercial minus, like %
		{Lo: 0x2215, Hi: 0x2216, Stride: 1}, // division slash, set minus
		{Lo: 0x2236, Hi: 0x2236, Stride: 1}, // ratio, like :
		{Lo: 0x2571, Hi: 0x2572, Stride: 1}, // box drawings diagonal
		{Lo: 0x27CB, Hi: 0x27CB, Stride: 1}, // mathematical rising diagonal
		{Lo: 0x27CD, Hi: 0x27CD, Stride: 1}, // mathematical falling diagonal
		{Lo: 0x29F5, Hi: 0x29F9, Stride: 1}, // reverse solidus operator to big reverse solidus
		{Lo: 0x2CC6, Hi: 0x2CC6, Stride: 1}, // Coptic capital letter old Coptic esh, like /
		{Lo: 0x3033, Hi: 0x3033, Stride: 1}, // vertical kana repeat mark upper half, like /
		{Lo: 0xA4F8, Hi: 0xA4F8, Stride: 1}, // Lisu letter tone mya ti, like .
		{Lo: 0xA4FD, Hi: 0xA4FD, Stride: 1}, // Lisu letter tone mya jeu, like :
		{Lo: 0xA60E, Hi: 0xA60E, Stride: 1}, // Vai full stop
		{Lo: 0xA789, Hi: 0xA789, Stride: 1}, // modifier letter colon
		{Lo: 0xFE52, Hi: 0xFE52, Stride: 1}, // small full stop
		{Lo: 0xFE5F, Hi: 0xFE5F, Stride: 1}, // small number sign
		{Lo: 0xFE68, Hi: 0xFE68, Stride: 1}, // small reverse solidus
		{Lo: 0xFE6A, Hi: 0xFE6B, Stride: 1}, // small percent sign, small commercial at
		{Lo: 0xFF03, Hi: 0xFF03, Stride: 1}, // full-width number sign
		{Lo: 0xFF05, Hi: 0xFF05, Stride: 1}, // full-width percent sign
		{Lo: 0xFF0E, Hi: 0xFF0F, Stride: 1}, // full-width full stop and solidus
		{Lo: 0xFF20, Hi: 0xFF20, Stride: 1}, // full-width commercial at
		{Lo: 0xFF3C, Hi: 0xFF3C, Stride: 1}, // full-width reverse solidus
		{Lo: 0xFF61, Hi: 0xFF61, Stride: 1}, // half-width ideographic full stop
	},
}
