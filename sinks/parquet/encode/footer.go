package encode

import "encoding/binary"

const magic = "PAR1"

// chunk is what the footer says of a column chunk. Positions are those in the file, bounds are in Writer.bounds. It has no
// pointers: a file may have many thousands, which the garbage collector then need not look at.
type chunk struct {
	start, data  int64
	size         int64
	uncompressed int64
	values       int64
	nulls        int64
	dictionary   bool
	used         uint16
	perEncoding  [9]int32

	lo, hi           slice
	exactLo, exactHi bool
	bounded          bool

	bloom     int64
	bloomSize int32

	columnIndex, offsetIndex slice // in those of the Writer
}

// rowGroup is what the footer says of a row group, whose chunks follow each other in Writer.chunks.
type rowGroup struct {
	rows   int64
	start  int64
	sorted bool
}

// KeyValue is an entry of the metadata of a file.
type KeyValue struct{ Key, Value string }

// footer appends the footer, with its length and the magic. Page indices begin at the position index.
func (w *Writer) footer(dst []byte, index int64, kvs []KeyValue) []byte {
	t := &w.thrift
	start := len(dst)
	t.reset(dst)
	t.element()
	t.i32(1, 2) // version
	t.list(2, compactStruct, w.elements)
	t.buf = append(t.buf, w.schema...)
	rows := int64(0)
	for i := range w.groups {
		rows += w.groups[i].rows
	}
	t.i64(3, rows)
	t.list(4, compactStruct, len(w.groups))
	for i := range w.groups {
		w.appendRowGroup(t, i, index)
	}
	t.list(5, compactStruct, len(kvs))
	for _, kv := range kvs {
		t.element()
		t.string(1, kv.Key)
		t.string(2, kv.Value)
		t.end()
	}
	t.string(6, w.opts.CreatedBy)
	t.list(7, compactStruct, len(w.leaves))
	for range w.leaves { // every column is in the order of its type
		t.element()
		t.empty(1)
		t.end()
	}
	t.end()
	t.buf = binary.LittleEndian.AppendUint32(t.buf, uint32(len(t.buf)-start))
	return append(t.buf, magic...)
}

func (w *Writer) appendRowGroup(t *thrift, i int, index int64) {
	g := &w.groups[i]
	chunks := w.chunks[i*len(w.leaves) : (i+1)*len(w.leaves)]
	var size, uncompressed int64
	t.element()
	t.list(1, compactStruct, len(chunks))
	for j := range chunks {
		size += chunks[j].size
		uncompressed += chunks[j].uncompressed
		w.appendChunk(t, w.leaves[j], &chunks[j], index)
	}
	t.i64(2, uncompressed)
	t.i64(3, g.rows)
	by := w.sortedBy
	if g.sorted {
		by = []int32{int32(w.sorted)}
	}
	if len(by) > 0 {
		t.list(4, compactStruct, len(by))
		for _, leaf := range by {
			t.element()
			t.i32(1, leaf)
			t.bool(2, false)
			t.bool(3, false)
			t.end()
		}
	}
	t.i64(5, g.start)
	t.i64(6, size)
	if i < 1<<15 { // the number of the row group, optional, which the format has 16 bits for
		t.i16(7, int16(i))
	}
	t.end()
}

func (w *Writer) appendChunk(t *thrift, l *leaf, c *chunk, index int64) {
	t.element()
	t.i64(2, 0) // deprecated: the position of metadata that is here
	t.begin(3)
	w.appendColumn(t, l, c)
	t.end()
	t.i64(4, index+int64(len(w.columnIndex))+int64(c.offsetIndex.start))
	t.i32(5, c.offsetIndex.end-c.offsetIndex.start)
	if n := c.columnIndex.end - c.columnIndex.start; n > 0 {
		t.i64(6, index+int64(c.columnIndex.start))
		t.i32(7, n)
	}
	t.end()
}

func (w *Writer) appendColumn(t *thrift, l *leaf, c *chunk) {
	used := c.used
	if c.dictionary {
		used |= 1 << encPlain // that of the dictionary page
	}
	if l.maxDef > 0 || l.maxRep > 0 {
		used |= 1 << encRLE // that of the levels
	}
	n := 0
	for e := range 9 {
		n += int(used >> e & 1)
	}
	t.i32(1, l.physical)
	t.list(2, compactI32, n)
	for e := range 9 {
		if used>>e&1 != 0 {
			t.varint(int64(e))
		}
	}
	t.list(3, compactBinary, len(l.names))
	for _, name := range l.names {
		t.rawString(name)
	}
	t.i32(4, int32(w.opts.Codec))
	t.i64(5, c.values)
	t.i64(6, c.uncompressed)
	t.i64(7, c.size)
	t.i64(9, c.data)
	if c.dictionary {
		t.i64(11, c.start)
	}
	t.begin(12)
	w.appendStatistics(t, c)
	t.end()
	w.appendEncodings(t, c)
	if c.bloomSize > 0 {
		t.i64(14, c.bloom)
		t.i32(15, c.bloomSize)
	}
}

func (w *Writer) appendStatistics(t *thrift, c *chunk) {
	t.i64(3, c.nulls)
	if !c.bounded {
		return
	}
	t.bytes(5, w.bounds[c.hi.start:c.hi.end])
	t.bytes(6, w.bounds[c.lo.start:c.lo.end])
	t.bool(7, c.exactHi)
	t.bool(8, c.exactLo)
}

// appendEncodings says how many pages have which encoding.
func (w *Writer) appendEncodings(t *thrift, c *chunk) {
	n := 0
	for _, pages := range c.perEncoding {
		if pages > 0 {
			n++
		}
	}
	if c.dictionary {
		n++
	}
	stat := func(typ, enc, count int32) {
		t.element()
		t.i32(1, typ)
		t.i32(2, enc)
		t.i32(3, count)
		t.end()
	}
	t.list(13, compactStruct, n)
	if c.dictionary {
		stat(dictionaryPage, encPlain, 1)
	}
	typ := int32(dataPage)
	if w.opts.V2 {
		typ = dataPageV2
	}
	for e, pages := range c.perEncoding {
		if pages > 0 {
			stat(typ, int32(e), pages)
		}
	}
}
