package columns

import (
	"math/bits"
	"slices"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// textColumn says what a text column is made of.
type textColumn struct {
	mask       Mask
	flag       Flags // of rows in which it is not null
	start, end int   // words of Parts
	get        func(*Columns) *Text
}

var textColumns = [...]textColumn{
	{Href, IsURL, scan.HrefWord, scan.HrefWord + 1, func(c *Columns) *Text { return &c.Href }},
	{Scheme, IsURL, scan.SchemeWord, scan.SchemeWord + 1, func(c *Columns) *Text { return &c.Scheme }},
	{Host, HasHost, scan.HostWord, scan.HostWord + 1, func(c *Columns) *Text { return &c.Host }},
	{Origin, HasOrigin, scan.OriginWord, scan.OriginWord + 1, func(c *Columns) *Text { return &c.Origin }},
	{RegistrableDomain, HasDomain, scan.DomainWord, scan.HostWord + 1, func(c *Columns) *Text { return &c.RegistrableDomain }},
	{PublicSuffix, HasSuffix, scan.SuffixWord, scan.HostWord + 1, func(c *Columns) *Text { return &c.PublicSuffix }},
	{Path, IsURL, scan.PathWord, scan.PathWord + 1, func(c *Columns) *Text { return &c.Path }},
	{Query, HasQuery, scan.QueryWord, scan.QueryWord + 1, func(c *Columns) *Text { return &c.Query }},
	{Fragment, HasFragment, scan.FragmentWord, scan.FragmentWord + 1, func(c *Columns) *Text { return &c.Fragment }},
}

// queryColumn is the index of the query in textColumns.
const queryColumn = 7

// isSparse reports whether few rows of the stretch have a flag: so few that a branch is seldom mispredicted.
func (c *Columns) isSparse(flag Flags) bool {
	var bitmap [(stretchRows + 7) / 8]byte
	flags := c.pos.Flags[c.first:]
	return scan.Plane(bitmap[:], flags, flag) < len(flags)/8
}

// emit copies the text of a stretch of rows, size bytes of data, into the columns. Behind the first safe rows
// scan.Slack bytes of data may be read. It returns false, with nothing copied, if a column would become too large.
func (c *Columns) emit(data []byte, size, safe int) bool {
	p := &c.pos
	n := len(p.Parts)
	p.Side = slices.Grow(p.Side, scan.Slack)
	if size > MaxURL {
		size = 0 // one row, which is an error: more than stretchBytes are not of several
	}
	// No column takes the same byte twice, but for the path that a URL without one has.
	room := size + len(p.Side) + n + scan.Slack
	if !c.fits(room) {
		return false
	}
	words := scan.PartsWords32(p.Parts)
	gathered := c.gatherRows(data, room, safe)
	gather := func(t *Text, col *textColumn) {
		spans := scan.Spans{Words: words, Start: col.start, End: col.end, Stride: scan.PartsWords}
		if col.flag&(HasQuery|HasFragment) != 0 && c.isSparse(col.flag) {
			t.usual = scan.MostlyEmpty
		}
		t.gather(spans, n, safe, room, data, p.Side)
	}
	for i := range textColumns {
		switch col := &textColumns[i]; {
		case (c.want&^gathered)&col.mask == 0:
		case c.isDictionary(col.mask):
			c.dictionary(col.mask).add(words, col.start, col.end, p.Flags[c.first:], col.flag, data, p.Side)
		default:
			gather(col.get(c), col)
		}
	}
	if c.want&Params == 0 {
		return true
	}
	queries := &c.Query
	if c.want&Query == 0 {
		queries = &c.queryText
		queries.reset()
		gather(queries, &textColumns[queryColumn])
	}
	c.emitParams(queries, n)
	return true
}

// rowColumns are the columns that scan.GatherRows fills, in its order.
var rowColumns = [scan.RowColumns]*textColumn{
	scan.SchemeColumn: &textColumns[1], scan.HostColumn: &textColumns[2], scan.OriginColumn: &textColumns[3],
	scan.DomainColumn: &textColumns[4], scan.SuffixColumn: &textColumns[5], scan.PathColumn: &textColumns[6],
}

// gatherRows fills the columns of a stretch that are worth filling together, and returns which it has filled.
func (c *Columns) gatherRows(data []byte, room, safe int) (filled Mask) {
	if !scan.GathersRows() {
		return 0
	}
	wanted := 0
	for i, col := range rowColumns {
		if c.want&col.mask != 0 && !c.isDictionary(col.mask) {
			wanted |= 1 << i
			filled |= col.mask
		}
	}
	if bits.OnesCount(uint(wanted)) < scan.ManyColumns {
		return 0
	}
	n := len(c.pos.Parts)
	c.unwanted.Data = slices.Grow(c.unwanted.Data[:0], scan.Slack)
	c.unwanted.Offsets = slices.Grow(c.unwanted.Offsets[:0], n)[:n]
	var columns [scan.RowColumns]scan.Column
	for i, col := range rowColumns {
		columns[i] = c.unwanted
		if t := col.get(c); wanted>>i&1 != 0 {
			columns[i] = scan.Column{Data: slices.Grow(t.Data, room), Offsets: t.growOffsets(n)}
		}
	}
	path := &c.Path
	before := len(path.Data)
	scan.GatherRows(&columns, wanted, c.pos.Parts[:safe], path.usual, data, c.pos.Side)
	if safe > 0 {
		path.usual = scan.UsualFor((len(columns[scan.PathColumn].Data) - before) / safe)
	}
	for i, col := range rowColumns {
		if wanted>>i&1 != 0 {
			t := col.get(c)
			t.Data = columns[i].Data
			spans := scan.Spans{Words: scan.PartsWords32(c.pos.Parts[safe:]), Start: col.start, End: col.end, Stride: scan.PartsWords}
			t.Data = scan.GatherSafe(t.Data, columns[i].Offsets[safe:], spans, n-safe, data, c.pos.Side)
		}
	}
	return filled
}

// growOffsets makes room for n more offsets and returns it.
func (t *Text) growOffsets(n int) []int32 {
	rows := len(t.Offsets)
	t.Offsets = slices.Grow(t.Offsets, n)[:rows+n]
	return t.Offsets[rows:]
}

// gather appends n values of at most room bytes together with the slack behind them, the first safe of them by the
// kernels. How they go about it depends on the values of the stretch before.
func (t *Text) gather(spans scan.Spans, n, safe, room int, data, side []byte) {
	t.Data = slices.Grow(t.Data, room)
	size, offsets := len(t.Data), t.growOffsets(n)
	spans.Usual = t.usual
	t.Data = scan.Gather(t.Data, offsets, spans, safe, data, side)
	t.usual = scan.UsualFor((len(t.Data) - size) / max(safe, 1))
	if safe < n {
		spans.Words = spans.Words[safe*spans.Stride:]
		t.Data = scan.GatherSafe(t.Data, offsets[safe:], spans, n-safe, data, side)
	}
}

// finish makes what is not text, for all rows at once: the bitmaps, the ports and the errors.
func (c *Columns) finish() {
	p := &c.pos
	c.Rows = len(p.Flags)
	for i := range textColumns {
		switch col := &textColumns[i]; {
		case c.want&col.mask == 0:
		case c.isDictionary(col.mask):
			c.dictionary(col.mask).finish(p.Flags, col.flag)
		default:
			col.get(c).Validity.fill(p.Flags, col.flag)
		}
	}
	if c.want&HasUsername != 0 {
		c.HasUsername.Validity.fill(p.Flags, IsURL)
		c.HasUsername.Bits = zeros(c.HasUsername.Bits, (c.Rows+7)/8)
		for _, row := range p.users {
			c.HasUsername.Bits[row/8] |= 1 << (row % 8)
		}
	}
	if c.want&Port != 0 {
		c.Port.Validity.fill(p.Flags, HasPort)
		c.Port.Values = zeros(c.Port.Values, c.Rows)
		for _, e := range p.ports {
			c.Port.Values[e.row] = e.port
		}
	}
	if c.want&Params != 0 {
		c.Params.Validity.fill(p.Flags, HasQuery)
		c.Params.Keys.Validity.all(len(c.Params.Keys.Offsets) - 1)
		c.Params.Values.Validity.all(len(c.Params.Values.Offsets) - 1)
	}
	c.Errors = zeros(c.Errors, c.Rows)
	for _, e := range p.errors {
		c.Errors[e.row] = e.err
	}
	c.Invalid = len(p.errors)
}

// zeros returns s with n zero values and nothing else.
func zeros[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// fill makes the bitmap of the rows that have a flag.
func (v *Validity) fill(flags []Flags, flag Flags) {
	n := len(flags)
	v.rows, v.Valid = n, slices.Grow(v.Valid[:0], (n+7)/8)[:(n+7)/8]
	v.Nulls = n - scan.Plane(v.Valid, flags, flag)
}

// all makes the bitmap of n rows that are not null.
func (v *Validity) all(n int) {
	v.rows, v.Nulls, v.Valid = n, 0, slices.Grow(v.Valid[:0], (n+7)/8)[:(n+7)/8]
	for i := range v.Valid {
		v.Valid[i] = 0xFF
	}
	if n%8 != 0 {
		v.Valid[n/8] = 1<<(n%8) - 1
	}
}
