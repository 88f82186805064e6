package encode

import (
	"github.com/apache/arrow/go/v15/arrow"
)

const (
	// sampleValues bounds the values that are looked at to choose an encoding.
	sampleValues = 4096
	// maxDictionary bounds the bytes of a dictionary's values. Readers have it in memory.
	maxDictionary = 1 << 20
	// sharedPays is the least part of the bytes of texts, as one of so many, that has to be saved by leaving out what
	// they begin with as those before them: it costs time, that of readers, too.
	sharedPays = 5
	// maxDistinct bounds its values.
	maxDistinct = 1 << 17
)

// decide chooses the encoding of a row group from the values of its first page.
func (l *leaf) decide(s *scratch) {
	g := &l.group
	g.decided = true
	n := min(l.count(), sampleValues)
	if l.source == sourceBits {
		g.encoding = encPlain
		return
	}
	plain, best := l.plainCost(n, s)
	g.plain = plain
	if l.sampleDistinct(n, best) {
		g.encoding = encDictionary
		return
	}
	g.encoding = plain
}

// plainest returns the encoding without a dictionary for the values of the open page.
func (l *leaf) plainest() int {
	switch {
	case l.opts.Plain || l.order == float || l.physical == typeFixed:
		return encPlain
	case l.physical == typeInt64 && l.maxDef > 0:
		// arrow v15 panics on differences of 64 bits, where there may be nulls, when a batch ends within a page.
		return encPlain
	case l.source == sourceBytes:
		return encDeltaLength
	}
	return encDelta
}

// plainCost returns the better of the encodings without a dictionary for the first n values, and the bits that it takes.
func (l *leaf) plainCost(n int, s *scratch) (enc, cost int) {
	enc = l.plainest()
	switch {
	case l.source == sourceBytes:
		size := 0
		for _, k := range l.lens[:n] {
			size += int(k)
		}
		if enc == encPlain {
			return enc, 8*size + 32*n
		}
		if shared := sharedBytes(l.data, l.lens[:n]); sharedPays*shared >= size && shared >= n {
			enc = encDeltaBytes
		}
		// A dictionary is not measured against what texts share: it gets better with every row.
		return enc, 8*size + 6*n
	case enc == encPlain:
		return enc, 8 * l.width * n
	}
	if l.physical == typeInt32 {
		s.packed = appendDelta(s.packed[:0], arrow.Int32Traits.CastFromBytes(l.data)[:n])
	} else {
		s.packed = appendDelta(s.packed[:0], arrow.Int64Traits.CastFromBytes(l.data)[:n])
	}
	if len(s.packed) >= l.width*n {
		return encPlain, 8 * l.width * n
	}
	return enc, 8 * len(s.packed)
}

// sampleDistinct tells whether the first n values repeat enough to take less than limit bits with a dictionary. The
// dictionary keeps what was looked at.
func (l *leaf) sampleDistinct(n, limit int) bool {
	d := &l.group.dict
	at := 0
	for i := range n {
		size := l.width
		if l.source == sourceBytes {
			size = int(l.lens[i])
		}
		d.id(l.data[at : at+size])
		at += size
		// Give up early on a column like an identifier or a full URL.
		if i == 511 && d.len() > 460 {
			d.release()
			return false
		}
	}
	cost := 8*(len(d.data)+4*d.len()) + n*int(indexWidth(d.len()))
	// The values of a dictionary are compressed as well as others are, but indices hardly.
	pays := 4*cost < 3*limit && len(d.data) <= maxDictionary
	if !pays {
		d.release()
	}
	return pays
}

// dictionaryPays tells whether to go on with the dictionary after a page, for whose values it had to grow from before.
func (l *leaf) dictionaryPays(before interned) bool {
	now := l.group.dict.size()
	if now.bytes > maxDictionary || now.values > maxDistinct {
		return false
	}
	plain := 8 * len(l.data)
	if l.source == sourceBytes {
		plain += 6 * len(l.lens)
	}
	cost := 8*(now.bytes-before.bytes+4*(now.values-before.values)) + l.count()*int(indexWidth(now.values))
	return cost < plain
}

// intern turns the values of the open page into indices.
func (l *leaf) intern(s *scratch) {
	d := &l.group.dict
	n := l.count()
	s.ids = uint32Pool.grow(s.ids[:0], n)
	if l.source != sourceBytes {
		for at := 0; at < len(l.data); at += l.width {
			s.ids = append(s.ids, d.id(l.data[at:at+l.width]))
		}
		return
	}
	if l.constant() {
		id := d.id(l.data[:l.lens[0]])
		for range n {
			s.ids = append(s.ids, id)
		}
		return
	}
	s.ids = d.appendIDs(s.ids, l.data, l.lens)
}

// constant tells whether all texts of the open page are the same.
func (l *leaf) constant() bool {
	first := l.lens[0]
	for _, k := range l.lens {
		if k != first {
			return false
		}
	}
	return string(l.data[first:]) == string(l.data[:len(l.data)-int(first)])
}
