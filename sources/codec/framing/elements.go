package framing

import (
	"io"
	"strconv"
)

// Elements is a reader that makes lines of the elements of an array in JSON documents such as {"records": [...]}, one after the other.
// A stream that does not begin so passes as it is, and so does what follows a document and is none. Line ends within elements become
// spaces.
type Elements struct {
	r       io.Reader
	opening string // of a document, up to the array, without white space
	held    []byte // what fitted the opening so far
	matched int    // bytes of it
	state   elementsState
	depth   int  // of the element, 0: between elements
	quoted  bool // within a string
	escaped bool // behind a backslash in it
	begun   bool // a part of an element has been written since the last line end
	buf     []byte
	out     []byte // what has been made and not been read
}

type elementsState uint8

const (
	opening  elementsState = iota // before an array
	elements                      // in it
	closing                       // behind it
	passing                       // there are no more documents
)

const (
	elementsBuffer = 32 << 10
	// maxHeld bounds the white space in an opening.
	maxHeld = 1 << 10
)

// NewElements returns a reader of the elements of the array that is the member with that name, the first of its document.
func NewElements(r io.Reader, member string) *Elements {
	return &Elements{r: r, opening: "{" + strconv.Quote(member) + ":["}
}

// Read implements io.Reader. Errors of the reader behind it, such as [ErrAgain], come as they are.
func (e *Elements) Read(p []byte) (int, error) {
	if len(e.out) == 0 && e.state == passing {
		return e.r.Read(p)
	}
	if e.buf == nil {
		e.buf = make([]byte, elementsBuffer)
	}
	out := e.out
	for len(out) == 0 {
		n, err := e.r.Read(e.buf)
		out = e.split(e.out[:0], e.buf[:n])
		if err == io.EOF {
			out = append(out, e.held...) // the beginning of an opening
			e.held = nil
		}
		if err != nil && len(out) == 0 {
			return 0, err
		}
	}
	n := copy(p, out)
	e.out = out[n:]
	return n, nil
}

// split appends what becomes of data.
func (e *Elements) split(out, data []byte) []byte {
	for i, b := range data {
		switch e.state {
		case opening:
			out = e.open(out, b)
		case elements:
			out = e.element(out, b)
		case closing:
			if e.state = opening; b == '}' {
				break
			}
			if isSpace(b) {
				e.state = closing
				break
			}
			e.held = append(e.held, ']')
			e.matched = len(e.opening) // which nothing matches
			out = e.open(out, b)
		case passing:
			return append(out, data[i:]...)
		}
	}
	return out
}

// open reads a byte of what may be an opening.
func (e *Elements) open(out []byte, b byte) []byte {
	e.held = append(e.held, b)
	switch at := e.matched; {
	case at < len(e.opening) && b == e.opening[at]:
		if e.matched++; e.matched == len(e.opening) {
			e.state, e.matched, e.held = elements, 0, e.held[:0]
		}
		return out
	case isSpace(b) && len(e.held) < maxHeld && (at <= 1 || at >= len(e.opening)-2 && at < len(e.opening)):
		if at == 0 {
			e.held = e.held[:0] // empty lines before a document
		}
		return out
	case at == 0 && len(e.held) <= len(bom) && string(bom[:len(e.held)]) == string(e.held):
		return out
	}
	out = append(out, e.held...)
	e.state, e.held = passing, nil
	return out
}

// element reads a byte of the array.
func (e *Elements) element(out []byte, b byte) []byte {
	switch {
	case e.quoted:
		e.quoted = e.escaped || b != '"'
		e.escaped = !e.escaped && b == '\\'
	case b == '"':
		e.quoted = true
	case b == '{' || b == '[':
		e.depth++
	case e.depth > 0 && (b == '}' || b == ']'):
		e.depth--
	case e.depth == 0 && isSpace(b):
		return out
	case e.depth == 0 && b == ']':
		e.state = closing
		fallthrough
	case e.depth == 0 && b == ',':
		if e.begun {
			out = append(out, '\n')
		}
		e.begun = false
		return out
	}
	if b == '\n' || b == '\r' {
		b = ' '
	}
	e.begun = true
	return append(out, b)
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\r' || b == '\t' }
