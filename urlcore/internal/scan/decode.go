package scan

import (
	"encoding/binary"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// Decode appends the decoding of a piece of the queries' text, as far as it is one of bytes: plus signs become spaces,
// and triplets the bytes that they stand for. s is a name or value of Pairs. It tells whether there is a byte from
// 0x80 on, so that the result may not be well-formed UTF-8.
//
// dst must have room for the piece and Slack bytes more, and Slack bytes behind Text must be readable.
func (q *Queries) Decode(dst []byte, s Span) ([]byte, bool) {
	start, end := int(s.Start), int(s.End)
	if start == end {
		return dst, false
	}
	_ = q.Text[start:end]
	_ = dst[:len(dst)+end-start+Slack]
	return decode(dst, q, start, end)
}

// IsEscaped reports whether there are plus or percent signs in a piece of the queries' text.
func (q *Queries) IsEscaped(s Span) bool {
	end := int(s.End)
	return q.nextEscape(int(s.Start), end) < end
}

// decodeGeneric is the reference of the kernels of this name: it copies runs without escapes, by whole words.
func decodeGeneric(dst []byte, q *Queries, at, end int) ([]byte, bool) {
	le := binary.LittleEndian
	text := q.Text[:min(len(q.Text)+Slack, cap(q.Text))]
	out, to := dst[:cap(dst)], len(dst)
	seen := byte(0)
	for {
		escape := q.nextEscape(at, end)
		size := escape - at
		if size <= 16 {
			le.PutUint64(out[to:], le.Uint64(text[at:]))
			le.PutUint64(out[to+8:], le.Uint64(text[at+8:]))
		} else {
			copy(out[to:], text[at:escape])
		}
		if to, at = to+size, escape; at == end {
			return dst[:to], seen >= 0x80
		}
		c := text[at]
		at++
		if c == '+' {
			c = ' '
		} else if end-at >= 2 {
			high, ok1 := percent.Unhex(text[at])
			low, ok2 := percent.Unhex(text[at+1])
			if ok1 && ok2 {
				c = high<<4 | low
				at += 2
			}
		}
		out[to] = c
		seen |= c
		to++
	}
}

// nextEscape returns the position of the first plus or percent sign from at on and before end, else end.
func (q *Queries) nextEscape(at, end int) int { return nextNear(q.escape, at, end) }
