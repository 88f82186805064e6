package coproc

import (
	"bytes"
	"errors"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// request is a line taken apart. Its slices are parts of the line or of the reader's scratch, and valid until
// the next line.
type request struct {
	input, base []byte
	hasBase     bool
}

// reader takes lines apart.
type reader struct {
	inputText, baseText []byte // scratch for strings with escapes
}

// read takes line apart. ok is false for one that is no request, and pos is then where it stops being one.
//
// The usual form, an object of the two members alone, is read here without any copy. Everything else, such as
// further members, goes through a JSON library.
func (r *reader) read(line []byte) (req request, pos int, ok bool) {
	c := cursor{line: line}
	hasInput := false
	if !c.expect('{') {
		return request{}, c.pos, false
	}
	for first := true; ; first = false {
		if c.expect('}') {
			break
		}
		if !first && !c.expect(',') {
			return request{}, c.pos, false
		}
		key, plain := c.plainString()
		if !plain || !c.expect(':') {
			return r.readAny(line)
		}
		var found bool
		switch string(key) {
		case "input":
			req.input, found = c.string(&r.inputText)
			hasInput = found
		case "base":
			if req.hasBase = !c.null(); req.hasBase {
				req.base, found = c.string(&r.baseText)
			} else {
				req.base, found = nil, true
			}
		}
		if !found {
			return r.readAny(line)
		}
	}
	c.space()
	return req, c.pos, hasInput && c.pos == len(line)
}

// readAny is read for any JSON.
func (r *reader) readAny(line []byte) (req request, pos int, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	tok, err := dec.ReadToken()
	if err != nil || tok.Kind() != '{' {
		return request{}, errorOffset(err, 0), false
	}
	hasInput := false
	for {
		if tok, err = dec.ReadToken(); err != nil {
			return request{}, errorOffset(err, dec.InputOffset()), false
		}
		if tok.Kind() == '}' {
			break
		}
		name := tok.String()
		value, err := dec.ReadValue()
		if err != nil {
			return request{}, errorOffset(err, dec.InputOffset()), false
		}
		at := int(dec.InputOffset()) - len(value)
		c := cursor{line: value}
		var fits bool
		switch name {
		case "input":
			req.input, fits = c.string(&r.inputText)
			req.input = bytes.Clone(req.input) // the decoder owns value
			hasInput = true
		case "base":
			req.base, req.hasBase = c.string(&r.baseText)
			req.base = bytes.Clone(req.base)
			fits = req.hasBase || value.Kind() == 'n'
		default:
			fits = true
		}
		if !fits {
			return request{}, at, false
		}
	}
	end := int(dec.InputOffset())
	rest := cursor{line: line, pos: end}
	rest.space()
	return req, rest.pos, hasInput && rest.pos == len(line)
}

// errorOffset returns where a syntax error is.
func errorOffset(err error, otherwise int64) int {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return int(syntax.ByteOffset)
	}
	return int(otherwise)
}

// cursor reads JSON from a line.
type cursor struct {
	line []byte
	pos  int
}

// space goes past white space.
func (c *cursor) space() {
	for c.pos < len(c.line) {
		switch c.line[c.pos] {
		case ' ', '\t', '\r', '\n':
			c.pos++
		default:
			return
		}
	}
}

// expect goes past white space and b, and says whether b was there.
func (c *cursor) expect(b byte) bool {
	c.space()
	if c.pos < len(c.line) && c.line[c.pos] == b {
		c.pos++
		return true
	}
	return false
}

// null goes past the literal null if it is there.
func (c *cursor) null() bool {
	c.space()
	if bytes.HasPrefix(c.line[c.pos:], []byte("null")) {
		c.pos += 4
		return true
	}
	return false
}

// stringEnd tells the bytes that end a run of a JSON string: quote, backslash and the controls that must not be
// there.
var stringEnd = func() (t [256]bool) {
	for b := range 0x20 {
		t[b] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// plainString reads a string without escapes. On failure c stays where it was.
func (c *cursor) plainString() ([]byte, bool) {
	c.space()
	if c.pos >= len(c.line) || c.line[c.pos] != '"' {
		return nil, false
	}
	start := c.pos + 1
	end := start + run(c.line[start:])
	if end == len(c.line) || c.line[end] != '"' {
		return nil, false
	}
	c.pos = end + 1
	return c.line[start:end], true
}

// run returns the length of the start of s that needs no care within a JSON string.
func run(s []byte) int {
	for i, b := range s {
		if stringEnd[b] {
			return i
		}
	}
	return len(s)
}

// string reads a string, and puts it into scratch when it has escapes. On failure c stays where it was.
func (c *cursor) string(scratch *[]byte) ([]byte, bool) {
	if s, ok := c.plainString(); ok {
		return s, true
	}
	if c.pos >= len(c.line) || c.line[c.pos] != '"' {
		return nil, false
	}
	out := (*scratch)[:0]
	rest := c.line[c.pos+1:]
	for {
		n := run(rest)
		out = append(out, rest[:n]...)
		rest = rest[n:]
		if len(rest) < 2 || rest[0] != '\\' {
			break
		}
		var size int
		if out, size = appendEscape(out, rest); size == 0 {
			return nil, false
		}
		rest = rest[size:]
	}
	*scratch = out
	if len(rest) == 0 || rest[0] != '"' {
		return nil, false
	}
	c.pos = len(c.line) - len(rest) + 1
	return out, true
}

// unescaped maps the letter of a short escape to what it stands for.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// appendEscape adds what the escape at the start of s stands for, and returns how long the escape is, 0 for one
// that is none.
func appendEscape(dst, s []byte) ([]byte, int) {
	if b := unescaped[s[1]]; b != 0 {
		return append(dst, b), 2
	}
	unit, ok := hexUnit(s)
	if !ok {
		return dst, 0
	}
	if utf16.IsSurrogate(unit) {
		if low, ok := hexUnit(s[6:]); ok {
			if r := utf16.DecodeRune(unit, low); r != utf8.RuneError {
				return utf8.AppendRune(dst, r), 12
			}
		}
		unit = utf8.RuneError
	}
	return utf8.AppendRune(dst, unit), 6
}

// hexUnit reads the UTF-16 code unit of an escape \uXXXX at the start of s.
func hexUnit(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var unit rune
	for _, b := range s[2:6] {
		digit, ok := percent.Unhex(b)
		if !ok {
			return 0, false
		}
		unit = unit<<4 | rune(digit)
	}
	return unit, true
}
