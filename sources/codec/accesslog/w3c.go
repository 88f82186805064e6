package accesslog

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
)

// w3cColumns are the columns of W3C logs: those of every field that is known, since a line may say that other fields
// follow.
func w3cColumns(extra []string) []pipeline.Field {
	var columns []pipeline.Field
	columnOf(&columns, "time", pipeline.Timestamp)
	for _, name := range slices.Sorted(maps.Keys(w3cFields)) {
		if f := w3cFields[name]; f.role != dateOnly {
			columnOf(&columns, f.name, f.typ)
		}
	}
	for _, name := range extra {
		columnOf(&columns, columnName(name), pipeline.String)
	}
	return columns
}

// directive takes a line that begins with # and may name the fields of those that follow.
func (c *lines) directive(line []byte) {
	names, ok := bytes.CutPrefix(line, []byte("#Fields:"))
	if !ok {
		return
	}
	// CloudFront has spaces between the names and tabs between the values, and escapes its values by percent signs;
	// IIS has spaces between both, and + for a space within a value.
	cloudFront := bytes.Contains(names, []byte("x-edge-"))
	e := byPlus
	if cloudFront {
		e = byPercent
	}
	var tokens []token
	for name := range strings.FieldsSeq(string(names)) {
		f, known := w3cFields[strings.ToLower(name)]
		if !known {
			f = field{role: ignored}
			if c.extra[strings.ToLower(name)] {
				f = text(columnName(name))
			}
		}
		tokens = append(tokens, token{field: f.escapedBy(e)})
	}
	columns := slices.Clip(c.columns)
	c.layout = &layout{tokens: tokens, binding: bind(tokens, &columns)}
	c.spare(&c.layout.binding)
}

// escapedBy returns f with the escape of its text, if it has any.
func (f field) escapedBy(e escape) field {
	if f.typ == pipeline.String && f.role == plain && (f.escape != asIs || e != byPlus) && (f.escape != byAgent || e != byPercent) {
		f.escape = e
	}
	return f
}

// splitW3C finds the fields of a line as the last directive says.
func (c *lines) splitW3C(line []byte) (at int, ok bool) {
	separator := byte(' ')
	if bytes.IndexByte(line, '\t') >= 0 {
		separator = '\t'
	}
	return c.splitBy(line, separator)
}

// splitBy finds the fields of a line that has as many as there are tokens, with separators between.
func (c *lines) splitBy(line []byte, separator byte) (at int, ok bool) {
	c.spans = c.spans[:0]
	if len(c.layout.tokens) == 0 {
		return 0, false
	}
	for {
		n := bytes.IndexByte(line[at:], separator)
		end := len(line)
		if n >= 0 {
			end = at + n
		}
		if len(c.spans) == len(c.layout.tokens) {
			return at, false
		}
		c.spans = append(c.spans, span{start: at, end: end})
		if n < 0 {
			return at, len(c.spans) == len(c.layout.tokens)
		}
		at = end + 1
	}
}
