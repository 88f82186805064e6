// Package plain makes text safe to print on a terminal.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns s with everything replaced that a terminal could act on or that would not show: control and format
// characters (such as those that turn the writing direction) as \xHH and \u{H}, bytes that are not UTF-8 as \xHH,
// and backslashes doubled only where s has something to replace, so that usual text stays as it is.
func Text(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\':
			b.WriteString(`\\`)
		case shows(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += n
	}
	return b.String()
}

// Lines is [Text] for a message of several lines: their ends, and tabs, stay as they are.
func Lines(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		n := strings.IndexAny(s, "\n\t")
		if n < 0 {
			n = len(s)
		}
		b.WriteString(Text(s[:n]))
		if n < len(s) {
			b.WriteByte(s[n])
			n++
		}
		s = s[n:]
	}
	return b.String()
}

// JSON returns JSON text with the characters that [Text] would replace as escapes, which mean the same. They can only be in strings.
func JSON(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r < 0x80 && r != 0x7f || shows(r):
			b.WriteString(s[i : i+utf8.RuneLen(r)])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := 0; i < len(s); {
		if b := s[i]; b >= 0x20 && b < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || !shows(r) {
			return false
		}
		i += n
	}
	return true
}

// shows reports whether r has a shape or is the space. Fillers and the like are graphic by their category alone.
func shows(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.In(r, unicode.Zs, unicode.Other_Default_Ignorable_Code_Point)
}

// Width returns how many columns s takes on a terminal: wide characters two, marks none.
func Width(s string) int {
	width := 0
	for _, r := range s {
		width += runeWidth(r)
	}
	return width
}

func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case wide(r):
		return 2
	}
	return 1
}

// wide reports whether East Asian terminals give r two columns.
func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Yi) ||
		r >= 0x3000 && r <= 0x303e || r >= 0xff01 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f300 && r <= 0x1faff
}

// Clip shortens s to width columns; an ellipsis stands for what is cut off.
func Clip(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	used := 0
	for i, r := range s {
		if used += runeWidth(r); used > width-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// Count writes a number with commas between thousands.
func Count(n int64) string {
	if n < 0 {
		return "-" + Count(-n)
	}
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Bytes writes a number of bytes with a decimal unit.
func Bytes(n int64) string {
	const step = 1000
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n), ""
	for _, unit = range []string{"kB", "MB", "GB", "TB", "PB"} {
		if v /= step; v < step {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}

// Plural returns "1 row", "2 rows".
func Plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return Count(n) + " " + word + "s"
}
