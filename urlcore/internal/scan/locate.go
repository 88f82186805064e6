package scan

import (
	"encoding/binary"
	"math/bits"
)

// maxHost is the longest host that is not declined: what a window over a bitmap shows, with room for the bit that
// is put in front of it.
const maxHost = 55

// The first eight bytes of a URL as a number, the first of them lowest; the first byte of httpWord does not count.
var (
	httpsWord = binary.LittleEndian.Uint64([]byte("https://"))
	httpWord  = binary.LittleEndian.Uint64([]byte("\x00http://"))
)

// Rows is a stretch of URLs and what is to be found out about them.
type Rows struct {
	// Text holds the URLs back to back and Maps its bitmaps; URL i ends at Ends[i]-Start.
	Text  []byte
	Maps  *Bitmaps
	Ends  []int32
	Start int
	// Suffixes is the filter for public suffixes; nil leaves them, and domains, alone.
	Suffixes *SuffixFilter
	// WithPath declines URLs that are written without a path.
	WithPath bool

	// Parts and Flags have an entry for every row; those of declined rows are undefined afterwards.
	Parts []Parts
	Flags []Flags
	// Declined gets the rows that are not absolute http or https URLs in their normal form, or for which that is
	// not easily told: their complement where that is for a byte of class Dirty, which may be harmless. Irregular gets
	// those others for which Suffixes says so; their Suffix is the last label and their domain the last two, which is
	// not so. Both need room for all rows.
	Declined, Irregular []int32

	hashes []uint64 // scratch of the kernels
}

// Locate finds the parts of the rows.
func (r *Rows) Locate() {
	n := len(r.Ends)
	r.Declined, r.Irregular = r.Declined[:0], r.Irregular[:0]
	if n == 0 {
		return
	}
	// The kernels check nothing.
	_, _, _, _ = r.Parts[n-1], r.Flags[n-1], r.Declined[:n], r.Irregular[:n]
	_ = r.Text[:int(r.Ends[n-1])-r.Start]
	locate(r)
	r.resolve()
}

// resolve takes the rows off Irregular whose last two labels are their public suffix.
func (r *Rows) resolve() {
	left := r.Irregular[:0]
	for _, i := range r.Irregular {
		if !r.resolveRow(&r.Parts[i], &r.Flags[i]) {
			left = append(left, i)
		}
	}
	r.Irregular = left
}

// resolveRow sets suffix and domain of an irregular row if the suffix is two labels, and else returns false.
func (r *Rows) resolveRow(p *Parts, flags *Flags) bool {
	host, hostEnd := int(p.Host.Start)-r.Start, int(p.Host.End)-r.Start
	dots := dotsBefore(r.Maps.Dot, hostEnd) | 1<<(63-(hostEnd-host))
	tld := hostEnd - bits.LeadingZeros64(dots)
	dots <<= hostEnd - tld + 1
	label := tld - 1 - bits.LeadingZeros64(dots)
	dots <<= tld - label
	third := label // there is none
	if label > host {
		third = label - 1 - bits.LeadingZeros64(dots)
	}
	if r.Text[host] == '.' || !r.Suffixes.EndsInTwo(r.Text, third, label, tld, hostEnd) {
		return false
	}
	domain, has := hostEnd, Flags(0)
	if label > host {
		domain, has = third, HasDomain
	}
	p.Suffix, p.Domain = uint32(r.Start+label), uint32(r.Start+domain)
	*flags = *flags&^HasDomain | has
	return true
}

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

// locateGeneric is the reference of the kernel of this name. It writes a row when it knows that the row is clean.
func locateGeneric(r *Rows) {
	marks, dirt := newCursor(r.Maps.Mark), newCursor(r.Maps.Dirty)
	end := 0
	for i, e := range r.Ends {
		start := end
		end = int(e) - r.Start
		switch clean, dirty := r.locateRow(&marks, &dirt, start, end, i); {
		case dirty:
			r.Declined = append(r.Declined, ^int32(i))
		case !clean:
			r.Declined = append(r.Declined, int32(i))
		}
	}
}

