package privacy

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/urlmill/urlmill/config"
)

// form is what a text is.
type form uint8

const (
	asURL    form = iota // asURL is a URL, perhaps without its beginning.
	asText               // asText is any text: JSON, a line of a log, a cookie.
	asRecord             // asRecord is text in which addresses count as well, where the policy has a rule for them.
)

// redactor removes what a policy says. It belongs to one goroutine.
type redactor struct {
	policy          *Policy
	names, segments *remembered
	words           words
	clean           cleanTexts
	counts          []int64 // of this batch

	mac  hash.Hash // with key; nil without keys
	key  config.Secret
	sum  [sha256.Size]byte
	hexs [hashLength]byte

	canonical []byte // an address that is hashed

	// Of the text that is scanned: what it says when its escapes are decoded, the position of each of those bytes in the text and
	// that of its end, nil where they are the same, and what is to be removed.
	form    form
	raw, v  []byte
	pos     []int32
	spans   []span
	put     []byte // the replacements of spans
	inQuery bool

	text    []byte  // memory of v where it is not the text itself
	places  []int32 // memory of pos
	cleaned []byte  // a URL without tabs and line ends
}

// span is a part of v that is removed.
type span struct {
	from, to int // in v
	rule     int
	put      [2]int // its replacement, in put
}

// hashLength is the length of a hash as text: 128 bits in hex.
const hashLength = 32

func (p *Policy) newRedactor() *redactor {
	return &redactor{policy: p, names: newRemembered(&p.names), segments: newRemembered(&p.segments), counts: make([]int64, len(p.rules))}
}

// flush adds what has been counted to the counts of the policy.
func (r *redactor) flush() {
	for i, n := range r.counts {
		if n > 0 {
			r.policy.counts[i].Add(n)
			r.counts[i] = 0
		}
	}
}

// useKey takes the key of a batch.
func (r *redactor) useKey(key config.Secret) {
	if key != r.key {
		r.key, r.mac = key, hmac.New(sha256.New, []byte(key.Reveal()))
	}
}

// appendRedacted appends text to dst without what the policy removes. It reports false, and appends nothing, if that is all of it.
func (r *redactor) appendRedacted(dst, text []byte, f form) (out []byte, changed bool) {
	r.raw, r.form = text, f
	if f == asURL && bytes.ContainsAny(text, "\t\r\n") {
		r.cleaned = r.cleaned[:0]
		for _, c := range text {
			if c != '\t' && c != '\r' && c != '\n' {
				r.cleaned = append(r.cleaned, c)
			}
		}
		r.raw = r.cleaned
	}
	r.decode()
	r.spans, r.put = r.spans[:0], r.put[:0]
	r.walk()
	if len(r.spans) == 0 {
		return dst, false
	}
	last := 0
	for _, s := range r.spans {
		r.counts[s.rule]++
		dst = append(dst, r.raw[last:r.at(s.from)]...)
		dst = append(dst, r.put[s.put[0]:s.put[1]]...)
		last = r.at(s.to)
	}
	return append(dst, r.raw[last:]...), true
}

// at returns the position in raw of byte i of v.
func (r *redactor) at(i int) int {
	if r.pos == nil {
		return i
	}
	return int(r.pos[i])
}

// level says how deep byte i of v is escaped: 0 for not at all. Escapes are longer the deeper they are.
func (r *redactor) level(i int) int {
	switch n := r.at(i+1) - r.at(i); {
	case n == 1:
		return 0
	case n <= 3 || n == 6:
		return 1
	}
	return 2
}

// decode sets v to raw without its escapes: those of JSON, in what is no URL, and then percent-encoding, twice.
func (r *redactor) decode() {
	r.v, r.pos = r.raw, nil
	if r.form != asURL && bytes.IndexByte(r.v, '\\') >= 0 {
		r.unescape('\\', unbackslash)
	}
	for range 2 {
		if i := bytes.IndexByte(r.v, '%'); i < 0 || !r.unescape('%', unpercent) {
			return
		}
	}
}

// unescape replaces the escapes in v that begin with a byte, and reports whether there was one. escape returns the character that a text
// begins with and the length of its escape, 0 for none.
func (r *redactor) unescape(begin byte, escape func(b []byte) (c byte, n int)) bool {
	if r.pos == nil {
		r.text = append(r.text[:0], r.v...)
		r.places = r.places[:0]
		for i := range len(r.v) + 1 {
			r.places = append(r.places, int32(i))
		}
		r.v, r.pos = r.text, r.places
	}
	n, any := 0, false
	for i := 0; i < len(r.v); n++ {
		c, length := r.v[i], 0
		if c == begin {
			if c, length = escape(r.v[i:]); length > 0 {
				any = true
			} else {
				c = begin
			}
		}
		r.v[n], r.pos[n] = c, r.pos[i]
		i += max(length, 1)
	}
	r.pos[n] = r.pos[len(r.v)]
	r.v, r.pos = r.v[:n], r.pos[:n+1]
	return any
}

