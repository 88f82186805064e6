package scan

import (
	"encoding/binary"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// DecodePairs decodes the names and values of the pairs in Escaped, as far as decoding is one of bytes: plus signs become
// spaces, and triplets the bytes that they stand for. It appends what it decodes to side and makes the pairs' spans those
// of there; a name without escapes may stay where it is. It stops behind the first text that has a byte from 0x80 on, so
// that it may not be well-formed UTF-8, and returns that text's span; nil if there is none. cursor is 0 at first, and what
// was returned for it afterwards.
//
// side must have room for as many bytes as are left of Text and Slack more, and Slack bytes behind Text must be readable.
func (q *Queries) DecodePairs(side []byte, cursor int) ([]byte, int, *Span) {
	if cursor >= 2*len(q.Escaped) {
		return side, cursor, nil
	}
	next := &q.Pairs[q.Escaped[cursor/2]]
	left := len(q.Text) - int(next.Key.Start)
	if cursor%2 != 0 {
		left = len(q.Text) - int(next.Value.Start)
	}
	_, _ = side[:len(side)+left+Slack], q.Text[:len(q.Text)+Slack]
	return decodePairs(q, side, cursor)
}

// decodePairsGeneric is the reference of the kernels of this name.
func decodePairsGeneric(q *Queries, side []byte, cursor int) ([]byte, int, *Span) {
	for ; cursor < 2*len(q.Escaped); cursor++ {
		pair := &q.Pairs[q.Escaped[cursor/2]]
		s := &pair.Value
		if cursor%2 == 0 {
			s = &pair.Key
		}
		start, end := int(s.Start), int(s.End)
		if nextNear(q.escape, start, end) == end {
			continue
		}
		out, high := decodeGeneric(side, q, start, end)
		*s = Span{Side | uint32(len(side)), Side | uint32(len(out))}
		if side = out; high {
			return side, cursor + 1, s
		}
	}
	return side, cursor, nil
}

// decodeGeneric decodes one text: it copies runs without escapes, by whole words.
func decodeGeneric(dst []byte, q *Queries, at, end int) ([]byte, bool) {
	le := binary.LittleEndian
	text := q.Text[:min(len(q.Text)+Slack, cap(q.Text))]
	out, to := dst[:cap(dst)], len(dst)
	seen := byte(0)
	for {
		escape := nextNear(q.escape, at, end)
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
