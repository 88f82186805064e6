package columns

import (
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/urlmill/urlmill/urlcore/charset"
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
	c.decodePairs()
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

// decodePairs puts names and values with escapes as they are meant into the side buffer.
func (c *Columns) decodePairs() {
	p, q := &c.pos, &c.queries
	for cursor := 0; cursor < 2*len(q.Escaped); {
		// No text grows when it is decoded, but where it turns out to be ill-formed.
		p.Side = slices.Grow(p.Side, len(q.Text)+scan.Slack)
		var high *Span
		p.Side, cursor, high = q.DecodePairs(p.Side, cursor)
		if high == nil {
			return
		}
		start := int(high.Start &^ scan.Side)
		if !utf8.Valid(p.Side[start:]) {
			// The text with replacements is longer: it goes behind the bytes and then into their place.
			end := len(p.Side)
			p.Side = charset.AppendUTF8(p.Side, p.Side[start:end])
			p.Side = append(p.Side[:start], p.Side[end:]...)
			*high = p.sideSpan(start)
		}
	}
}
