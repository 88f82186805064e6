package rowbuf

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
)

// append adds the values from:to of d, counted from its offset. There are no more bytes in them than fit:
// whoever calls it has asked size.
func (c *Column) append(d arrow.ArrayData, from, to int) error {
	if from == to {
		return nil
	}
	if err := c.appendValid(d, from, to); err != nil {
		return err
	}
	c.Len += to - from
	from, to = from+d.Offset(), to+d.Offset()
	switch c.Kind {
	case Fixed:
		if b := bufferOf(d, 1); b != nil {
			c.Data = append(c.Data, b[from*c.Width:to*c.Width]...)
		} else {
			c.Data = append(c.Data, make([]byte, (to-from)*c.Width)...)
		}
	case Bits:
		c.appendBools(bufferOf(d, 1), from, to)
	case Binary:
		start, end := c.appendOffsets(d, from, to)
		c.Data = append(c.Data, bufferOf(d, 2)[start:end]...)
	case List:
		start, end := c.appendOffsets(d, from, to)
		return c.Children[0].append(d.Children()[0], int(start), int(end))
	case Struct:
		for i, child := range c.Children {
			if err := child.append(d.Children()[i], from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

func bufferOf(d arrow.ArrayData, i int) []byte {
	if b := d.Buffers()[i]; b != nil {
		return b.Bytes()
	}
	return nil
}

func (c *Column) appendValid(d arrow.ArrayData, from, to int) error {
	bitmap := bufferOf(d, 0)
	if d.NullN() == 0 {
		bitmap = nil
	}
	if !c.keepsValid() {
		if bitmap != nil && bitutil.CountSetBits(bitmap, d.Offset()+from, to-from) != to-from {
			return fmt.Errorf("column %s has a null, and its schema says that it has none", c.Field.Name)
		}
		return nil
	}
	for i := from; i < to; i++ {
		valid := bitmap == nil || bitutil.BitIsSet(bitmap, d.Offset()+i)
		c.Valid = append(c.Valid, valid)
		if !valid {
			c.Nulls++
		}
	}
	return nil
}

func (c *Column) appendBools(bitmap []byte, from, to int) {
	for i := from; i < to; i++ {
		c.Bools = append(c.Bools, bitmap != nil && bitutil.BitIsSet(bitmap, i))
	}
}

// appendOffsets adds the ends of the values from:to and returns the range of data or elements that they
// cover.
func (c *Column) appendOffsets(d arrow.ArrayData, from, to int) (start, end int64) {
	last := int64(c.Offsets[len(c.Offsets)-1])
	if wide(c.Field.Type) {
		ends := arrow.Int64Traits.CastFromBytes(bufferOf(d, 1))[from : to+1]
		for _, e := range ends[1:] {
			c.Offsets = append(c.Offsets, int32(last+e-ends[0]))
		}
		return ends[0], ends[to-from]
	}
	ends := arrow.Int32Traits.CastFromBytes(bufferOf(d, 1))[from : to+1]
	shift := int32(last) - ends[0]
	for _, e := range ends[1:] {
		c.Offsets = append(c.Offsets, e+shift)
	}
	return int64(ends[0]), int64(ends[to-from])
}

func (c *Column) keepsValid() bool { return c.Field.Nullable || c.Inside }

// wide reports whether a type has 64-bit offsets.
func wide(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.LARGE_LIST:
		return true
	}
	return false
}

// size returns the bytes that the values from:to of d, counted from its offset, take in the column.
func (c *Column) size(d arrow.ArrayData, from, to int) int64 {
	rows := int64(to - from)
	if rows == 0 {
		return 0
	}
	n := int64(0)
	if c.keepsValid() {
		n = rows
	}
	from, to = from+d.Offset(), to+d.Offset()
	switch c.Kind {
	case Fixed:
		n += rows * int64(c.Width)
	case Bits:
		n += rows
	case Binary:
		start, end := covered(d, c.Field.Type, from, to)
		n += 4*rows + end - start
	case List:
		start, end := covered(d, c.Field.Type, from, to)
		n += 4*rows + c.Children[0].size(d.Children()[0], int(start), int(end))
	case Struct:
		for i, child := range c.Children {
			n += child.size(d.Children()[i], from, to)
		}
	}
	return n
}

// covered returns the range of data or elements of the values from:to, counted from the start of the buffer.
func covered(d arrow.ArrayData, t arrow.DataType, from, to int) (start, end int64) {
	if wide(t) {
		ends := arrow.Int64Traits.CastFromBytes(bufferOf(d, 1))
		return ends[from], ends[to]
	}
	ends := arrow.Int32Traits.CastFromBytes(bufferOf(d, 1))
	return int64(ends[from]), int64(ends[to])
}
