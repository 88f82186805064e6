package encode

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sort"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
)

// leaf encodes a column of the file, page by page. The values of the open page are collected as they are, and all the
// work on them is done when the page is full, while they are still in the caches.
//
// A leaf is used by one goroutine at a time: that of the Writer's caller, or, while [work.all] runs, the one that has taken
// the leaf from it. data, lens and the buffers of rep and def are borrowed from the pools until release; the views alias
// the caller's record between attach and detach.
type leaf struct {
	*column
	opts  *Options
	views []view // of the record that is being added, one for each node of the path

	// The open page.
	data     []byte  // the values: texts back to back, fixed ones in the file's form, booleans as bytes; slack behind texts when encoding
	lens     []int32 // of texts; nulls are in neither
	rep, def levels
	rows     int
	entries  int // values, nulls and empty lists

	group group
}

// view is the data of a node of the path. Positions in it count from the start of its buffers, to which a position in the
// array becomes by adding offset: arrays may be slices of others. The offsets of a list count in the array of its elements,
// so that the offset of the next view is added to them in turn.
type view struct {
	offset    int    // where the array begins
	valid     []byte // nil without nulls
	offsets   []int32
	offsets64 []int64
	data      []byte
}

// span returns the positions of value i in what it consists of.
func (v *view) span(i int) (start, end int) {
	if v.offsets64 != nil {
		return int(v.offsets64[i]), int(v.offsets64[i+1])
	}
	return int(v.offsets[i]), int(v.offsets[i+1])
}

// start returns where value i begins. For the index after the last value it returns where that ends.
func (v *view) start(i int) int {
	if v.offsets64 != nil {
		return int(v.offsets64[i])
	}
	return int(v.offsets[i])
}

func bufferOf(d arrow.ArrayData, i int) []byte {
	if bufs := d.Buffers(); i < len(bufs) && bufs[i] != nil {
		return bufs[i].Bytes()
	}
	return nil
}

// attach sets the views to a column of a record.
func (l *leaf) attach(d arrow.ArrayData) {
	for i := range l.path {
		n, v := &l.path[i], &l.views[i]
		*v = view{offset: d.Offset()}
		if d.NullN() != 0 { // -1, unknown, included
			v.valid = bufferOf(d, 0)
		}
		if n.kind == listNode || n.kind == leafNode && l.source == sourceBytes {
			if n.wide {
				v.offsets64 = arrow.Int64Traits.CastFromBytes(bufferOf(d, 1))
			} else {
				v.offsets = arrow.Int32Traits.CastFromBytes(bufferOf(d, 1))
			}
		}
		switch {
		case n.kind != leafNode:
			d = d.Children()[n.child]
		case l.source == sourceBytes:
			v.data = bufferOf(d, 2)
		default:
			v.data = bufferOf(d, 1)
		}
	}
}

// detach drops the references to the record, whose memory is the caller's again.
func (l *leaf) detach() { clear(l.views) }

// cost returns about the bytes of memory that the rows from:to take in the open page. It never falls when to rises, which
// the binary searches for the rows that still fit rely on.
func (l *leaf) cost(from, to int) int {
	for i := range l.path {
		if from == to {
			return 0 // an array without values may have no offsets to look at
		}
		n, v := &l.path[i], &l.views[i]
		from, to = from+v.offset, to+v.offset
		switch {
		case n.kind == listNode:
			from, to = v.start(from), v.start(to)
		case n.kind == leafNode && l.source == sourceBytes:
			return v.start(to) - v.start(from) + 4*(to-from)
		}
	}
	return (to - from) * max(1, l.width)
}

// held returns about the bytes that the open page has in use, which Options.PageBytes bounds.
func (l *leaf) held() int { return len(l.data) + 4*len(l.lens) + l.entries/8 }

