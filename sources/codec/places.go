package codec

import (
	"bytes"
	"strings"
)

// Places are places in JSON records that codecs of JSON formats look at. Nothing changes them; all instances of a codec share them.
type Places struct {
	root  *node
	slots []int
}

// namedElement begins a last token that stands for the member value of that element of an array whose member name is what follows, in
// any case: the headers of requests in logs.
const namedElement = "name:"

// NewPlaces returns the places that the pointers, which have to be well formed, lead to. A last token such as name:host leads to "b"
// in [{"name": "Host", "value": "b"}]. Of several such elements the first counts.
func NewPlaces(pointers []string) *Places {
	all := make([][]string, len(pointers))
	for i, p := range pointers {
		tokens, err := ParsePointer(p)
		if err != nil {
			panic("codec: " + err.Error())
		}
		all[i] = tokens
	}
	p := &Places{}
	p.root, p.slots = newTree(all)
	p.root.markNamed()
	return p
}

// markNamed sets what is known of elements that are found by their name in n and below.
func (n *node) markNamed() {
	for _, c := range n.next {
		if name, ok := strings.CutPrefix(c.key, namedElement); ok {
			c.name = []byte(name)
			n.named = true
		}
		c.markNamed()
	}
}

// NewReader returns a reader of records. It belongs to one goroutine.
func (p *Places) NewReader() *PlaceReader {
	return &PlaceReader{places: p, scanner: scanner{caps: make([]capture, len(p.slots))}}
}

// PlaceReader finds the values at places of a record.
type PlaceReader struct {
	places *Places
	scanner
}

// Scan reads a record. It returns false, and the first byte that does not fit, for one that is not JSON. The values refer to record
// until the next call.
func (r *PlaceReader) Scan(record []byte) (at int, ok bool) {
	if cap(r.key) > maxKeptKey {
		r.key = nil
	}
	ok = r.scan(r.places.root, record)
	r.data = nil
	return r.pos, ok
}

// maxKeptKey bounds the memory for keys that a giant record leaves behind, in bytes.
const maxKeptKey = 64 << 10

// Plain reports whether the record has neither escapes nor bytes beyond ASCII.
func (r *PlaceReader) Plain() bool { return r.ascii() && !r.escapes }

// Place is where a value stands in its record: record[Start:End], of a string what is between the quotes.
type Place struct {
	Start, End int
	kind       kind
	Escaped    bool // it is a string with escapes
}

// There reports whether it is there and not null.
func (p Place) There() bool { return p.kind > null }

// Text reports whether it is a string.
func (p Place) Text() bool { return p.kind == text }

// Scalar reports whether it is a string, a number, true or false.
func (p Place) Scalar() bool { return p.kind > null && p.kind < array }

// At returns the value at the place with that number.
func (r *PlaceReader) At(i int) Place {
	v := &r.caps[r.places.slots[i]]
	return Place{v.start, v.end, v.kind, v.escaped}
}

// AppendUnescaped appends the string whose JSON text, of a value that has been scanned, is src.
func AppendUnescaped(dst, src []byte) []byte { return appendUnescaped(dst, src) }

// namedArray reads an array of objects with the members name and value, some of which n wants by their names.
func (s *scanner) namedArray(n *node) bool {
	if empty, ok := s.open(']'); empty || !ok {
		return ok
	}
	for {
		s.space()
		var name, value capture
		var ok bool
		if s.at('{') {
			name, value, ok = s.nameValue()
		} else {
			ok = s.value(nil)
		}
		if !ok {
			return false
		}
		if name.kind == text {
			s.keep(n, s.data[name.start:name.end], value)
		}
		if more, ok := s.more(']'); !more {
			return ok
		}
	}
}

// keep makes value that of the element of n with the name, unless it has one.
func (s *scanner) keep(n *node, name []byte, value capture) {
	for _, c := range n.next {
		if c.name != nil && bytes.EqualFold(c.name, name) {
			for _, i := range c.own {
				if s.caps[i].kind == missing {
					s.caps[i] = value
				}
			}
		}
	}
}

// nameAndValue are the places in an element.
var nameAndValue = NewPlaces([]string{"/name", "/value"})

// nameValue reads an object and returns its members name and value.
func (s *scanner) nameValue() (name, value capture, ok bool) {
	outer := s.caps
	s.caps = s.pair[:]
	clear(s.caps)
	ok = s.value(nameAndValue.root)
	s.caps = outer
	return s.pair[nameAndValue.slots[0]], s.pair[nameAndValue.slots[1]], ok
}
