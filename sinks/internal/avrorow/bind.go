package avrorow

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/internal/take"
)

// column is a column, or what is within one, and how its values are written. What it has of an array is valid from bind
// to release.
type column struct {
	op       op
	nullable bool
	width    int    // in bytes, or items of a fixed list
	path     string // for messages
	next     []column

	valid   []byte // bitmap; nil if there are no nulls
	at      int    // bit of the first value, there and of a bool
	data    []byte // begins with the first value, but for bits and texts
	offsets []int32
	large   []int64
}

// clone returns a column that is bound on its own.
func (c column) clone() column {
	next := make([]column, len(c.next))
	for i := range next {
		next[i] = c.next[i].clone()
	}
	c.next = next
	return c
}

// release forgets the array.
func (c *column) release() {
	c.valid, c.data, c.offsets, c.large = nil, nil, nil, nil
	for i := range c.next {
		c.next[i].release()
	}
}

// widths are those of values in bytes, by op.
var widths = [...]int{
	opInt8: 1, opInt16: 2, opInt32: 4, opInt64: 8, opUint8: 1, opUint16: 2, opUint32: 4, opUint64: 8,
	opHalf: 2, opFloat: 4, opDouble: 8, opMillisOfDays: 8, opRecord: 0,
}

// bind has the column read a. It allocates nothing.
func (c *column) bind(a arrow.Array) {
	data := a.Data()
	c.at = data.Offset()
	if c.valid = nil; a.NullN() > 0 {
		c.valid = a.NullBitmapBytes()
	}
	switch c.op {
	case opNull:
	case opDictionary:
		d := a.(*array.Dictionary)
		c.next[0].bind(d.Indices())
		c.next[1].bind(d.Dictionary())
	case opList, opFixedList, opLargeList:
		c.next[0].bind(a.(array.ListLike).ListValues())
		c.bindOffsets(data)
	case opMap:
		pairs := a.(array.ListLike).ListValues().(*array.Struct)
		c.next[0].bind(pairs.Field(0))
		c.next[1].bind(pairs.Field(1))
		c.bindOffsets(data)
	case opRecord:
		s := a.(*array.Struct)
		for i := range c.next {
			c.next[i].bind(s.Field(i))
		}
	case opText, opLargeText:
		c.bindOffsets(data)
		c.data = take.Buffer(data, 2)
	case opBool:
		c.data = take.Buffer(data, 1)
	default:
		width := c.width
		if width == 0 {
			width = widths[c.op]
		}
		if data.Len() > 0 {
			c.data = take.Buffer(data, 1)[data.Offset()*width:][:data.Len()*width]
		}
	}
}

// bindOffsets takes the offsets of values of different lengths, of which there are none in a fixed list.
func (c *column) bindOffsets(data arrow.ArrayData) {
	if data.Len() == 0 || c.op == opFixedList {
		return
	}
	if c.op == opLargeText || c.op == opLargeList {
		c.large = arrow.GetOffsets[int64](data, 1)
	} else {
		c.offsets = arrow.GetOffsets[int32](data, 1)
	}
}

// span returns where value i of a text, list or map is.
func (c *column) span(i int) (from, to int) {
	switch c.op {
	case opLargeText, opLargeList:
		return int(c.large[i]), int(c.large[i+1])
	case opFixedList:
		return (c.at + i) * c.width, (c.at + i + 1) * c.width
	}
	return int(c.offsets[i]), int(c.offsets[i+1])
}

// describe says where a value is that cannot be written.
func (c *column) describe(reason string) error { return fmt.Errorf("column %s: %s", c.path, reason) }
