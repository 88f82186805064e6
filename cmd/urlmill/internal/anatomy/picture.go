package anatomy

import (
	"slices"
	"strings"

	"github.com/urlmill/urlmill/urlcore"
)

// component is a part of a URL as the picture shows it: the bytes start to end of its href.
type component struct {
	part       urlcore.Part
	name       string
	start, end int
}

// components returns the parts of u that are there and not empty, from left to right.
func components(u *urlcore.URL) []component {
	var all []component
	for _, c := range []component{
		{part: urlcore.Scheme, name: "scheme"},
		{part: urlcore.Username, name: "username"},
		{part: urlcore.Password, name: "password"},
		{part: urlcore.Host, name: "hostname"},
		{part: urlcore.Port, name: "port"},
		{part: urlcore.Path, name: "path"},
		{part: urlcore.Query, name: "query"},
		{part: urlcore.Fragment, name: "fragment"},
	} {
		if c.start, c.end = u.Span(c.part); c.end > c.start {
			all = append(all, c)
		}
	}
	return all
}

// writePicture prints the href with every part underlined in its place, and the names of the parts below:
//
//	https://example.com/a?b
//	├───┘   ├─────────┘├┘ │
//	scheme  hostname   │  query
//	                   path
//
// An href is ASCII without control characters, so a byte of it is a column.
func writePicture(b *strings.Builder, u *urlcore.URL, domain []byte, s Style) {
	href, all := u.Href(), components(u)
	width := s.Width
	if width <= 0 {
		width = len(href)
	}
	for start := 0; start < len(href); start += width {
		end := min(start+width, len(href))
		writeColored(b, href, start, end, all, len(domain), s)
		writeUnderlines(b, start, end, all, s)
		writeNames(b, start, end, all, s)
	}
}

// writeColored prints the bytes start to end of the href. The last n bytes of the host, its registrable domain, stand out.
func writeColored(b *strings.Builder, href string, start, end int, all []component, n int, s Style) {
	at := start
	piece := func(to int, attribute string) {
		if to = min(to, end); to > at {
			b.WriteString(s.paint(attribute, href[at:to]))
			at = to
		}
	}
	for _, c := range all {
		piece(c.start, dim)
		if c.part == urlcore.Host && n > 0 {
			piece(c.end-n, colors[c.part])
			piece(c.end, bold+";"+colors[c.part])
		}
		piece(c.end, colors[c.part])
	}
	piece(end, dim)
	b.WriteByte('\n')
}

// writeUnderlines prints a line that underlines every part between start and end.
func writeUnderlines(b *strings.Builder, start, end int, all []component, s Style) {
	at := start
	for _, c := range all {
		from, to := max(c.start, start), min(c.end, end)
		if from >= to {
			continue
		}
		b.WriteString(strings.Repeat(" ", from-at))
		line := []rune(strings.Repeat("─", to-from))
		if to == c.end {
			line[len(line)-1] = '┘'
		}
		switch {
		case from == c.start && c.end-c.start == 1:
			line[0] = '│'
		case from == c.start:
			line[0] = '├'
		}
		b.WriteString(s.paint(colors[c.part], string(line)))
		at = to
	}
	b.WriteByte('\n')
}

// writeNames prints the names of the parts that begin between start and end, each below the part's first byte: in the
// first line where it fits beside those to the right of it.
func writeNames(b *strings.Builder, start, end int, all []component, s Style) {
	var here []component
	for _, c := range all {
		if c.start >= start && c.start < end {
			here = append(here, c)
		}
	}
	line := make([]int, len(here)) // of the name of each
	for i, c := range slices.Backward(here) {
		for k := i + 1; k < len(here); k++ {
			// A name and a bar in the same line need a space between.
			if c.start+len(c.name)+1 > here[k].start && line[k] >= line[i] {
				line[i] = line[k] + 1
			}
		}
	}
	for row := 0; len(here) > 0 && row <= slices.Max(line); row++ {
		at := start
		for i, c := range here {
			if line[i] < row {
				continue
			}
			text := "│"
			if line[i] == row {
				text = c.name
			}
			b.WriteString(strings.Repeat(" ", c.start-at))
			b.WriteString(s.paint(colors[c.part], text))
			at = c.start + len([]rune(text))
		}
		b.WriteByte('\n')
	}
}
