package display

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// fit cuts t so that it is not wider than limit, if that can be done without cutting what must stay. It
// reports whether anything was cut.
//
// https://url.spec.whatwg.org/#url-rendering-elision
func (t *text) fit(limit int, measure func(string) int) bool {
	host, _ := t.host()
	head := t.scheme + host + t.port
	if measure(head+t.tail) <= limit {
		return false
	}
	if host == "" {
		t.tail = cutTail(head, t.tail, 0, limit, measure)
		return true
	}
	if t.tail != "" {
		t.tail = cutTail(head, t.tail, 1, limit, measure)
		if measure(head+t.tail) <= limit {
			return true
		}
		t.tail = ""
		if measure(head) <= limit {
			return true
		}
	}
	t.cutLabels(limit, measure)
	return true
}

// cutTail returns the longest start of tail that fits after head with an ellipsis, but at least min
// characters of it: an ellipsis directly after a host would look like a part of it.
func cutTail(head, tail string, least, limit int, measure func(string) int) string {
	ends := boundaries(tail)
	n := sort.Search(len(ends), func(i int) bool {
		return measure(head+tail[:ends[i]]+ellipsis) > limit
	})
	n = max(n-1, min(least, len(ends)-1))
	return tail[:ends[n]] + ellipsis
}

// boundaries returns the positions where text may be cut, 0 among them: not inside a percent triplet, and
// not between a letter and its marks.
func boundaries(text string) []int {
	ends := []int{0}
	for i := 0; i < len(text); {
		size := 1
		if text[i] == '%' && i+3 <= len(text) {
			size = 3
		} else if text[i] >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		i += size
		for i < len(text) {
			c, n := utf8.DecodeRuneInString(text[i:])
			if !unicode.IsMark(c) {
				break
			}
			i += n
		}
		ends = append(ends, i)
	}
	return ends
}

// cutLabels drops as few of the lowest labels as it takes, and no part of the registrable domain.
func (t *text) cutLabels(limit int, measure func(string) int) {
	below := len(t.labels) - t.kept
	if below <= 0 {
		return
	}
	dropped := 1 + sort.Search(below-1, func(i int) bool {
		return measure(t.scheme+ellipsis+strings.Join(t.labels[i+1:], ".")+t.port) <= limit
	})
	t.labels = t.labels[dropped:]
	t.cut = true
}

// Columns returns the width of text in a terminal or a fixed-width font: two columns for East Asian wide
// characters, none for marks and controls that take no space, one for all others.
func Columns(text string) int {
	n := 0
	for _, c := range text {
		if c < utf8.RuneSelf {
			n++
			continue
		}
		switch {
		case unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf):
			continue
		}
		switch width.LookupRune(c).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}
