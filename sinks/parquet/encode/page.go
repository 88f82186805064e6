package encode

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/cespare/xxhash/v2"
)

// Encodings of the format (parquet.thrift, Encoding).
const (
	encPlain       = 0
	encRLE         = 3
	encDelta       = 5
	encDeltaLength = 6
	encDeltaBytes  = 7
	encDictionary  = 8
)

// Types of pages.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPageV2     = 3
)

// scratch is the memory that encoding a page needs. A goroutine has one for as long as it takes leaves ([work.run]), and
// nothing that outlives the page may alias it: flushPage copies what stays into the group.
type scratch struct {
	ids    []uint32
	seen   []uint64 // a bit for each value of the dictionary that the page has
	packed []byte   // encoded values
	shared []int32  // lengths of what texts begin with as those before them
	rest   []int32  // and of what follows
	tails  []byte   // what follows, back to back
	body   []byte   // a page before compression
	out    []byte   // and after
	thrift thrift
	codec  compressor // borrowed together with the scratch; nil without compression
}

var scratches sync.Pool

func getScratch() *scratch {
	if s, ok := scratches.Get().(*scratch); ok {
		return s
	}
	return new(scratch)
}

// maxScratch bounds the bytes of memory that a scratch keeps: what the page of one huge row needed must not stay for ever.
const maxScratch = 16 << 20

func putScratch(s *scratch) {
	if 4*(cap(s.ids)+cap(s.shared)+cap(s.rest))+cap(s.packed)+cap(s.tails)+cap(s.body)+cap(s.out) > maxScratch {
		*s = scratch{}
	}
	scratches.Put(s)
}

// page is what the page index says of a data page.
type page struct {
	offset   int64 // in the chunk, behind the dictionary
	size     int32 // with its header
	rows     int32
	nulls    int64
	lo, hi   slice // in group.bounds
	hasValue bool
	bounded  bool
}

// slice is a range of a buffer that still grows: a Go slice would go on pointing at memory that append has left.
type slice struct{ start, end int32 }

// flushPage encodes the open page and adds it to the chunk.
//
// The order matters. The encoding is decided before the first values are encoded, and encoding comes before the bounds,
// since those of a dictionary page are taken from its indices. Whether the dictionary pays can only be judged by what a page
// has added to it; the answer is for the pages that follow.
func (l *leaf) flushPage(s *scratch) error {
	g := &l.group
	n := l.count()
	if l.source == sourceBytes {
		l.data = bytePool.grow(l.data, slack) // hashing and comparing read beyond the last text
	}
	if n > 0 && !g.decided {
		l.decide(s)
	}
	p := page{offset: g.data.size, rows: int32(l.rows), nulls: int64(l.entries - n), hasValue: n > 0}
	enc, before := g.encoding, g.dict.size()
	var values [2][]byte
	if n == 0 { // only nulls and empty lists: there is nothing to decide by, and nothing to encode
		enc = encPlain
	} else {
		values = l.encodeValues(enc, s)
		l.pageBounds(&p, enc, s)
		l.hashValues(enc)
	}
	l.checkOrder()
	uncompressed, err := l.putPage(enc, p.nulls, values, s)
	if err != nil {
		return err
	}
	p.size = int32(g.data.size - p.offset)
	g.uncompressed += uncompressed
	g.pages = append(g.pages, p)
	g.entries += int64(l.entries)
	g.nulls += p.nulls
	g.used |= 1 << enc
	g.perEncoding[enc]++
	if enc == encDictionary && !l.dictionaryPays(before) {
		g.encoding = g.plain
	}
	l.resetPage()
	return nil
}

// encodeValues returns the encoded values of the open page in one or two parts. They alias s and l.data, and are valid until
// the page is reset or s encodes another. Two parts save the copy of texts that are written as they stand.
func (l *leaf) encodeValues(enc int, s *scratch) [2][]byte {
	s.packed = s.packed[:0]
	switch {
	case enc == encDictionary:
		l.intern(s)
		width := indexWidth(l.group.dict.len())
		s.packed = appendIndices(append(s.packed, byte(width)), s.ids, width)
	case enc == encDeltaLength:
		s.packed = appendDelta(s.packed, l.lens)
		return [2][]byte{s.packed, l.data}
	case enc == encDeltaBytes:
		l.splitTexts(s)
		s.packed = appendDelta(appendDelta(s.packed, s.shared), s.rest)
		return [2][]byte{s.packed, s.tails}
	case enc == encDelta && l.physical == typeInt32:
		s.packed = appendDelta(s.packed, arrow.Int32Traits.CastFromBytes(l.data))
	case enc == encDelta:
		s.packed = appendDelta(s.packed, arrow.Int64Traits.CastFromBytes(l.data))
	case l.source == sourceBytes:
		at := 0
		for _, n := range l.lens {
			s.packed = binary.LittleEndian.AppendUint32(s.packed, uint32(n))
			s.packed = append(s.packed, l.data[at:at+int(n)]...)
			at += int(n)
		}
	case l.source == sourceBits:
		for i, b := range l.data {
			if i%8 == 0 {
				s.packed = append(s.packed, 0)
			}
			s.packed[i/8] |= b << (i % 8)
		}
	default:
		return [2][]byte{l.data}
	}
	return [2][]byte{s.packed}
}

