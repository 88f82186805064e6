package facts

import "strings"

// Text is a text in which the name of a record stands any number of times. The zero value is the empty text.
type Text struct {
	null  bool
	parts []string // what stands between the names; none is the empty text
}

var null = Text{null: true}

// textOf makes a Text of one in which mark stands for the name.
func textOf(s string) Text { return Text{parts: strings.Split(s, mark)} }

// orNull is textOf, but for "" null.
func orNull(s string) Text {
	if s == "" {
		return null
	}
	return textOf(s)
}

// Null reports whether it is null, and no text.
func (t *Text) Null() bool { return t.null }

// Append appends the text for a record to dst.
func (t *Text) Append(dst []byte, name string) []byte {
	for i, part := range t.parts {
		if i > 0 {
			dst = append(dst, name...)
		}
		dst = append(dst, part...)
	}
	return dst
}

// Is reports whether the text for a record is s.
func (t *Text) Is(s, name string) bool {
	if t.null {
		return false
	}
	for i, part := range t.parts {
		if i > 0 {
			if !strings.HasPrefix(s, name) {
				return false
			}
			s = s[len(name):]
		}
		if !strings.HasPrefix(s, part) {
			return false
		}
		s = s[len(part):]
	}
	return s == ""
}
