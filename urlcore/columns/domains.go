package columns

import (
	"runtime"
	"sync"
	"weak"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// useList makes the list for the batch current, and the filter that of its regular hosts.
func (c *Columns) useList(list *psl.List) {
	if c.list != list {
		c.list, c.filter = list, filterOf(list)
	}
}

// filters has the filter of every list that is in use, [weak.Pointer] of the list to [*scan.SuffixFilter]: to make one costs as
// much as to parse some 7,000 URLs. A list that is gone takes its own along.
var filters sync.Map

// filterOf returns the filter of the list, which is not changed any more.
func filterOf(list *psl.List) *scan.SuffixFilter {
	key := weak.Make(list)
	if f, ok := filters.Load(key); ok {
		return f.(*scan.SuffixFilter)
	}
	f := newFilter(list)
	if first, there := filters.LoadOrStore(key, f); there {
		return first.(*scan.SuffixFilter)
	}
	runtime.AddCleanup(list, func(key weak.Pointer[psl.List]) { filters.Delete(key) }, key)
	return f
}

func newFilter(list *psl.List) *scan.SuffixFilter {
	f := new(scan.SuffixFilter)
	list.Irregular(func(e psl.Ending) {
		if e.Third != "" {
			f.AddThird(e.Third, e.Label, e.TLD)
		} else {
			f.Add(e.Label, e.TLD, e.Suffix)
		}
	})
	return f
}

// findDomain sets suffix and domain of a row whose host is the domain that ends at h.end in text, of which the first
// byte is at position at of a [Span]. Most hosts need not be looked up in the list.
func (c *Columns) findDomain(r *Parts, flags *Flags, text []byte, at uint32, h labels) {
	host := int(r.Host.Start - at)
	r.Suffix, r.Domain = at+uint32(h.last), r.Host.End
	switch {
	case h.last == host && h.end > host: // one label, which is a suffix
	case h.last == h.end || h.second >= h.last-1 || text[host] == '.':
		c.lookup(text[host:h.end], r, flags)
	case !c.filter.Irregular(text, h.second, h.last, h.end):
		r.Domain = at + uint32(h.second)
		*flags |= HasDomain
	case !c.filter.EndsInTwo(text, h.third, h.second, h.last, h.end):
		c.lookup(text[host:h.end], r, flags)
	default:
		r.Suffix = at + uint32(h.second)
		if h.second > host {
			r.Domain = at + uint32(h.third)
			*flags |= HasDomain
		}
	}
}

// lookup asks the list for the suffix and the domain of a row whose host is a domain.
func (c *Columns) lookup(host []byte, r *Parts, flags *Flags) {
	suffix, domain, _ := c.list.Lookup(host)
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
