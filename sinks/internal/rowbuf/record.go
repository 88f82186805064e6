package rowbuf

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Record returns the rows as a record of the buffer's schema. It lies in the memory of the buffer and is valid until the
// buffer is changed. Whoever has it releases it.
func (b *Buffer) Record(s *arrow.Schema) arrow.Record {
	columns := make([]arrow.Array, len(b.Columns))
	for i, c := range b.Columns {
		d := c.data()
		columns[i] = array.MakeFromData(d)
		d.Release()
	}
	r := array.NewRecord(s, columns, int64(b.rows))
	for _, c := range columns {
		c.Release()
	}
	return r
}

func bitmapOf(bits []bool) *memory.Buffer {
	out := make([]byte, bitutil.BytesForBits(int64(len(bits))))
	for i, b := range bits {
		if b {
			bitutil.SetBit(out, i)
		}
	}
	return memory.NewBufferBytes(out)
}

// data returns the values of the column.
func (c *Column) data() arrow.ArrayData {
	var valid *memory.Buffer
	if c.Nulls > 0 {
		valid = bitmapOf(c.Valid)
	}
	buffers := []*memory.Buffer{valid}
	switch c.Kind {
	case Fixed:
		buffers = append(buffers, memory.NewBufferBytes(c.Data))
	case Bits:
		buffers = append(buffers, bitmapOf(c.Bools))
	case Binary:
		buffers = append(buffers, c.offsets(), memory.NewBufferBytes(c.Data))
	case List:
		buffers = append(buffers, c.offsets())
	case Struct:
	}
	var children []arrow.ArrayData
	for _, child := range c.Children {
		d := child.data()
		defer d.Release()
		children = append(children, d)
	}
	return array.NewData(c.Field.Type, c.Len, buffers, children, c.Nulls, 0)
}

func (c *Column) offsets() *memory.Buffer {
	if !wide(c.Field.Type) {
		return memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(c.Offsets))
	}
	ends := make([]int64, len(c.Offsets))
	for i, e := range c.Offsets {
		ends[i] = int64(e)
	}
	return memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(ends))
}
