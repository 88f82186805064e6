package columns

import (
	"encoding/binary"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// locateEach is locateMapped without bitmaps: it looks at the bytes of each row by a table.
func (c *Columns) locateEach(data []byte, start int, ends []int32) {
	c.pos.addRows(len(ends))
	for i, end := range ends {
		if c.baseEnds == nil || c.setBase(i) {
			c.fix(data, start, int(end), i, true)
		}
		start = int(end)
	}
}

// The first eight bytes of a URL as a number, the first of them lowest; the first byte of httpWord does not count.
var (
	httpsWord = binary.LittleEndian.Uint64([]byte("https://"))
	httpWord  = binary.LittleEndian.Uint64([]byte("\x00http://"))
)

// locateOne finds the parts of a clean row, whose text begins at start in the input. It declines all others.
func (c *Columns) locateOne(in []byte, start, i int) bool {
	if len(in) < len("http://h") || len(in) > maxRepair {
		return false
	}
	host := len("http://")
	if word := binary.LittleEndian.Uint64(in); word == httpsWord {
		host++
	} else if word<<8 != httpWord {
		return false
	}
	h := hostLabels(in, host)
	if h.last == h.end || isDigit(in[h.last]) {
		return false
	}
	pathEnd := h.end
	if h.end < len(in) && in[h.end] == '/' {
		var ok bool
		if pathEnd, ok = endOfPath(in, h.end); !ok {
			return false
		}
	} else if c.want&Href != 0 {
		return false
	}
	query, queryEnd, fragment, ok := endOfURL(in, pathEnd)
	if !ok {
		return false
	}
	r, at := &c.pos.Parts[i], uint32(start)
	part := func(from, to int) Span { return Span{Start: at + uint32(from), End: at + uint32(to)} }
	if r.Path = part(h.end, pathEnd); h.end == pathEnd {
		r.Path = scan.RootPath
	}
	r.Href, r.Scheme, r.Origin = part(0, len(in)), part(0, host-len("://")), part(0, h.end)
	r.Host, r.Query, r.Fragment = part(host, h.end), part(query, queryEnd), part(fragment, len(in))
	r.Domain, r.Suffix = r.Host.End, at+uint32(h.last)
	flags := IsURL | HasHost | HasOrigin | HasSuffix
	if query > pathEnd {
		flags |= HasQuery
	}
	if fragment > queryEnd {
		flags |= HasFragment
	}
	if c.wantsDomains() {
		c.findDomain(r, &flags, in, at, h)
	}
	c.pos.Flags[c.row(i)] = flags
	return true
}

// endOfURL returns where the query begins, behind its question mark, and where it ends, and where the fragment begins
// behind its number sign; a part that is not there is empty. ok is false when the two are not clean.
func endOfURL(in []byte, pathEnd int) (query, queryEnd, fragment int, ok bool) {
	query = pathEnd
	if query == len(in) {
		return query, query, query, true
	}
	queryEnd = query
	if in[query] == '?' {
		query++
		queryEnd = endOfQuery(in, query)
	}
	if queryEnd == len(in) {
		return query, queryEnd, queryEnd, true
	}
	if in[queryEnd] != '#' {
		return 0, 0, 0, false
	}
	fragment = queryEnd + 1
	return query, queryEnd, fragment, unchanged(in[fragment:], inFragment) == len(in)-fragment
}

// unchanged returns the length of the longest beginning of s that stays as it is in a region.
func unchanged(s []byte, in region) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		b, t := s[i:i+8:i+8], &changes
		if (t[b[0]]|t[b[1]]|t[b[2]]|t[b[3]]|t[b[4]]|t[b[5]]|t[b[6]]|t[b[7]])&in != 0 {
			break
		}
	}
	for ; i < len(s) && changes[s[i]]&in == 0; i++ {
	}
	return i
}
