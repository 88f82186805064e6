package columns

import "github.com/urlmill/urlmill/urlcore/psl"

// useList makes the list for the batch current, and the filter that of its regular hosts.
func (c *Columns) useList(list *psl.List) {
	if c.list == list {
		return
	}
	c.list = list
	c.filter.Reset()
	list.Irregular(func(e psl.Ending) {
		if e.Third != "" {
			c.filter.AddThird(e.Third, e.Label, e.TLD)
		} else {
			c.filter.Add(e.Label, e.TLD, e.Suffix)
		}
	})
}

// lookup asks the list for the suffix and the domain of a row whose host is a domain.
func (c *Columns) lookup(data []byte, r *Parts, flags *Flags) {
	suffix, domain, _ := c.list.Lookup(c.pos.Bytes(r.Host, data))
	r.Suffix, r.Domain = r.Host.End, r.Host.End
	*flags &^= HasSuffix | HasDomain
	if suffix >= 0 {
		r.Suffix = r.Host.Start + uint32(suffix)
		*flags |= HasSuffix
	}
	if domain >= 0 {
		r.Domain = r.Host.Start + uint32(domain)
		*flags |= HasDomain
	}
}