// locateRow finds the parts of the row Text[start:end]. dirty tells that it was declined for a byte of class Dirty.
func (r *Rows) locateRow(marks, dirt *cursor, start, end, i int) (clean, dirty bool) {
	text := r.Text
	if end-start < len("http://h") {
		return false, false
	}
	word := binary.LittleEndian.Uint64(text[start:])
	host := start + len("http://")
	if word == httpsWord {
		host++
	} else if word<<8 != httpWord {
		return false, false
	}
	hostEnd := min(host+bits.TrailingZeros64(Window(r.Maps.Stop, host)), end)
	size := hostEnd - host
	if size == 0 || size > maxHost {
		return false, false
	}
	// Beside the dots there is a bit for the slash in front of the host.
	dots := dotsBefore(r.Maps.Dot, hostEnd) | 1<<(63-size)
	tld := bits.LeadingZeros64(dots)
	if tld == 0 || text[hostEnd-tld]-'0' <= 9 {
		return false, false // a dot at the end, or a number: an IPv4 address
	}
	p := Parts{Href: Span{uint32(start), uint32(end)}}
	flags := IsURL | HasHost | HasOrigin | HasSuffix
	marks.seek(hostEnd)
	pathEnd := min(marks.at, end)
	flags |= p.splitTail(text[:end], marks)
	for dirt.seek(hostEnd); dirt.at < end; dirt.next() {
		if !isEscape(text[dirt.at:end]) {
			return false, true
		}
	}
	p.Path = Span{uint32(hostEnd), uint32(pathEnd)}
	if hostEnd == pathEnd {
		if r.WithPath {
			return false, false
		}
	} else if text[hostEnd] != '/' {
		return false, false
	}
	p.Scheme, p.Origin = Span{uint32(start), uint32(host - len("://"))}, Span{uint32(start), uint32(hostEnd)}
	p.Host = Span{uint32(host), uint32(hostEnd)}
	p.Suffix, p.Domain = uint32(hostEnd-tld), uint32(hostEnd)
	if r.Suffixes != nil && tld < size {
		label := bits.LeadingZeros64(dots << (tld + 1))
		labelEnd := hostEnd - tld - 1
		p.Domain = uint32(labelEnd - label)
		flags |= HasDomain
		if label == 0 || text[host] == '.' ||
			r.Suffixes.irregular(tailBefore(text, labelEnd, label), label, tailBefore(text, hostEnd, tld), tld) {
			r.Irregular = append(r.Irregular, int32(i))
		}
	}
	p.move(uint32(r.Start))
	if hostEnd == pathEnd {
		p.Path = RootPath
	}
	r.Parts[i], r.Flags[i] = p, flags
	return true, false
}

// splitTail sets query and fragment of a row that ends with the text. marks are on the first one behind the host.
func (p *Parts) splitTail(text []byte, marks *cursor) (flags Flags) {
	end := len(text)
	query, fragment := end, end
	p.Fragment = Span{uint32(end), uint32(end)}
	if marks.at < end {
		query = marks.at
		if text[query] == '?' {
			flags |= HasQuery
			query++
			for marks.next(); marks.at < end && text[marks.at] != '#'; marks.next() {
			}
		}
		if marks.at < end {
			flags |= HasFragment
			fragment = marks.at
			p.Fragment.Start = uint32(fragment + 1)
		}
	}
	p.Query = Span{uint32(query), uint32(fragment)}
	return flags
}

// move adds n to every position.
func (p *Parts) move(n uint32) {
	for _, s := range [...]*Span{&p.Href, &p.Scheme, &p.Host, &p.Origin, &p.Path, &p.Query, &p.Fragment} {
		s.Start += n
		s.End += n
	}
	p.Domain += n
	p.Suffix += n
}

// isEscape reports whether s begins with a plus or percent sign that is not that of %2e, a dot. A percent sign is
// of class Dirty only behind a slash, where a segment begins.
func isEscape(s []byte) bool {
	return s[0] == '+' || s[0] == '%' && (len(s) < 3 || s[1] != '2' || s[2]|0x20 != 'e')
}

// dotsBefore returns the bits of the dots before position end, the nearest one highest. At least 57 positions are
// there; below them are zeros.
func dotsBefore(dots []byte, end int) uint64 {
	i := uint(end + 8*Lead - 57)
	return binary.LittleEndian.Uint64(dots[i>>3:]) >> (i & 7) << 7
}
