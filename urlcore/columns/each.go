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
			c.fix(data, start, int(end), i)
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
	word := binary.LittleEndian.Uint64(in)
	host := len("http://")
	if word == httpsWord {
		host++
	} else if word<<8 != httpWord {
		return false
	}
	hostEnd, last := host, host
	for hostEnd < len(in) {
		class := scan.Classes[in[hostEnd]]
		if class&(scan.Stop|scan.Dot) != 0 {
			if class&scan.Stop != 0 {
				break
			}
			last = hostEnd + 1
		}
		hostEnd++
	}
	if last == hostEnd || in[last]-'0' <= 9 {
		return false
	}
	path, pathEnd := hostEnd, hostEnd
	if hostEnd < len(in) && in[hostEnd] == '/' {
		var ok bool
		if pathEnd, ok = endOfPath(in, hostEnd); !ok {
			return false
		}
	}
	flag := IsURL | HasHost | HasOrigin | HasSuffix
	query, fragment := pathEnd, pathEnd
	if pathEnd < len(in) && in[pathEnd] == '?' {
		flag |= HasQuery
		query++
		for fragment = query; fragment < len(in) && changes[in[fragment]]&inQuery == 0; fragment++ {
		}
	}
	hash := fragment
	if fragment < len(in) {
		if in[fragment] != '#' {
			return false
		}
		flag |= HasFragment
		for fragment++; fragment < len(in); fragment++ {
			if changes[in[fragment]]&inFragment != 0 {
				return false
			}
		}
		fragment = hash + 1
	}
	r := &c.pos.Parts[i]
	at := uint32(start)
	r.Path = span(at+uint32(path), at+uint32(pathEnd))
	if path == pathEnd {
		if c.want&Href != 0 {
			return false
		}
		r.Path = scan.RootPath
	}
	c.pos.Flags[c.row(i)] = flag
	r.Href = span(at, at+uint32(len(in)))
	r.Scheme = span(at, at+uint32(host-len("://")))
	r.Host = span(at+uint32(host), at+uint32(hostEnd))
	r.Origin = span(at, at+uint32(hostEnd))
	r.Query = span(at+uint32(query), at+uint32(hash))
	r.Fragment = span(at+uint32(fragment), at+uint32(len(in)))
	r.Domain, r.Suffix = r.Host.End, at+uint32(last)
	return true
}

// endOfPath returns where the path ends that begins with the slash at i, and false when it is not clean.
func endOfPath(in []byte, i int) (int, bool) {
	for ; i < len(in); i++ {
		c := in[i]
		class := scan.Classes[c]
		if class&(scan.Mark|scan.Dirty|scan.Slash) == 0 {
			continue
		}
		switch {
		case class&scan.Slash != 0:
			if i+1 < len(in) && scan.Classes[in[i+1]]&(scan.Dot|scan.Escape) != 0 {
				if _, dots := dotSegment(in[i+1:]); dots > 0 {
					return i, false
				}
			}
		case class&scan.Mark != 0:
			return i, true
		case changes[c]&inPath != 0:
			return i, false
		}
	}
	return i, true
}
