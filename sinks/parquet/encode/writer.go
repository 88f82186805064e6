package encode

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"sort"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// Options say how files are written.
type Options struct {
	Codec Codec
	// Level is that of the codec: 1 to 22 for Zstd, 1 to 9 for Gzip.
	Level int
	// PageBytes and PageRows bound a page before encoding.
	PageBytes, PageRows int
	// RowGroupBytes and RowGroupRows bound a row group before encoding.
	RowGroupBytes int64
	RowGroupRows  int
	// V2 selects data pages of version 2.
	V2 bool
	// Plain leaves out the delta encodings, for old readers.
	Plain bool
	// Bloom are the columns that get a bloom filter, by their dotted paths. Others than texts, bytes and numbers of 32
	// or 64 bits have none.
	Bloom []string
	// Sorted is a top-level column of integers without nulls. Row groups in which it rises are declared as sorted by it.
	Sorted string
	// SortedBy are top-level columns by which the rows of every row group are sorted, ascending, nulls last: the caller sees
	// to that. Sorted counts for nothing then.
	SortedBy []string
	// CreatedBy is the name and version of the program.
	CreatedBy string
}

// MaxRow bounds the bytes of a row in memory. Sizes of pages are 32-bit numbers with a sign, and a row is never divided.
const MaxRow = 1 << 30

// Writer writes one file. Rows are encoded as they come, page by page, and a row group goes out when it is full. It is
// used by one goroutine at a time, but not always the same; within a call it may encode its columns in several goroutines,
// all of which have ended when the call returns. After an error only Discard makes sense.
//
// Large memory is borrowed from the pools of the process while a row group is open. Between row groups a Writer holds what
// the footer will say, which Memory counts. It can write one file after another: Reset begins the next.
type Writer struct {
	opts     Options
	leaves   []*leaf
	tops     []int  // index of the record's column, by leaf
	schema   []byte // the elements of the footer's schema, in Thrift's form
	elements int
	sorted   int // the leaf that may be sorted, or -1
	sortedBy []int32
	work     work

	// Of the file.
	out    io.Writer
	pos    int64
	err    error
	groups []rowGroup
	chunks []chunk
	bounds []byte // of the chunks
	// Page indices of the chunks. All column indices stand before all offset indices, as parquet-go takes them.
	columnIndex, offsetIndex []byte
	thrift                   thrift

	// Of the open row group. bytes is the sum of what cost estimates.
	rows, bytes int64
	// Of those written, as bytes is.
	rawBytes int64
}

