package display

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

const (
	leftToRightIsolate = "\u2066"
	popIsolate         = "\u2069"
)

// hasRightToLeft reports whether text holds a character that runs from right to left, or a number of a
// script that does: without any, text in left-to-right surroundings shows in the order in which it is
// written.
func hasRightToLeft(text string) bool {
	for _, c := range text {
		if c < utf8.RuneSelf {
			continue
		}
		properties, _ := bidi.LookupRune(c)
		switch properties.Class() {
		case bidi.R, bidi.AL, bidi.AN:
			return true
		}
	}
	return false
}
