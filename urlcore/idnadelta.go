package urlcore

import (
	"strings"

	"golang.org/x/net/idna"
)

// UnicodeVersion is the version of Unicode whose tables domains are mapped and checked by: "17.0.0" in programs
// that are built by Go 1.27, "15.0.0" by Go 1.26. Programs with the older tables refuse domains with newer
// characters, so what was parsed by the one may be an error to the other.
const UnicodeVersion = idna.UnicodeVersion

// The cases of the standard are those of Unicode 17. Where the tables of x/net/idna are older, what has changed
// since is applied to a domain beforehand. Characters that are newer and map to themselves cannot be added that way:
// x/net refuses them.
//
// https://www.unicode.org/reports/tr46/#IDNA_Mapping_Table

// needsUnicodeDelta says that the tables of x/net are the old ones.
const needsUnicodeDelta = UnicodeVersion < "16"

// unicodeMapped lists the characters that are mapped in Unicode 17 and were disallowed, or mapped to
// something else, in Unicode 15: lo to hi become to, to+1 and so on. It is in ascending order.
var unicodeMapped = [...]struct{ lo, hi, to rune }{
	{0x04C0, 0x04C0, 0x04CF},    // Cyrillic palochka
	{0x10A0, 0x10C5, 0x2D00},    // Georgian capitals
	{0x1C89, 0x1C89, 0x1C8A},    // Cyrillic, Unicode 16
	{0x1E9E, 0x1E9E, 0x00DF},    // capital sharp s, formerly ss
	{0x2132, 0x2132, 0x214E},    // turned F
	{0x2183, 0x2183, 0x2184},    // reversed C
	{0xA7CB, 0xA7CB, 0x0264},    // Latin capitals of Unicode 16 and 17
	{0xA7CC, 0xA7CC, 0xA7CD},    //
	{0xA7CE, 0xA7CE, 0xA7CF},    //
	{0xA7D2, 0xA7D2, 0xA7D3},    //
	{0xA7D4, 0xA7D4, 0xA7D5},    //
	{0xA7DA, 0xA7DA, 0xA7DB},    //
	{0xA7DC, 0xA7DC, 0x019B},    //
	{0xA7F1, 0xA7F1, 0x0073},    // modifier s
	{0x10D50, 0x10D65, 0x10D70}, // Garay capitals
	{0x16EA0, 0x16EB8, 0x16EBB}, // Beria Erfe capitals
	{0x1CCD6, 0x1CCEF, 0x0061},  // outlined letters
	{0x1CCF0, 0x1CCF9, 0x0030},  // outlined digits
	{0x2F868, 0x2F868, 0x36FC},  // compatibility ideographs, corrected
	{0x2F874, 0x2F874, 0x5F53},
	{0x2F91F, 0x2F91F, 0x243AB},
	{0x2F95F, 0x2F95F, 0x7AEE},
	{0x2F9BF, 0x2F9BF, 0x45D7},
}

// unicodeIgnored lists the ranges of characters that Unicode 17 ignores and Unicode 15 disallowed.
var unicodeIgnored = [...]struct{ lo, hi rune }{
	{0x115F, 0x1160},   // Hangul fillers
	{0x17B4, 0x17B5},   // Khmer inherent vowels
	{0x180E, 0x180E},   // Mongolian vowel separator
	{0x2061, 0x2063},   // invisible operators
	{0x206A, 0x206F},   // deprecated format characters
	{0x3164, 0x3164},   // Hangul filler
	{0xFFA0, 0xFFA0},   // half-width Hangul filler
	{0x1D173, 0x1D17A}, // musical format characters
}

// applyUnicodeDelta applies the changes of UTS 46 since the version of x/net's tables.
func applyUnicodeDelta(domain string) string {
	if needsUnicodeDelta {
		domain = strings.Map(unicodeDelta, domain)
	}
	return domain
}

// unicodeDelta maps one character for strings.Map, where a negative result drops it.
func unicodeDelta(r rune) rune {
	if r < unicodeMapped[0].lo {
		return r
	}
	for i := range unicodeIgnored {
		if g := &unicodeIgnored[i]; g.lo <= r && r <= g.hi {
			return -1
		}
	}
	for i := range unicodeMapped {
		if m := &unicodeMapped[i]; m.lo <= r && r <= m.hi {
			return m.to + r - m.lo
		}
	}
	return r
}
