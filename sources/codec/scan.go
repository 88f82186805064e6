package codec

import (
	"encoding/binary"
	"math/bits"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// kind is the type of a JSON value.
type kind uint8

const (
	missing kind = iota
	null
	boolean
	number
	text
	array
	object
)

// capture is what a pointer leads to: data[start:end] is the value as it stands in the record, of a string
// what is between its quotes.
type capture struct {
	start, end int
	kind       kind
	escaped    bool // the string has escapes
}

// maxDepth is how deep arrays and objects may be nested; encoding/json has the same limit.
const maxDepth = 10000

// scanner checks that a record is JSON (RFC 8259) and finds what the pointers lead to, in one pass and without
// copying.
type scanner struct {
	data  []byte
	pos   int // next byte; where the record is malformed after scan returned false
	depth int
	caps  []capture
	key   []byte     // scratch for keys with escapes
	pair  [2]capture // scratch for name and value of an element

	seen    uint64 // the bytes of all strings, by or; see ascii
	escapes bool   // a string has some
}

const high = 0x8080808080808080

// ascii reports whether no byte of the record is beyond ASCII, once it has been read: only strings have such bytes.
func (s *scanner) ascii() bool { return s.seen&high == 0 }

// scan reads the record. It returns false when data is not exactly one JSON value, with pos at the first byte
// that cannot be part of one, len(data) when the end came too early.
func (s *scanner) scan(root *node, data []byte) bool {
	s.data, s.pos, s.depth, s.seen, s.escapes = data, 0, 0, 0, false
	clear(s.caps)
	if !s.value(root) {
		return false
	}
	s.space()
	return s.pos == len(data)
}

// space skips white space.
func (s *scanner) space() {
	for s.pos < len(s.data) && s.data[s.pos] <= ' ' {
		switch s.data[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// value reads one value with the white space before it. n is its place in the tree, nil when no pointer leads
// to it or into it.
func (s *scanner) value(n *node) bool {
	s.space()
	if s.pos == len(s.data) {
		return false
	}
	start := s.pos
	var k kind
	var escaped, ok bool
	switch c := s.data[s.pos]; c {
	case '"':
		k = text
		escaped, ok = s.text()
	case '{':
		k = object
		ok = s.object(n)
	case '[':
		k = array
		ok = s.array(n)
	case 't':
		k, ok = boolean, s.literal("true")
	case 'f':
		k, ok = boolean, s.literal("false")
	case 'n':
		k, ok = null, s.literal("null")
	default:
		k, ok = number, s.number()
	}
	if n == nil || !ok {
		return ok
	}
	end := s.pos
	if k == text {
		start, end = start+1, end-1
	}
	for _, i := range n.own {
		s.caps[i] = capture{start, end, k, escaped}
	}
	return true
}

// open steps over the bracket that opens an array or object and reports whether it is empty, having stepped over
// the closing bracket as well then.
func (s *scanner) open(closing byte) (empty, ok bool) {
	if s.depth == maxDepth {
		return false, false
	}
	s.pos++
	s.space()
	if s.at(closing) {
		s.pos++
		return true, true
	}
	s.depth++
	return false, true
}

// object reads an object. Of members with the same key the last one counts, with all that is in it, as in
// encoding/json.
func (s *scanner) object(n *node) bool {
	if empty, ok := s.open('}'); empty || !ok {
		return ok
	}
	for {
		if !s.find('"') {
			return false
		}
		start := s.pos + 1
		escaped, ok := s.text()
		if !ok {
			return false
		}
		var child *node
		if n != nil && len(n.next) > 0 {
			child = s.member(n, s.data[start:s.pos-1], escaped)
		}
		if !s.find(':') {
			return false
		}
		s.pos++
		if !s.value(child) {
			return false
		}
		if more, ok := s.more('}'); !more {
			return ok
		}
	}
}

// member returns the place of the member named key, and forgets what an earlier member of that name held.
func (s *scanner) member(n *node, key []byte, escaped bool) *node {
	if escaped {
		s.key = appendUnescaped(s.key[:0], key)
		key = s.key
	}
	for _, c := range n.next[n.first[keySlot(key)]:] {
		if string(key) == c.key {
			if c.hi-c.lo == 1 { // most have one, which takes less than a call
				s.caps[c.lo] = capture{}
			} else {
				clear(s.caps[c.lo:c.hi])
			}
			return c
		}
	}
	return nil
}

// array reads an array.
func (s *scanner) array(n *node) bool {
	if n != nil && n.named {
		return s.namedArray(n)
	}
	if empty, ok := s.open(']'); empty || !ok {
		return ok
	}
	for i := 0; ; i++ {
		if !s.value(n.element(i)) {
			return false
		}
		if more, ok := s.more(']'); !more {
			return ok
		}
	}
}

// element returns the place of element i of an array, nil when no pointer leads there.
func (n *node) element(i int) *node {
	if n == nil {
		return nil
	}
	for _, c := range n.next {
		if c.index == i {
			return c
		}
	}
	return nil
}

// more reads what follows a member or an element: a comma, or the closing bracket. It is not ok when neither is
// there.
func (s *scanner) more(closing byte) (more, ok bool) {
	if s.find(',') {
		s.pos++
		return true, true
	}
	if s.at(closing) {
		s.pos++
		s.depth--
		return false, true
	}
	return false, false
}

func (s *scanner) literal(word string) bool {
	for i := 0; i < len(word); i++ {
		if !s.at(word[i]) {
			return false
		}
		s.pos++
	}
	return true
}

// number reads a number (RFC 8259 section 6).
func (s *scanner) number() bool {
	if s.at('-') {
		s.pos++
	}
	if s.at('0') {
		s.pos++
	} else if !s.digits() {
		return false
	}
	if s.at('.') {
		s.pos++
		if !s.digits() {
			return false
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		return s.digits()
	}
	return true
}

// find skips white space, which most records do not have, and reports whether c follows.
func (s *scanner) find(c byte) bool {
	if s.at(c) {
		return true
	}
	s.space()
	return s.at(c)
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

// digits reads at least one digit.
func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos]-'0' <= 9 {
		s.pos++
	}
	return s.pos > start
}

// text reads a string with its quotes and reports whether it has escapes. Bytes that are not UTF-8 pass, as they
// do in encoding/json: what they mean is for the reader of the value. It looks at eight bytes at a time:
// (x - 0x01…) & ^x & 0x80… flags the zero bytes of x, exactly up to the first.
func (s *scanner) text() (escaped, ok bool) {
	const ones = 0x0101010101010101
	data, i := s.data, s.pos+1
	for i+8 <= len(data) {
		x := binary.LittleEndian.Uint64(data[i:])
		s.seen |= x
		quote, slash := x^('"'*ones), x^('\\'*ones)
		hit := (x-' '*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash
		if hit &= high; hit == 0 {
			i += 8
			continue
		}
		s.pos = i + bits.TrailingZeros64(hit)/8
		switch data[s.pos] {
		case '"':
			s.pos++
			return escaped, true
		case '\\':
			escaped = true
			if !s.escape() {
				return true, false
			}
			i = s.pos
		default: // a control character
			return escaped, false
		}
	}
	s.pos = i
	return s.textEnd(escaped)
}

// textEnd is text for the last bytes of a record.
func (s *scanner) textEnd(escaped bool) (_, ok bool) {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		s.seen |= uint64(c)
		switch {
		case c == '"':
			s.pos++
			return escaped, true
		case c == '\\':
			escaped = true
			if !s.escape() {
				return true, false
			}
		case c < ' ':
			return escaped, false
		default:
			s.pos++
		}
	}
	return escaped, false
}

// escape reads a backslash and what follows it.
func (s *scanner) escape() bool {
	s.escapes = true
	s.pos++
	if s.pos == len(s.data) {
		return false
	}
	switch s.data[s.pos] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return true
	case 'u':
		s.pos++
		for range 4 {
			if s.pos == len(s.data) {
				return false
			}
			if _, ok := percent.Unhex(s.data[s.pos]); !ok {
				return false
			}
			s.pos++
		}
		return true
	}
	return false
}
