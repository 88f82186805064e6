package columns

import (
	"unsafe"

	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// param is where a name and its value are, in the input where they stand for themselves, else decoded in the
// side buffer.
type param struct{ key, value Span }

const paramWords = 4

// splitParams finds the parameters of the rows of a stretch that begins at start, by the rules of
// application/x-www-form-urlencoded, and ends the row of each in the column.
//
// https://url.spec.whatwg.org/#concept-urlencoded-parser
func (c *Columns) splitParams(data []byte, start int, mapped bool) {
	c.params = c.params[:0]
	p := &c.Params
	before := p.Keys.rows
	flags := c.pos.Flags[c.first:]
	for i := range c.pos.Parts {
		if flags[i]&HasQuery != 0 {
			switch q := c.pos.Parts[i].Query; {
			case q.Start&scan.Side != 0:
				c.splitQuery(c.pos.Side, int(q.Start&^scan.Side), int(q.End&^scan.Side), scan.Side)
			case mapped:
				c.splitMapped(data, int(q.Start)-start, int(q.End)-start, start)
			default:
				c.splitQuery(data, int(q.Start), int(q.End), 0)
			}
		}
		p.Offsets = append(p.Offsets, int32(before+len(c.params)))
	}
}

// splitMapped splits a query of the current stretch, from its byte at to its byte end.
func (c *Columns) splitMapped(data []byte, at, end, start int) {
	maps := &c.maps
	for at < end {
		pairEnd := scan.Next(maps.Amp, at, end)
		if pairEnd > at {
			nameEnd := scan.Next(maps.Equal, at, pairEnd)
			value := min(nameEnd+1, pairEnd)
			e := param{
				span(uint32(start + at), uint32(start + nameEnd)),
				span(uint32(start + value), uint32(start + pairEnd)),
			}
			if scan.Next(maps.Escape, at, pairEnd) < pairEnd {
				if scan.Next(maps.Escape, at, nameEnd) < nameEnd {
					e.key = c.decode(data[e.key.Start:e.key.End])
				}
				if scan.Next(maps.Escape, value, pairEnd) < pairEnd {
					e.value = c.decode(data[e.value.Start:e.value.End])
				}
			}
			c.params = append(c.params, e)
		}
		at = pairEnd + 1
	}
}

// splitQuery splits the query text[at:end]; bit says in what buffer text is. It may be the side buffer.
func (c *Columns) splitQuery(text []byte, at, end int, bit uint32) {
	for at < end {
		pairEnd, nameEnd, escapes := at, -1, scan.Class(0)
		for ; pairEnd < end; pairEnd++ {
			class := scan.Classes[text[pairEnd]]
			if class&(scan.Amp|scan.Equal|scan.Escape) == 0 {
				continue
			}
			if class&scan.Amp != 0 {
				break
			}
			if class&scan.Equal != 0 && nameEnd < 0 {
				nameEnd = pairEnd
			}
			escapes |= class
		}
		if pairEnd > at {
			if nameEnd < 0 {
				nameEnd = pairEnd
			}
			value := min(nameEnd+1, pairEnd)
			e := param{
				span(bit | uint32(at), bit | uint32(nameEnd)), span(bit | uint32(value), bit | uint32(pairEnd)),
			}
			if escapes&scan.Escape != 0 {
				e.key, e.value = c.decode(text[at:nameEnd]), c.decode(text[value:pairEnd])
			}
			c.params = append(c.params, e)
		}
		at = pairEnd + 1
	}
}

// decode puts a name or value into the side buffer as it is meant.
func (c *Columns) decode(text []byte) Span {
	start := len(c.pos.Side)
	c.pos.Side = form.AppendDecode(c.pos.Side, text)
	return c.pos.sideSpan(start)
}

// emitParams copies the parameters of the stretch; those of its first safe rows by the kernels.
func (c *Columns) emitParams(data []byte, before int32, room, safe int) {
	p := &c.Params
	n := len(c.params)
	safe = int(p.Offsets[len(p.Offsets)-1-len(c.pos.Parts)+safe] - before)
	if n == 0 {
		return
	}
	words := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(c.params))), n*paramWords)
	keys := scan.Spans{Words: words, Start: 0, End: 1, Stride: paramWords}
	values := scan.Spans{Words: words, Start: 2, End: 3, Stride: paramWords}
	p.Keys.gather(keys, n, safe, room, data, c.pos.Side)
	p.Values.gather(values, n, safe, room, data, c.pos.Side)
	p.Keys.rows += n
	p.Values.rows += n
}
