package charset

import (
	"slices"
	"sync"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// gb18030Run is a stretch of consecutive pointers that stand for consecutive code points.
type gb18030Run struct {
	pointer int
	first   rune
	n       int
}

// gb18030Gaps lists what the standard's index has and x/text leaves out, apart from the user-defined zones:
// the presentation forms and ideographs that GB 18030-2022 moved out of the private use area, and the
// positions that are still there.
var gb18030Gaps = []gb18030Run{
	{6376, 0xE766, 6},
	{6433, 0xE76D, 1},
	{6444, 0xE76E, 2},
	{6458, 0xE770, 2},
	{6829, 0xE772, 11},
	{7022, 0xE77D, 8},
	{7150, 0xE785, 8},
	{7182, 0xFE10, 1},
	{7183, 0xFE12, 1},
	{7184, 0xFE11, 1},
	{7185, 0xFE13, 4},
	{7201, 0xFE17, 2},
	{7208, 0xFE19, 1},
	{7211, 0xE797, 9},
	{7349, 0xE7A0, 15},
	{7397, 0xE7AF, 13},
	{7495, 0xE7BC, 11},
	{7533, 0x1E3F, 1},
	{7538, 0xE7C9, 4},
	{7579, 0xE7CD, 21},
	{7624, 0xE7E2, 1},
	{7627, 0xE7E3, 1},
	{7629, 0xE7E4, 3},
	{7686, 0xE7F4, 13},
	{7775, 0xE801, 15},
	{16525, 0xE810, 5},
	{23767, 0xE816, 3},
	{23775, 0x9FB4, 1},
	{23783, 0x9FB5, 1},
	{23788, 0x9FB6, 2},
	{23794, 0xE831, 1},
	{23795, 0x9FB8, 1},
	{23804, 0xE83B, 1},
	{23812, 0x9FB9, 1},
	{23829, 0x9FBA, 1},
	{23830, 0xE855, 1},
	{23845, 0x9FBB, 1},
}

// gb18030Zone is a block of rows in the three user-defined zones: the columns of these rows from trail on, in
// order, stand for private use code points.
type gb18030Zone struct {
	firstLead, lastLead byte
	column, columns     int
	first               rune
}

var gb18030Zones = []gb18030Zone{
	{0xAA, 0xAF, 96, 94, 0xE000},
	{0xF8, 0xFE, 96, 94, 0xE234},
	{0xA1, 0xA7, 0, 96, 0xE4C6},
}

func buildGB18030Index() index {
	x := buildIndex(simplifiedchinese.GB18030, (0xFE-0x81+1)*gb18030Row, gb18030Bytes)
	for _, z := range gb18030Zones {
		c := z.first
		for lead := int(z.firstLead); lead <= int(z.lastLead); lead++ {
			row := x[(lead-0x81)*gb18030Row+z.column:][:z.columns]
			for i := range row {
				if row[i] == 0 { // A3A0 is an ideographic space, not U+E5E5
					row[i] = c
				}
				c++
			}
		}
	}
	for _, gap := range gb18030Gaps {
		for i := range gap.n {
			x[gap.pointer+i] = gap.first + rune(i)
		}
	}
	return x
}

const (
	// gb18030BMPEnd is where the four-byte pointers of the basic plane end; the other planes begin at
	// gb18030Supplementary and end at gb18030End.
	gb18030BMPEnd        = 39420
	gb18030Supplementary = 189000
	gb18030End           = 1237576
	// gb18030E7C7 is the one pointer that is out of line with its range.
	gb18030E7C7 = 7457
)

// gb18030Ranges is the standard's "index gb18030 ranges" for the basic plane, in which four-byte sequences
// stand for runs of code points. It is read off x/text and built on first use.
var gb18030Ranges = sync.OnceValue(func() []gb18030Run {
	r := reader{decoder: simplifiedchinese.GB18030.NewDecoder()}
	var runs []gb18030Run
	var next rune
	for p := range gb18030BMPEnd {
		b := gb18030FourBytes(p)
		c := r.read(b[:]...)
		if c == 0 || p == gb18030E7C7 {
			c = next // U+FFFD looks like an error to the reader, and x/text has U+1E3F at gb18030E7C7
		}
		if c != next {
			runs = append(runs, gb18030Run{pointer: p, first: c})
		}
		runs[len(runs)-1].n++
		next = c + 1
	}
	return runs
})

// gb18030FourBytes returns the four bytes of a pointer.
func gb18030FourBytes(pointer int) [4]byte {
	return [4]byte{
		byte(pointer/(10*126*10) + 0x81),
		byte(pointer/(10*126)%10 + 0x30),
		byte(pointer/10%126 + 0x81),
		byte(pointer%10 + 0x30),
	}
}

// gb18030RangesCodePoint returns the code point of a four-byte sequence's pointer, and false where there is
// none.
//
// Encoding Standard: "index gb18030 ranges code point" (section 5).
func gb18030RangesCodePoint(pointer int) (rune, bool) {
	switch {
	case pointer == gb18030E7C7:
		return 0xE7C7, true
	case pointer >= gb18030End, pointer >= gb18030BMPEnd && pointer < gb18030Supplementary:
		return 0, false
	case pointer >= gb18030Supplementary:
		return rune(pointer-gb18030Supplementary) + 0x10000, true
	}
	runs := gb18030Ranges()
	i, found := slices.BinarySearchFunc(runs, pointer, func(r gb18030Run, p int) int { return r.pointer - p })
	if !found {
		i--
	}
	return runs[i].first + rune(pointer-runs[i].pointer), true
}

// gb18030RangesPointer returns the pointer of the four-byte sequence for a code point that is neither ASCII
// nor in index gb18030.
//
// Encoding Standard: "index gb18030 ranges pointer" (section 5).
func gb18030RangesPointer(c rune) int {
	switch {
	case c == 0xE7C7:
		return gb18030E7C7
	case c >= 0x10000:
		return int(c-0x10000) + gb18030Supplementary
	}
	runs := gb18030Ranges()
	i, found := slices.BinarySearchFunc(runs, c, func(r gb18030Run, c rune) int { return int(r.first - c) })
	if !found {
		i--
	}
	return runs[i].pointer + int(c-runs[i].first)
}

// gb18030Sides holds the private use code points that GBK and gb18030 keep encoding to where they stood
// before GB 18030-2022 gave these bytes to other characters.
//
// Encoding Standard: the table of the gb18030 encoder (section 10.2.2).
var gb18030Sides = [...]struct {
	first, last rune
	lead, trail byte // of first
}{
	{0xE78D, 0xE793, 0xA6, 0xD9},
	{0xE794, 0xE795, 0xA6, 0xEC},
	{0xE796, 0xE796, 0xA6, 0xF3},
	{0xE81E, 0xE81E, 0xFE, 0x59},
	{0xE826, 0xE826, 0xFE, 0x61},
	{0xE82B, 0xE82C, 0xFE, 0x66},
	{0xE832, 0xE832, 0xFE, 0x6D},
	{0xE843, 0xE843, 0xFE, 0x7E},
	{0xE854, 0xE854, 0xFE, 0x90},
	{0xE864, 0xE864, 0xFE, 0xA0},
}

// gb18030Side looks c up in gb18030Sides.
func gb18030Side(c rune) (lead, trail byte, ok bool) {
	if c < 0xE78D || c > 0xE864 { // most are not
		return 0, 0, false
	}
	for _, s := range gb18030Sides {
		if s.first <= c && c <= s.last {
			return s.lead, s.trail + byte(c-s.first), true
		}
	}
	return 0, 0, false
}
