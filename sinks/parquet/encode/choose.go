package encode

import (
	"github.com/apache/arrow/go/v15/arrow"
)

const (
	// sampleValues bounds the values that are looked at to choose an encoding.
	sampleValues = 4096
	// maxDictionary bounds the bytes of a dictionary's values. Readers have it in memory.
	maxDictionary = 1 << 20
	// sharedPays is the denominator of the least share of the bytes of texts that has to be saved, a fifth, for prefixes
	// shared with the text before to be left out: that costs the time of readers, too.
	sharedPays = 5
	// maxDistinct bounds the number of values in a dictionary.
	maxDistinct = 1 << 17
)

// decide chooses the encoding of a row group from the values of its first page that has any. It is decided once: a column
// whose character changes within a row group keeps the choice, but for a dictionary, which is given up page by page.
func (l *leaf) decide(s *scratch) {
	g := &l.group
	g.decided = true
	n := min(l.count(), sampleValues)
	if l.source == sourceBits {
		g.encoding = encPlain
		return
	}
	plain, best := l.plainCost(n, s)
	g.plain = plain // where pages go once the dictionary does not pay any more
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

// plainCost returns the better of the encodings without a dictionary for the first n values, and the bits that it takes
// before compression. Lengths of texts are taken to be 6 bits each when they are delta encoded, and 32 in PLAIN.
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

// sampleDistinct reports whether the first n values repeat enough to take less than limit bits with a dictionary. If so,
// the dictionary keeps the values: the page that is encoded next begins with them, and finds them with their numbers. If
// not, it is empty again.
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
	// It has to save a quarter: the values of a dictionary are compressed as well as others are, but indices hardly.
	pays := 4*cost < 3*limit && len(d.data) <= maxDictionary
	if !pays {
		d.release()
	}
	return pays
}

// dictionaryPays reports whether to go on with the dictionary after a page for which it grew from the size before. What it
// cost so far is spent either way, so only this page counts: what it added, and its indices, against its values plain.
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

// intern sets s.ids to the indices of the values of the open page, and adds those that are new to the dictionary.
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

// constant reports whether all texts of the open page are the same.
func (l *leaf) constant() bool {
	first := l.lens[0]
	for _, k := range l.lens {
		if k != first {
			return false
		}
	}
	// All have the same length, so they are equal if the texts are those before them: one comparison for the page.
	return string(l.data[first:]) == string(l.data[:len(l.data)-int(first)])
}
