package columns

import "slices"

// locateMapped finds the positions of the rows of a stretch, which begins at start, by bitmaps of their text. What
// the kernel declines is fixed afterwards.
func (c *Columns) locateMapped(data []byte, start int, ends []int32) {
	r := &c.rows
	r.Text, r.Start, r.Ends = data[start:ends[len(ends)-1]], start, ends
	c.maps.Classify(r.Text)
	r.Maps, r.WithPath, r.Suffixes = &c.maps, c.want&Href != 0, nil
	if c.wantsDomains() {
		r.Suffixes = c.filter
	}
	r.Parts, r.Flags = c.pos.addRows(len(ends))
	r.Declined, r.Irregular = slices.Grow(r.Declined[:0], len(ends)), slices.Grow(r.Irregular[:0], len(ends))
	r.Locate()
	for _, i := range r.Irregular {
		parts := &r.Parts[i]
		c.lookup(data[parts.Host.Start:parts.Host.End], parts, &r.Flags[i])
	}
	c.fixDeclined(data, start, ends)
	r.Text, r.Ends = nil, nil
}

// fixDeclined fixes the rows that the kernel has declined; with bases it goes over all rows, since that of a row has to
// be a URL even if the row does not need it.
func (c *Columns) fixDeclined(data []byte, start int, ends []int32) {
	declined := c.rows.Declined
	// next fixes the row that is listed as i.
	next := func(i int32) {
		harmless := i < 0
		if harmless {
			i = ^i
		}
		from := start
		if i > 0 {
			from = int(ends[i-1])
		}
		c.fix(data, from, int(ends[i]), int(i), harmless)
	}
	if c.baseEnds == nil {
		for _, i := range declined {
			next(i)
		}
		return
	}
	for i := range int32(len(ends)) {
		ok := c.setBase(int(i))
		if len(declined) > 0 && (declined[0] == i || declined[0] == ^i) {
			if ok {
				next(declined[0])
			}
			declined = declined[1:]
		}
	}
}

func (c *Columns) wantsDomains() bool { return c.want&(RegistrableDomain|PublicSuffix) != 0 }
