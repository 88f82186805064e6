package columns

import (
	"encoding/binary"
	"math/bits"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// maxHost is the longest host that the fast path takes: what a window over a bitmap shows, with room for the dot
// that is put in front of it.
const maxHost = 55

// The first eight bytes of a URL as a number, the first of them lowest; httpWord leaves the eighth out.
var (
	httpsWord = binary.LittleEndian.Uint64([]byte("https://"))
	httpWord  = binary.LittleEndian.Uint64([]byte("\x00http://"))
)

// cursor goes over the set bits of a bitmap in ascending order.
type cursor struct {
	bitmap []byte
	word   uint64 // what is left of the word at bit base
	base   int
	at     int // the bit that the cursor is on
}

func newCursor(bitmap []byte) cursor {
	c := cursor{bitmap: bitmap, word: binary.LittleEndian.Uint64(bitmap)}
	c.settle()
	return c
}

// settle puts the cursor on the lowest bit of the word, or of the next one that has any. There is always one, behind
// the text.
func (c *cursor) settle() {
	for c.word == 0 {
		c.base += 64
		c.word = binary.LittleEndian.Uint64(c.bitmap[c.base/8:])
	}
	c.at = c.base + bits.TrailingZeros64(c.word)
}

// seek goes on to the first bit at or behind i, which is at most the length of the text.
func (c *cursor) seek(i int) {
	for c.at < i {
		c.next()
	}
}

func (c *cursor) next() {
	c.word &= c.word - 1
	c.settle()
}

// locateMapped finds the parts of the URLs that end at ends, the first of which begins at start, by bitmaps of their
// text. It writes a row at once when it knows that the row is clean; all others go to [Columns.fix].
//
// The function is long because everything in it belongs to one loop whose state has to stay in registers.
func (c *Columns) locateMapped(data []byte, start int, ends []int32) {
	text := data[start:ends[len(ends)-1]]
	maps := &c.maps
	maps.Classify(text, c.want&Params != 0)
	marks, dirt := newCursor(maps.Mark), newCursor(maps.Dirty)
	parts, flags := c.pos.addRows(len(ends))
	end := 0
	for i := range parts {
		s := end
		end = int(ends[i]) - start
		if c.baseEnds != nil && !c.setBase(i) {
			continue
		}
		if end-s < len("http://h") {
			c.fix(text[s:end], i)
			continue
		}
		word := binary.LittleEndian.Uint64(text[s:])
		secure := ifTrue(word == httpsWord)
		if secure|ifTrue(word<<8 == httpWord) == 0 {
			c.fix(text[s:end], i)
			continue
		}
		host := s + len("http://") + secure
		hostEnd := min(host+bits.TrailingZeros64(scan.Window(maps.Stop, host)), end)
		size := hostEnd - host
		// Beside the dots there is a bit for the slash in front of the host.
		dots := dotsBefore(maps.Dot, hostEnd) | 1<<(63-uint(size)&63)
		last := hostEnd - bits.LeadingZeros64(dots)
		if uint(size-1) >= maxHost || last == hostEnd || text[last]-'0' <= 9 {
			c.fix(text[s:end], i)
			continue
		}
		pathEnd, query, fragment := end, end, end
		flag := IsURL | HasHost | HasOrigin | HasSuffix
		if marks.seek(hostEnd); marks.at < end {
			pathEnd, query = marks.at, marks.at
			if text[query] == '?' {
				flag |= HasQuery
				query++
				for marks.next(); marks.at < end && text[marks.at] != '#'; marks.next() {
				}
			}
			if marks.at < end {
				fragment = marks.at
				flag |= HasFragment
			}
		}
		if dirt.seek(hostEnd); dirt.at < end && !harmless(&dirt, text, pathEnd, fragment, end) {
			c.fix(text[s:end], i)
			continue
		}
		r := &parts[i]
		path := pair(hostEnd, pathEnd)
		if path == pair(hostEnd, hostEnd) || text[hostEnd] != '/' {
			if hostEnd != pathEnd || c.want&Href != 0 {
				c.fix(text[s:end], i)
				continue
			}
			r.Path = rootPath
		} else {
			set(&r.Path, c.shift+path)
		}
		flags[i] = flag
		set(&r.Href, c.shift+pair(s, end))
		set(&r.Scheme, c.shift+pair(s, s+len("http")+secure))
		set(&r.Host, c.shift+pair(host, hostEnd))
		set(&r.Origin, c.shift+pair(s, hostEnd))
		set(&r.Query, c.shift+pair(query, fragment))
		set(&r.Fragment, c.shift+pair(min(fragment+1, end), end))
		r.Domain, r.Suffix = uint32(start+hostEnd), uint32(start+last)
	}
}

// ifTrue returns 1 for true, without a branch.
func ifTrue(b bool) int {
	n := 0
	if b {
		n = 1
	}
	return n
}

// pair is a span as one number, so that it is moved and stored at once.
func pair(start, end int) uint64 { return uint64(start) | uint64(end)<<32 }

// set sets a span to a [pair].
func set(s *Span, v uint64) { s.Start, s.End = uint32(v), uint32(v>>32) }

// dotsBefore returns the bits of the dots before position end, the nearest one highest. At least 57 positions are
// there; below them are zeros.
func dotsBefore(dots []byte, end int) uint64 {
	i := uint(end + 8*scan.Lead - 57)
	return binary.LittleEndian.Uint64(dots[i>>3:]) >> (i & 7) << 7
}

// harmless looks at the bytes of class Dirty, and the possible beginnings of dot segments, of one URL, the first of
// which dirt is on. It tells whether all of them are part of the normal form: where they stand they neither have to
// be percent-encoded nor make a dot segment.
func harmless(dirt *cursor, text []byte, pathEnd, fragment, end int) bool {
	for ; dirt.at < end; dirt.next() {
		in := inFragment
		switch {
		case dirt.at < pathEnd:
			in = inPath
		case dirt.at < fragment:
			in = inQuery
		}
		if c := text[dirt.at]; changes[c]&in != 0 {
			return false
		}
		if in == inPath && dotSegment(text[dirt.at:pathEnd]) > 0 {
			return false
		}
	}
	return true
}
