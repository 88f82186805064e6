package encode

import (
	"io"

	"github.com/cespare/xxhash/v2"
)

// group is what a leaf has of the open row group: pages that are done, and what is to be said of them.
//
// The dictionary page comes first in a chunk and can be written last, when all values are known. It has a rope of its own,
// so that positions of data pages count from the first of them.
type group struct {
	decided  bool
	encoding int
	plain    int // the best without a dictionary
	dict     interner

	data         rope // pages with their headers
	dictData     rope // the dictionary page
	uncompressed int64
	pages        []page
	entries      int64
	nulls        int64
	used         uint16   // encodings, as bits
	perEncoding  [9]int32 // data pages

	bounds    []byte // of all pages
	lo, hi    []byte // of the chunk
	hasBounds bool
	unbounded bool // a page has values and no bounds

	last     int64 // the last value of a column that may be sorted, valid if hasLast
	hasLast  bool
	unsorted bool

	hashes []uint64 // of the values that are not in the dictionary
	bloom  []byte
}

func (g *group) memory() int64 {
	return g.dict.memory() + g.data.held + g.dictData.held +
		int64(8*cap(g.hashes)+cap(g.bloom)+cap(g.bounds)+48*cap(g.pages)+cap(g.lo)+cap(g.hi))
}

// reset begins a new row group.
func (g *group) reset() {
	g.release()
	*g = group{
		dict: g.dict, data: g.data, dictData: g.dictData,
		pages: g.pages[:0], bounds: g.bounds[:0], lo: g.lo[:0], hi: g.hi[:0],
	}
}

// release gives back the memory that is not small. Counts and flags stay until reset.
func (g *group) release() {
	g.dict.release()
	g.data.release()
	g.dictData.release()
	uint64Pool.put(g.hashes)
	bytePool.put(g.bloom)
	g.hashes, g.bloom = nil, nil
	const small = 4 << 10
	if cap(g.bounds) > small {
		g.bounds = nil
	}
	if cap(g.lo) > small || cap(g.hi) > small {
		g.lo, g.hi = nil, nil
	}
}

// finishChunk encodes what is left of the row group: the last page, the dictionary, the bloom filter. Nothing is written to
// the file yet, so it can run for several leaves at a time.
func (l *leaf) finishChunk(s *scratch) error {
	g := &l.group
	if l.rows > 0 {
		if err := l.flushPage(s); err != nil {
			return err
		}
	}
	if n := g.dict.len(); n > 0 { // also if it was given up: the pages before have indices into it
		s.packed = g.dict.appendDictionary(s.packed[:0], l.width)
		parts := [1][]byte{s.packed}
		size := len(s.packed)
		if l.opts.Codec != None {
			if err := s.compress(parts[:]); err != nil {
				return err
			}
			parts[0] = s.out
		}
		h := s.header(dictionaryPage, size, parts[:])
		h.begin(7)
		h.i32(1, int32(n))
		h.i32(2, encPlain)
		h.end()
		h.end()
		g.uncompressed += g.dictData.putPage(h.buf, size, parts[:])
	}
	if l.bloom {
		l.makeBloom()
	}
	return nil
}

// makeBloom makes the filter of the chunk. Values that are there more than once, outside of a dictionary, make it larger
// than it had to be.
func (l *leaf) makeBloom() {
	g := &l.group
	n := bloomBytes(g.dict.len() + len(g.hashes))
	g.bloom = bytePool.get(n)[:n]
	clear(g.bloom)
	for _, h := range g.hashes {
		setBloom(g.bloom, h)
	}
	// Those of the dictionary once each, however often they are there. The format asks for XXH64, so hashes of the look-ups
	// are of no use here.
	for i := range g.dict.len() {
		setBloom(g.bloom, xxhash.Sum64(g.dict.value(i)))
	}
}

// writeChunk writes the chunk, gives the memory of its pages back, and returns what the footer says of it. pos is where it
// begins in the file; bounds are appended to a, which is Writer.bounds.
func (l *leaf) writeChunk(w io.Writer, pos int64, a *[]byte) (chunk, error) {
	g := &l.group
	c := chunk{
		start: pos, data: pos + g.dictData.size, size: g.dictData.size + g.data.size,
		uncompressed: g.uncompressed, values: g.entries, nulls: g.nulls,
		dictionary: g.dictData.size > 0, used: g.used, perEncoding: g.perEncoding,
	}
	if g.hasBounds && !g.unbounded {
		l.chunkBounds(&c, a)
	}
	if err := g.dictData.writeTo(w); err != nil {
		return c, err
	}
	return c, g.data.writeTo(w)
}

// chunkBounds sets the bounds of a chunk, unless there is no short upper one: then it has neither.
func (l *leaf) chunkBounds(c *chunk, a *[]byte) {
	g := &l.group
	start := len(*a)
	lo, exactLo := l.lower(g.lo, groupBound)
	*a = append(*a, lo...)
	middle := len(*a)
	hi, exactHi, ok := l.upper(*a, g.hi, groupBound)
	if !ok {
		*a = (*a)[:start]
		return
	}
	*a = hi
	c.lo, c.hi = slice{int32(start), int32(middle)}, slice{int32(middle), int32(len(*a))}
	c.exactLo, c.exactHi, c.bounded = exactLo, exactHi, true
}
