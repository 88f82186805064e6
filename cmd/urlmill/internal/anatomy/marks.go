package anatomy

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/urlcore"
)

// mark is an error at its place.
type mark struct {
	pos    int // byte of the input
	text   string
	column int // of the input as it is shown
	fatal  bool
}

// marksOf returns the failure, if there is one, and the validation errors, in the order of the parser.
func marksOf(input string, failure urlcore.Failure, noticed []urlcore.ValidationError) []mark {
	var all []mark
	add := func(e urlcore.ValidationError, fatal bool) {
		all = append(all, mark{
			pos: e.Pos, text: fmt.Sprintf("%s at byte %d: %s", e.Code, e.Pos, e.Code.Text()),
			column: shownWidth(input, e.Pos), fatal: fatal,
		})
	}
	if !failure.OK() {
		add(urlcore.ValidationError(failure), true)
		noticed = slices.DeleteFunc(slices.Clone(noticed), func(e urlcore.ValidationError) bool { return e == urlcore.ValidationError(failure) })
	}
	for _, e := range noticed {
		add(e, false)
	}
	return all
}

// shownWidth returns the column at which byte pos of the input is shown.
func shownWidth(input string, pos int) int {
	pos = min(max(pos, 0), len(input))
	for pos > 0 && pos < len(input) && !utf8.RuneStart(input[pos]) {
		pos--
	}
	if plain.Text(input) == input {
		return plain.Width(input[:pos])
	}
	// Whether a backslash is doubled depends on the rest.
	return plain.Width(strings.TrimSuffix(plain.Text(input[:pos]+"\x00"), `\x00`))
}

// writeInput prints the input with a mark below the place of every error.
func writeInput(b *strings.Builder, input string, all []mark, s Style) {
	lines := wrap(plain.Text(input), s.Width)
	start := 0
	for i, line := range lines {
		end := start + plain.Width(line)
		b.WriteString(line)
		b.WriteByte('\n')
		for _, m := range all {
			if m.column >= start && (m.column < end || i == len(lines)-1) {
				writeMark(b, m, m.column-start, s)
			}
		}
		start = end
	}
}

// writeMark prints a mark at a column, its text to the right, or to the left where it does not fit there.
func writeMark(b *strings.Builder, m mark, column int, s Style) {
	attribute := warning
	if m.fatal {
		attribute = alarm
	}
	text := "^ " + m.text
	if s.Width > 0 && column+len(text) > s.Width && column >= len(text)-1 {
		text = m.text + " ^"
		column -= len(text) - 1
	}
	b.WriteString(strings.Repeat(" ", column))
	b.WriteString(s.paint(attribute, text))
	b.WriteByte('\n')
}

// wrap cuts s into lines of at most width columns, 0 for any number. There is at least one line.
func wrap(s string, width int) []string {
	var lines []string
	for width > 0 && plain.Width(s) > width {
		cut, used := 0, 0
		for i, r := range s {
			if used += plain.Width(string(r)); used > width && i > 0 {
				break
			}
			cut = i + utf8.RuneLen(r)
		}
		lines = append(lines, s[:cut])
		s = s[cut:]
	}
	return append(lines, s)
}
