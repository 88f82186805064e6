package columns

import (
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// emitParams adds the decoded parameters of a stretch of n rows, whose queries are the last n values of text.
// Names and values that stand for themselves are copied from there, the others decoded into the side buffer first.
//
// https://url.spec.whatwg.org/#concept-urlencoded-parser
func (c *Columns) emitParams(text *Text, n int) {
	q, p := &c.queries, &c.Params
	row := len(text.Offsets) - 1 - n
	q.Start = int(text.Offsets[row])
	q.Text, q.Ends = text.Data[q.Start:], text.Offsets[row+1:]
	q.Before, q.Counts = int32(len(p.Keys.Offsets)-1), p.growOffsets(n)
	q.Split()
	if len(q.Pairs) == 0 {
		return
	}
	c.pos.resetSide()
	// No text grows when it is decoded, but where it turns out to be ill-formed.
	c.pos.Side = slices.Grow(c.pos.Side, len(q.Text)+scan.Slack)
	for _, i := range q.Escaped {
		if q.IsEscaped(q.Pairs[i].Key) {
			c.decode(&q.Pairs[i].Key)
		}
		c.decode(&q.Pairs[i].Value)
	}
	c.pos.Side = slices.Grow(c.pos.Side, scan.Slack)
	pairs := len(q.Pairs)
	words := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(q.Pairs))), pairs*scan.PairWords)
	room := len(q.Text) + len(c.pos.Side) + scan.Slack
	for _, col := range [...]struct {
		text *Text
		word int
	}{{&p.Keys, scan.KeyWord}, {&p.Values, scan.ValueWord}} {
		spans := scan.Spans{Words: words, Start: col.word, End: col.word + 1, Stride: scan.PairWords}
		col.text.gather(spans, pairs, pairs, room, q.Text, c.pos.Side)
	}
	q.Text, q.Ends, q.Counts = nil, nil, nil
}

// growOffsets makes room for n more offsets and returns it.
func (p *ParamLists) growOffsets(n int) []int32 {
	rows := len(p.Offsets)
	p.Offsets = slices.Grow(p.Offsets, n)[:rows+n]
	return p.Offsets[rows:]
}

// decode puts a name or value of the queries as it is meant into the side buffer.
func (c *Columns) decode(s *Span) {
	start := len(c.pos.Side)
	c.pos.Side = slices.Grow(c.pos.Side, s.Len()+scan.Slack)
	side, high := c.queries.Decode(c.pos.Side, *s)
	if high && !utf8.Valid(side[start:]) {
		side = form.AppendDecode(side[:start], c.queries.Text[s.Start:s.End])
	}
	c.pos.Side = side
	*s = c.pos.sideSpan(start)
}