// New returns a writer for files of a schema. root is the same in Parquet's terms. It has to be Reset before use.
func New(s *arrow.Schema, root *schema.GroupNode, opts Options) (*Writer, error) {
	columns, elements, n, err := columnsOf(s, root)
	if err != nil {
		return nil, err
	}
	w := &Writer{opts: opts, schema: elements, elements: n, sorted: -1}
	for i, f := range s.Fields() {
		for range leafCount(f.Type) {
			w.tops = append(w.tops, i)
		}
	}
	for i, c := range columns {
		l := &leaf{column: c, opts: &w.opts, views: make([]view, len(c.path))}
		l.rep.width, l.def.width = levelWidth(c.maxRep), levelWidth(c.maxDef)
		l.bloom = slices.Contains(opts.Bloom, c.name) && c.physical != typeBoolean
		// Signed integers without nulls alone: checkOrder compares the values of a page as they stand.
		if c.name == opts.Sorted && len(opts.SortedBy) == 0 && c.maxDef == 0 && c.order == signed {
			w.sorted, l.sortable = i, true
		}
		l.resetPage()
		w.leaves = append(w.leaves, l)
	}
	for _, name := range opts.SortedBy {
		at := slices.IndexFunc(columns, func(c *column) bool { return c.name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no column %q that rows could be sorted by", name)
		}
		w.sortedBy = append(w.sortedBy, int32(at))
	}
	w.work.init(w)
	return w, nil
}

func leafCount(t arrow.DataType) int {
	switch t := t.(type) {
	case *arrow.StructType:
		n := 0
		for _, f := range t.Fields() {
			n += leafCount(f.Type)
		}
		return n
	case arrow.ListLikeType:
		return leafCount(t.Elem())
	}
	return 1
}

// Reset begins a file. What was not written of the one before is dropped.
func (w *Writer) Reset(out io.Writer) error {
	w.Discard()
	w.out = out
	return w.write([]byte(magic))
}

// Discard drops the file and gives the memory back.
func (w *Writer) Discard() {
	for _, l := range w.leaves {
		l.release()
		l.group.reset()
	}
	w.out, w.pos, w.err, w.rows, w.bytes, w.rawBytes = nil, 0, nil, 0, 0, 0
	w.groups, w.chunks, w.bounds = w.groups[:0], w.chunks[:0], w.bounds[:0]
	w.columnIndex, w.offsetIndex = w.columnIndex[:0], w.offsetIndex[:0]
}

func (w *Writer) write(p []byte) error {
	if w.err != nil {
		return w.err
	}
	n, err := w.out.Write(p)
	w.pos += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	w.err = err
	return err
}

// position is the writer's output as an [io.Writer] that counts the position in the file and keeps the first error.
type position struct{ w *Writer }

func (p position) Write(b []byte) (int, error) {
	if err := p.w.write(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Write adds the rows of a record, which is the caller's again when it returns: rows of open pages are copies, and the views
// into the record are dropped whether it fails or not. An error is kept, and every later call returns it.
func (w *Writer) Write(r arrow.Record) error {
	if w.err != nil {
		return w.err
	}
	for i, l := range w.leaves {
		l.attach(r.Column(w.tops[i]).Data())
	}
	err := w.add(int(r.NumRows()))
	for _, l := range w.leaves {
		l.detach()
	}
	if w.err == nil {
		w.err = err
	}
	return w.err
}

// add adds the first rows of the attached record, and flushes as often as a row group becomes full.
func (w *Writer) add(rows int) error {
	for from := 0; from < rows; {
		to := from + min(rows-from, w.opts.RowGroupRows-int(w.rows))
		size := w.cost(from, to)
		if room := w.opts.RowGroupBytes - w.bytes; size > room {
			to = from + sort.Search(to-from, func(n int) bool { return w.cost(from, from+n+1) > room })
			if to == from && w.rows > 0 {
				if err := w.Flush(); err != nil {
					return err
				}
				continue
			}
			to = max(to, from+1) // the row group is empty, and a row goes into it in any case
			size = w.cost(from, to)
		}
		if size > MaxRow && to-from == 1 {
			return fmt.Errorf("a row of %d bytes is too large for a Parquet page, the limit is %d: lower the source's limit for records", size, MaxRow)
		}
		if err := w.work.add(from, to); err != nil {
			return err
		}
		w.rows += int64(to - from)
		w.bytes += size
		from = to
		if w.rows >= int64(w.opts.RowGroupRows) {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// cost returns about the memory that rows of the attached record take.
func (w *Writer) cost(from, to int) int64 {
	n := int64(0)
	for _, l := range w.leaves {
		n += int64(l.cost(from, to))
	}
	return n
}

// Flush writes the open row group, if it has rows, and gives its memory back.
//
// Chunks are encoded side by side and written one after the other, in the order of the columns. Bloom filters follow all of
// them, so that the chunks of a row group are one piece of the file. Page indices are appended to what Close writes: they
// and the filters need the memory of the leaves, which is given back last.
func (w *Writer) Flush() error {
	if w.err != nil || w.rows == 0 {
		return w.err
	}
	if err := w.work.finish(); err != nil {
		w.err = err
		return err
	}
	g := rowGroup{rows: w.rows, start: w.pos, sorted: w.sorted >= 0 && !w.leaves[max(0, w.sorted)].group.unsorted}
	for _, l := range w.leaves {
		pos := w.pos
		c, err := l.writeChunk(position{w}, pos, &w.bounds)
		if err != nil {
			w.err = err
			return err
		}
		w.appendIndex(l, &c) // sets fields of c, and so comes before it is copied
		w.chunks = append(w.chunks, c)
	}
	chunks := w.chunks[len(w.chunks)-len(w.leaves):]
	for i, l := range w.leaves {
		if err := w.writeBloom(l, &chunks[i]); err != nil {
			return err
		}
		l.release()
		l.group.reset()
	}
	w.groups = append(w.groups, g)
	w.rawBytes += w.bytes
	w.rows, w.bytes = 0, 0
	return nil
}

// appendIndex keeps the page index of a chunk for the end of the file. Where that will begin is not known yet: c has
// positions within columnIndex and offsetIndex, to which the footer adds it.
func (w *Writer) appendIndex(l *leaf, c *chunk) {
	t := &w.thrift
	t.reset(w.columnIndex)
	start := int32(len(t.buf))
	if l.appendColumnIndex(t) {
		c.columnIndex = slice{start, int32(len(t.buf))}
	}
	w.columnIndex = t.buf
	t.reset(w.offsetIndex)
	start = int32(len(t.buf))
	l.group.appendOffsetIndex(t, c.data)
	c.offsetIndex = slice{start, int32(len(t.buf))}
	w.offsetIndex = t.buf
}

func (w *Writer) writeBloom(l *leaf, c *chunk) error {
	if len(l.group.bloom) == 0 {
		return nil
	}
	t := &w.thrift
	t.reset(make([]byte, 0, 32))
	appendBloomHeader(t, len(l.group.bloom))
	c.bloom, c.bloomSize = w.pos, int32(len(t.buf)+len(l.group.bloom))
	if err := w.write(t.buf); err != nil {
		return err
	}
	return w.write(l.group.bloom)
}

// Close writes what is left and the footer. The writer has given its memory back when it returns, whatever it returns.
func (w *Writer) Close(kvs []KeyValue) error {
	defer w.Discard()
	if err := w.Flush(); err != nil {
		return err
	}
	index := w.pos
	if err := w.write(w.columnIndex); err != nil {
		return err
	}
	if err := w.write(w.offsetIndex); err != nil {
		return err
	}
	return w.write(w.footer(nil, index, kvs))
}

// Rows returns the rows of the open row group.
func (w *Writer) Rows() int64 { return w.rows }

// Pending estimates the bytes that the open row group is going to take in the file, with its page index. What is encoded
// counts as it is; open pages count by the ratio that this file has had so far.
func (w *Writer) Pending() int64 {
	done := int64(0)
	open := int64(0)
	for _, l := range w.leaves {
		done += l.group.data.size
		open += int64(l.held())
	}
	if open == 0 {
		return done
	}
	ratio := 1.0 / 3 // clickstreams with zstd, as measured
	if w.rawBytes > 0 {
		ratio = float64(w.pos) / float64(w.rawBytes)
	}
	return done + int64(float64(open)*ratio) + int64(len(w.columnIndex)+len(w.offsetIndex))
}

// Memory returns the bytes of memory that the writer holds: what is borrowed, by capacity, and what is kept for the footer.
func (w *Writer) Memory() int64 {
	n := int64(cap(w.bounds) + cap(w.columnIndex) + cap(w.offsetIndex) + 160*cap(w.chunks) + 24*cap(w.groups))
	for _, l := range w.leaves {
		n += leafSize + l.memory()
	}
	return n
}

// leafSize is about what a leaf takes when it is empty, with its part of the schema: as measured, half as much again as
// the struct itself.
var leafSize = int64(reflect.TypeFor[leaf]().Size()) * 3 / 2
