package columns

import (
	"encoding/binary"
	"math/bits"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// suffixFilter tells most hosts whose public suffix is their last label by the last two labels. It errs in one
// direction only: hosts that it calls irregular are looked up in the list.
//
// It is a Bloom filter with two bits in one word. 16 KiB hold the 7,000 ends of the list so thinly that one regular
// host in a hundred is looked up for nothing.
type suffixFilter struct {
	list  *psl.List // that it was made of
	pairs [1 << filterBits]uint64
	wild  [64]uint64 // last labels below which everything is irregular
}

const filterBits = 11

// build makes the filter of a list, unless it is that already.
func (f *suffixFilter) build(list *psl.List) {
	if f.list == list {
		return
	}
	*f = suffixFilter{list: list}
	list.Irregular(func(label, tld string) {
		if label == "" {
			h := hashLabel(tail(tld), len(tld))
			f.wild[h>>58] |= 1 << (h >> 52 & 63)
			return
		}
		h := hashPair(tail(label), len(label), tail(tld), len(tld))
		f.pairs[h>>(64-filterBits)] |= pairBits(h)
	})
}

// irregular reports whether the public suffix of a host with these last labels may be longer than the last one. The
// labels are given as their last eight bytes and their lengths.
func (f *suffixFilter) irregular(label uint64, labelSize int, tld uint64, tldSize int) bool {
	h := hashPair(label, labelSize, tld, tldSize)
	want := pairBits(h)
	w := hashLabel(tld, tldSize)
	return f.pairs[h>>(64-filterBits)]&want == want || f.wild[w>>58]>>(w>>52&63)&1 != 0
}

// pairBits are the two bits of a hash in its word.
func pairBits(h uint64) uint64 { return 1<<(h>>40&63) | 1<<(h>>34&63) }

func hashPair(label uint64, labelSize int, tld uint64, tldSize int) uint64 {
	return (hashLabel(tld, tldSize) ^ bits.RotateLeft64(label, 7)) * 0xD6E8FEB86659FD93 * uint64(2*labelSize+1)
}

func hashLabel(label uint64, size int) uint64 { return (label + uint64(size)) * 0x9E3779B97F4A7C15 }

// tail returns the last eight bytes of a label, the last of them highest; a shorter one is filled up with zeros
// in front.
func tail(label string) uint64 {
	var b [8]byte
	n := min(len(label), 8)
	copy(b[8-n:], label[len(label)-n:])
	return binary.LittleEndian.Uint64(b[:])
}

// tailBefore returns the [tail] of the label of a given size that ends before end, where eight bytes must be.
func tailBefore(text []byte, end, size int) uint64 {
	drop := uint(8*(8-min(size, 8))) & 63
	return binary.LittleEndian.Uint64(text[end-8:]) >> drop << drop
}

// domainsMapped finds the public suffixes and registrable domains of a stretch, text, that begins at start and of
// which there are bitmaps.
func (c *Columns) domainsMapped(data, text []byte, start int) {
	parts, flags := c.pos.Parts, c.pos.Flags[c.first:]
	dotMap := c.maps.Dot
	for i := range parts {
		r := &parts[i]
		if flags[i]&HasSuffix == 0 {
			continue
		}
		host, end := int(r.Host.Start)-start, int(r.Host.End)-start
		if r.Host.Start&scan.Side != 0 || text[host] == '.' {
			c.lookup(data, r, &flags[i])
			continue
		}
		size := end - host
		dots := dotsBefore(dotMap, end) | 1<<(63-uint(size)&63)
		tldSize := bits.LeadingZeros64(dots)
		if tldSize == size {
			continue // a single label is a suffix of its own
		}
		labelSize := bits.LeadingZeros64(dots << (uint(tldSize+1) & 63))
		labelEnd := end - tldSize - 1
		if labelSize == 0 || c.filter.irregular(
			tailBefore(text, labelEnd, labelSize), labelSize, tailBefore(text, end, tldSize), tldSize) {
			c.lookup(data, r, &flags[i])
			continue
		}
		flags[i] |= HasDomain
		r.Domain = uint32(start + labelEnd - labelSize)
	}
}

// domains is domainsMapped without bitmaps.
func (c *Columns) domains(data []byte) {
	flags := c.pos.Flags[c.first:]
	for i := range c.pos.Parts {
		if flags[i]&HasSuffix != 0 {
			c.lookup(data, &c.pos.Parts[i], &flags[i])
		}
	}
}

// lookup asks the list for the suffix and the domain of a row.
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