// putPage adds the open page to the chunk, with its encoded values, and returns its size with its header and without
// compression. In a page of version 1 the levels have their lengths before them, and everything is compressed together.
func (l *leaf) putPage(enc int, nulls int64, values [2][]byte, s *scratch) (int64, error) {
	var rep, def []byte
	if l.maxRep > 0 {
		rep = l.rep.finish()
	}
	if l.maxDef > 0 {
		def = l.def.finish()
	}
	if l.opts.V2 {
		return l.putV2(enc, nulls, rep, def, values, s)
	}
	var repSize, defSize [4]byte
	parts := [...][]byte{nil, rep, nil, def, values[0], values[1]}
	if l.maxRep > 0 {
		binary.LittleEndian.PutUint32(repSize[:], uint32(len(rep)))
		parts[0] = repSize[:]
	}
	if l.maxDef > 0 {
		binary.LittleEndian.PutUint32(defSize[:], uint32(len(def)))
		parts[2] = defSize[:]
	}
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if l.opts.Codec != None {
		if err := s.compress(parts[:]); err != nil {
			return 0, err
		}
		parts = [6][]byte{s.out} // version 1 cannot say that a page is not compressed
	}
	h := s.header(dataPage, size, parts[:])
	h.begin(5)
	h.i32(1, int32(l.entries))
	h.i32(2, int32(enc))
	h.i32(3, encRLE)
	h.i32(4, encRLE)
	h.end()
	h.end()
	return l.group.data.putPage(h.buf, size, parts[:]), nil
}

// putV2 does the same in version 2: the levels stand before the values and are never compressed, and values that do not get
// smaller are left as they are.
func (l *leaf) putV2(enc int, nulls int64, rep, def []byte, values [2][]byte, s *scratch) (int64, error) {
	size := len(rep) + len(def) + len(values[0]) + len(values[1])
	parts := [...][]byte{rep, def, values[0], values[1]}
	compressed := false
	if l.opts.Codec != None && len(values[0])+len(values[1]) > 0 {
		if err := s.compress(values[:]); err != nil {
			return 0, err
		}
		if compressed = len(s.out) < len(values[0])+len(values[1]); compressed {
			parts[2], parts[3] = s.out, nil
		}
	}
	h := s.header(dataPageV2, size, parts[:])
	h.begin(8)
	h.i32(1, int32(l.entries))
	h.i32(2, int32(nulls))
	h.i32(3, int32(l.rows))
	h.i32(4, int32(enc))
	h.i32(5, int32(len(def)))
	h.i32(6, int32(len(rep)))
	h.bool(7, compressed)
	h.end()
	h.end()
	return l.group.data.putPage(h.buf, size, parts[:]), nil
}

// compress sets out to the parts, compressed as one. It is valid until the next call.
func (s *scratch) compress(parts [][]byte) error {
	s.body = s.body[:0]
	for _, p := range parts {
		s.body = append(s.body, p...)
	}
	var err error
	s.out, err = s.codec.compress(s.out[:0], s.body)
	return err
}

// header begins the header of a page that consists of parts, as they are stored, and has the given size without compression.
// The caller adds the fields of its kind of page and ends the structure. The buffer is that of s, for one page at a time.
func (s *scratch) header(typ int32, size int, parts [][]byte) *thrift {
	crc, stored := uint32(0), 0
	for _, p := range parts {
		crc = crc32.Update(crc, crc32.IEEETable, p)
		stored += len(p)
	}
	t := &s.thrift
	t.reset(t.buf[:0])
	t.element()
	t.i32(1, typ)
	t.i32(2, int32(size))
	t.i32(3, int32(stored))
	t.i32(4, int32(crc))
	return t
}

// putPage adds a page and returns its size without compression.
func (r *rope) putPage(header []byte, size int, parts [][]byte) int64 {
	r.append(header)
	for _, p := range parts {
		r.append(p)
	}
	return int64(len(header) + size)
}

