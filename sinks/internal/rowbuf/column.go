package rowbuf

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/take"
)

// column collects the values of a field in buffers as Arrow has them.
type column struct {
	field arrow.Field
	// inside says that a null may stand in the place of a value that cannot be null, because a struct
	// around it is null.
	inside bool
	bits   int // of a value, 0 where they differ
	offset int // bytes of an offset, 0 where there are none

	rows, nulls          int
	valid, offsets, data []byte // valid is empty where no null can be
	children             []*column
}

// newColumn returns an empty column for a field.
func newColumn(f arrow.Field, inside bool) (*column, error) {
	c := &column{field: f, inside: inside}
	var children []arrow.Field
	switch t := f.Type.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		c.offset = 4
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		c.offset = 8
	case *arrow.ListType, *arrow.MapType:
		c.offset, children = 4, []arrow.Field{t.(arrow.ListLikeType).ElemField()}
	case *arrow.LargeListType:
		c.offset, children = 8, []arrow.Field{t.ElemField()}
	case *arrow.StructType:
		children = t.Fields()
		if len(children) == 0 {
			return nil, fmt.Errorf("column %s: a struct without fields holds nothing", f.Name)
		}
		inside = inside || f.Nullable
	case arrow.FixedWidthDataType:
		c.bits = t.BitWidth()
	}
	if id := f.Type.ID(); id == arrow.DICTIONARY || id == arrow.EXTENSION || c.bits > 1 && c.bits%8 != 0 ||
		c.bits == 0 && c.offset == 0 && children == nil {
		return nil, fmt.Errorf("column %s: type %s is not supported", f.Name, f.Type)
	}
	for _, field := range children {
		child, err := newColumn(field, inside)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name, err)
		}
		c.children = append(c.children, child)
	}
	c.reset()
	return c, nil
}

// append adds the values from:to of d, counted from its offset. There are no more bytes in them than fit: its caller has asked
// size.
func (c *column) append(d arrow.ArrayData, from, to int) error {
	if from == to {
		return nil
	}
	from, to = from+d.Offset(), to+d.Offset()
	if err := c.appendValid(d, from, to); err != nil {
		return err
	}
	first, end := from, to // of the children
	switch values := take.Buffer(d, min(1, len(d.Buffers())-1)); {
	case c.bits == 1:
		c.data = appendBits(c.data, c.rows, values, from, to)
	case c.bits > 0 && values == nil: // of nulls only
		c.data = append(c.data, make([]byte, (to-from)*c.bits/8)...)
	case c.bits > 0:
		c.data = append(c.data, values[from*c.bits/8:to*c.bits/8]...)
	case c.offset == 4:
		first, end = appendOffsets[int32](c, values, from, to)
	case c.offset == 8:
		first, end = appendOffsets[int64](c, values, from, to)
	}
	if c.offset > 0 && c.children == nil {
		c.data = append(c.data, take.Buffer(d, 2)[first:end]...)
	}
	c.rows += to - from
	for i, child := range c.children {
		if err := child.append(d.Children()[i], first, end); err != nil {
			return err
		}
	}
	return nil
}

func (c *column) appendValid(d arrow.ArrayData, from, to int) error {
	bitmap, nulls := take.Buffer(d, 0), 0
	if d.NullN() == 0 {
		bitmap = nil
	}
	if bitmap != nil {
		nulls = to - from - bitutil.CountSetBits(bitmap, from, to-from)
	}
	if c.keepsValid() {
		c.valid = appendBits(c.valid, c.rows, bitmap, from, to)
		c.nulls += nulls
	} else if nulls > 0 {
		return fmt.Errorf("column %s has a null, and its schema says that it has none", c.field.Name)
	}
	return nil
}

// appendBits adds the bits from:to of src to the n of dst, set ones if there is no src.
func appendBits(dst []byte, n int, src []byte, from, to int) []byte {
	size := int(bitutil.BytesForBits(int64(n + to - from)))
	dst = append(dst, make([]byte, size-len(dst))...)
	for i := from; i < to; i++ { // bitutil.CopyBitmap allocates
		if src == nil || bitutil.BitIsSet(src, i) {
			bitutil.SetBit(dst, n+i-from)
		}
	}
	return dst
}

// appendOffsets adds the ends of the values from:to and returns the range of data or elements that they cover.
func appendOffsets[T int32 | int64](c *column, buffer []byte, from, to int) (first, end int) {
	ends := arrow.GetData[T](buffer)[from : to+1]
	c.offsets = append(c.offsets, make([]byte, (to-from)*c.offset)...)
	dst := arrow.GetData[T](c.offsets)[c.rows:]
	shift := dst[0] - ends[0]
	for i, e := range ends[1:] {
		dst[i+1] = e + shift
	}
	return int(ends[0]), int(ends[to-from])
}

func (c *column) keepsValid() bool { return c.field.Nullable || c.inside }

// size returns the bytes that the values from:to of d, counted from its offset, take in the column: a byte for a bit, and four
// for an offset.
func (c *column) size(d arrow.ArrayData, from, to int) (n int64) {
	rows := int64(to - from)
	if rows == 0 {
		return 0
	}
	if c.keepsValid() {
		n = rows
	}
	from, to = from+d.Offset(), to+d.Offset()
	switch c.offset {
	case 4:
		ends := arrow.GetData[int32](take.Buffer(d, 1))
		from, to = int(ends[from]), int(ends[to])
		n += 4 * rows
	case 8:
		ends := arrow.GetData[int64](take.Buffer(d, 1))
		from, to = int(ends[from]), int(ends[to])
		n += 4 * rows
	default:
		n += rows * int64((c.bits+7)/8)
	}
	if c.offset > 0 && c.children == nil {
		n += int64(to - from)
	}
	for i, child := range c.children {
		n += child.size(d.Children()[i], from, to)
	}
	return n
}

// arrow returns the values of the column.
func (c *column) arrow() arrow.ArrayData {
	buffers := make([]*memory.Buffer, 1, 3)
	if c.nulls > 0 {
		buffers[0] = memory.NewBufferBytes(c.valid)
	}
	if c.offset > 0 {
		buffers = append(buffers, memory.NewBufferBytes(c.offsets))
	}
	if c.bits > 0 || c.offset > 0 && c.children == nil {
		buffers = append(buffers, memory.NewBufferBytes(c.data))
	}
	var children []arrow.ArrayData
	for _, child := range c.children {
		d := child.arrow()
		defer d.Release()
		children = append(children, d)
	}
	return array.NewData(c.field.Type, c.rows, buffers, children, c.nulls, 0)
}

// reset empties the column and keeps its memory.
func (c *column) reset() {
	c.rows, c.nulls = 0, 0
	c.valid, c.data = c.valid[:0], c.data[:0]
	c.offsets = append(c.offsets[:0], make([]byte, c.offset)...)
	for _, child := range c.children {
		child.reset()
	}
}

// free empties the column and lets go of its memory.
func (c *column) free() {
	c.valid, c.offsets, c.data = nil, nil, nil
	for _, child := range c.children {
		child.free()
	}
	c.reset()
}

// capacity returns the memory held.
func (c *column) capacity() int64 {
	n := int64(cap(c.valid) + cap(c.offsets) + cap(c.data))
	for _, child := range c.children {
		n += child.capacity()
	}
	return n
}