// add adds the rows from:to of the record. Pages that become full are encoded.
//
// A page ends between two rows, never within one: readers find rows by the offset index, which counts them by page. A row
// that is larger than a page therefore gets one of its own, of whatever size; Writer.add refuses those above [MaxRow].
func (l *leaf) add(from, to int, s *scratch) error {
	for from < to {
		rows := min(to-from, l.opts.PageRows-l.rows)
		room := l.opts.PageBytes - l.held()
		if l.cost(from, from+rows) > room {
			rows = sort.Search(rows, func(n int) bool { return l.cost(from, from+n+1) > room })
		}
		if rows == 0 && l.rows > 0 {
			if err := l.flushPage(s); err != nil {
				return err
			}
			continue
		}
		rows = max(rows, 1) // the page is empty, and the row goes into it in any case
		if err := l.shred(from, from+rows); err != nil {
			return err
		}
		l.rows += rows
		from += rows
		if l.rows >= l.opts.PageRows {
			if err := l.flushPage(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// values adds the values a:b of the leaf's array, none of which is null. They count from the start of its buffers.
func (l *leaf) values(a, b int) {
	if a == b {
		return
	}
	v := &l.views[len(l.views)-1]
	n := b - a
	switch l.source {
	case sourceBytes:
		l.lens = int32Pool.grow(l.lens, n)
		lens := l.lens[len(l.lens) : len(l.lens)+n]
		l.lens = l.lens[:len(l.lens)+n]
		start, end := v.start(a), v.start(b)
		if v.offsets64 != nil {
			lengths(lens, v.offsets64[a:b+1])
		} else {
			lengths(lens, v.offsets[a:b+1])
		}
		l.data = bytePool.appendTo(l.data, v.data[start:end])
	case sourceSame:
		if v.data == nil { // arrow may leave out the values of an array that has nothing but nulls
			l.zeros(n * l.width)
			return
		}
		l.data = bytePool.appendTo(l.data, v.data[a*l.width:b*l.width])
	case sourceBits:
		l.data = bytePool.grow(l.data, n)
		for i := a; i < b; i++ {
			l.data = append(l.data, v.data[i/8]>>(i%8)&1)
		}
	default:
		l.convert(v, a, b)
	}
}

func lengths[T int32 | int64](dst []int32, offsets []T) {
	prev := offsets[0]
	for i, o := range offsets[1:][:len(dst)] {
		dst[i] = int32(o - prev)
		prev = o
	}
}

func (l *leaf) zeros(n int) {
	l.data = bytePool.grow(l.data, n)
	at := len(l.data)
	l.data = l.data[:at+n]
	clear(l.data[at:])
}

// convert adds integers that are narrower than in the file: signed ones are extended by their sign, unsigned ones by
// zeros; and seconds, which the format does not have, as milliseconds.
func (l *leaf) convert(v *view, a, b int) {
	l.data = bytePool.grow(l.data, (b-a)*l.width)
	dst, le := l.data, binary.LittleEndian
	for i := a; i < b; i++ {
		switch l.source {
		case sourceInt8:
			dst = le.AppendUint32(dst, uint32(int32(int8(v.data[i]))))
		case sourceUint8:
			dst = le.AppendUint32(dst, uint32(v.data[i]))
		case sourceInt16:
			dst = le.AppendUint32(dst, uint32(int32(int16(le.Uint16(v.data[2*i:])))))
		case sourceUint16:
			dst = le.AppendUint32(dst, uint32(le.Uint16(v.data[2*i:])))
		default:
			dst = le.AppendUint64(dst, 1000*le.Uint64(v.data[8*i:]))
		}
	}
	l.data = dst
}

// count returns the number of values in the open page, without nulls and empty lists.
func (l *leaf) count() int {
	switch l.source {
	case sourceBytes:
		return len(l.lens)
	case sourceBits:
		return len(l.data)
	}
	return len(l.data) / l.width
}

// resetPage empties the open page.
func (l *leaf) resetPage() {
	l.data, l.lens = l.data[:0], l.lens[:0]
	l.rep.reset()
	l.def.reset()
	l.rows, l.entries = 0, 0
}

// release gives back all borrowed memory, of the open page and of the row group.
func (l *leaf) release() {
	bytePool.put(l.data)
	int32Pool.put(l.lens)
	l.data, l.lens = nil, nil
	bytePool.put(l.rep.buf)
	bytePool.put(l.def.buf)
	l.rep.buf, l.def.buf = nil, nil
	l.resetPage()
	l.group.release()
}

func (l *leaf) memory() int64 {
	return int64(cap(l.data)+4*cap(l.lens)+cap(l.rep.buf)+cap(l.def.buf)) + l.group.memory()
}

// errNull is the error for a null where the schema has none.
func (l *leaf) errNull(n *node) error {
	if len(l.path) == 1 {
		return fmt.Errorf("column %s has a null, and its schema says that it has none", l.name)
	}
	return fmt.Errorf("column %s has a null at %s, and its schema says that it has none", l.name, n.name)
}

// nextRun returns the end of the run of equal bits that begins at from, and the bit. It goes by words where 64 equal bits
// begin at a word, else by bytes. from has to be less than to.
func nextRun(bitmap []byte, from, to int) (end int, set bool) {
	set = bitutil.BitIsSet(bitmap, from)
	skip := byte(0) // a byte of the run
	if set {
		skip = 0xff
	}
	for end = from; end < to; {
		if end%8 == 0 && end+8 <= to && bitmap[end/8] == skip {
			if end%64 == 0 && end+64 <= to && binary.LittleEndian.Uint64(bitmap[end/8:]) == uint64(skip)*0x0101010101010101 {
				end += 64
				continue
			}
			end += 8
			continue
		}
		differ := (bitmap[end/8] ^ skip) >> (end % 8)
		if differ != 0 {
			return min(to, end+bits.TrailingZeros8(differ)), set
		}
		end += 8 - end%8 // may go beyond to, within the last byte
	}
	return to, set
}