// pageBounds finds the bounds of the values of the open page, for the column index, and widens those of the chunk. All of
// them are copies: lo and hi alias values that the next page overwrites, and bounds that change after the fact make readers
// skip rows.
func (l *leaf) pageBounds(p *page, enc int, s *scratch) {
	g := &l.group
	var lo, hi []byte
	switch {
	case l.order == unordered:
	case enc == encDictionary:
		lo, hi = l.boundsOfIndices(s)
	case l.source == sourceBytes:
		lo, hi = boundsOfTexts(l.data, l.lens)
	case l.source == sourceBits:
		lo, hi = boundsOfBools(l.data)
	default:
		lo, hi = l.boundsOfFixed(l.data)
	}
	if lo == nil { // nothing but NaNs, which the bounds of other pages would not cover
		g.unbounded = true
		return
	}
	if !g.hasBounds {
		g.lo, g.hi, g.hasBounds = append(g.lo[:0], lo...), append(g.hi[:0], hi...), true
	} else {
		if l.compare(lo, g.lo) < 0 {
			g.lo = append(g.lo[:0], lo...)
		}
		if l.compare(hi, g.hi) > 0 {
			g.hi = append(g.hi[:0], hi...)
		}
	}
	start := int32(len(g.bounds))
	lower, _ := l.lower(lo, indexBound)
	g.bounds = append(g.bounds, lower...)
	middle := int32(len(g.bounds))
	upper, _, ok := l.upper(g.bounds, hi, indexBound)
	if !ok { // nothing that is short is above it, so the value itself is the bound
		upper = append(g.bounds[:middle], hi...)
	}
	g.bounds = upper
	p.lo, p.hi, p.bounded = slice{start, middle}, slice{middle, int32(len(g.bounds))}, true
}

var bools = []byte{0, 1}

func boundsOfBools(data []byte) (lo, hi []byte) {
	least, most := byte(1), byte(0)
	for _, b := range data {
		least, most = min(least, b), max(most, b)
	}
	return bools[least : least+1], bools[most : most+1]
}

// boundsOfIndices returns the bounds of a page by its indices: each value of the dictionary that the page has is looked at
// once, however often it is there. They alias the dictionary.
func (l *leaf) boundsOfIndices(s *scratch) (lo, hi []byte) {
	d := &l.group.dict
	words := (d.len() + 63) / 64
	s.seen = uint64Pool.grow(s.seen[:0], words)[:words]
	seen := s.seen
	clear(seen)
	if words == 1 {
		// In memory every bit would wait for the one before.
		all := uint64(0)
		for _, id := range s.ids {
			all |= 1 << (id % 64)
		}
		seen[0] = all
	} else {
		for _, id := range s.ids {
			seen[id/64] |= 1 << (id % 64)
		}
	}
	if l.source == sourceBytes {
		return d.boundsOfTexts(seen, int(s.ids[0]))
	}
	for i, word := range seen {
		for ; word != 0; word &= word - 1 {
			lo, hi = l.widen(lo, hi, d.value(64*i+bits.TrailingZeros64(word)))
		}
	}
	return lo, hi
}

// boundsOfTexts returns the least and the greatest of the texts whose bits are set. first is the number of any of them.
func (d *interner) boundsOfTexts(bitmap []uint64, first int) (lo, hi []byte) {
	var b bracket
	b.first(d.value(first))
	data := d.data[:len(d.data)+slack]
	for i, word := range bitmap {
		for ; word != 0; word &= word - 1 {
			id := 64*i + bits.TrailingZeros64(word)
			start, end := d.ends[id], d.ends[id+1]
			if !b.between(data[start:], uint(end-start)) {
				b.widen(data[start:end])
			}
		}
	}
	return b.lo, b.hi
}

// hashValues keeps the hashes of the values for the bloom filter, unless the dictionary has them.
func (l *leaf) hashValues(enc int) {
	if !l.bloom || enc == encDictionary {
		return
	}
	g := &l.group
	g.hashes = uint64Pool.grow(g.hashes, l.count())
	at := 0
	if l.source != sourceBytes {
		for ; at < len(l.data); at += l.width {
			g.hashes = append(g.hashes, xxhash.Sum64(l.data[at:at+l.width]))
		}
		return
	}
	for _, n := range l.lens {
		g.hashes = append(g.hashes, xxhash.Sum64(l.data[at:at+int(n)]))
		at += int(n)
	}
}

// checkOrder keeps track of whether the values of the row group rise, for a column that may be declared as sorted.
func (l *leaf) checkOrder() {
	g := &l.group
	if !l.sortable || g.unsorted {
		return
	}
	if l.physical == typeInt32 {
		g.unsorted = !rises(g, arrow.Int32Traits.CastFromBytes(l.data))
	} else {
		g.unsorted = !rises(g, arrow.Int64Traits.CastFromBytes(l.data))
	}
}

// rises reports whether no value is less than the one before it, across the end of the page before.
func rises[T integer](g *group, values []T) bool {
	if len(values) == 0 {
		return true
	}
	last := values[0]
	if g.hasLast {
		last = T(g.last)
	}
	for _, v := range values {
		if v < last {
			return false
		}
		last = v
	}
	g.last, g.hasLast = int64(last), true
	return true
}