func unpercent(b []byte) (byte, int) {
	if len(b) > 2 {
		if c, ok := unhex(b[1], b[2]); ok {
			return c, 3
		}
	}
	return 0, 0
}

// unbackslash decodes the escapes of JSON, and \x40 as access logs have it. Characters beyond ASCII stay escaped.
func unbackslash(b []byte) (byte, int) {
	switch {
	case len(b) > 5 && b[1] == 'u' && b[2] == '0' && b[3] == '0':
		if c, ok := unhex(b[4], b[5]); ok && c < 0x80 {
			return c, 6
		}
	case len(b) > 3 && b[1] == 'x':
		if c, ok := unhex(b[2], b[3]); ok {
			return c, 4
		}
	case len(b) > 1 && (b[1] == '"' || b[1] == '/' || b[1] == '\\'):
		return b[1], 2
	case len(b) > 1 && (b[1] == 'n' || b[1] == 't' || b[1] == 'r'):
		return ' ', 2
	}
	return 0, 0
}

// walk finds what is to be removed, from the left to the right. It stops at a byte only if something can begin there, or be recognised by
// it, and goes on behind what it has found.
func (r *redactor) walk() {
	i := 0
	r.inQuery = false
	if r.form == asURL {
		i = r.authority()
	}
	for i < len(r.v) {
		if class[r.v[i]]&anchor == 0 {
			i++
			continue
		}
		i = max(r.find(i), i+1)
	}
}

// find looks at byte i, and returns where to go on: behind what was found, or 0.
func (r *redactor) find(i int) int {
	switch c := r.v[i]; c {
	case '@':
		return r.email(i)
	case '=':
		return r.parameter(i)
	case ':':
		return r.colon(i)
	case '/':
		return r.segment(i)
	case '?', '#':
		r.inQuery = r.inQuery || r.level(i) == 0
		return 0
	case '+', '(':
		return r.phone(i)
	case '-':
		return r.coordinates(i)
	default:
		if c-'0' <= 9 {
			return r.number(i)
		}
		return r.secret(i)
	}
}

// found notes that v[from:to] is removed by a rule, and returns to.
func (r *redactor) found(rule, from, to int) int {
	value := r.v[from:to]
	if string(value) == mask || from == to {
		return to
	}
	if k := kind(rule); rule < int(numKinds) && !r.policy.kinds[k] {
		return 0
	}
	start := len(r.put)
	switch r.policy.methods[rule] {
	case Mask:
		r.put = append(r.put, mask...)
	case Hash:
		r.put = r.appendHash(r.put, value)
	case Drop:
		from, to = r.whole(from, to)
	}
	r.remove(span{from, to, rule, [2]int{start, len(r.put)}})
	return to
}

const mask = "***"

// remove adds a span, which takes those that it begins before with it.
func (r *redactor) remove(s span) {
	for n := len(r.spans); n > 0 && r.spans[n-1].to > s.from; n-- {
		s.from = min(s.from, r.spans[n-1].from)
		r.counts[r.spans[n-1].rule]++ // it was found all the same
		r.spans = r.spans[:n-1]
	}
	r.spans = append(r.spans, s)
}

// appendHash appends the hash of a value. Without a key, which a configuration cannot be, it is masked.
func (r *redactor) appendHash(dst, value []byte) []byte {
	if r.mac == nil {
		return append(dst, mask...)
	}
	r.mac.Reset()
	r.mac.Write(value)
	hex.Encode(r.hexs[:], r.mac.Sum(r.sum[:0])[:hashLength/2])
	return append(dst, r.hexs[:]...)
}

// whole returns the parameter or the segment around v[from:to], with one of the separators around it. What is no URL keeps what is
// around a value.
func (r *redactor) whole(from, to int) (int, int) {
	if r.form != asURL {
		return from, to
	}
	separates := func(i int) bool {
		c := r.v[i]
		return c == '&' || c == '?' || c == '#' || !r.inQuery && (c == '/' || c == ';')
	}
	for from > 0 && !separates(from-1) {
		from--
	}
	for to < len(r.v) && !separates(to) {
		to++
	}
	switch {
	case to < len(r.v) && r.v[to] == '&' && from > 0:
		to++
	case from > 0 && r.v[from-1] == '&' || !r.inQuery && from > 1 && to < len(r.v) && r.v[from-1] == '/' && r.v[to] == '/':
		from--
	}
	return from, to
}
