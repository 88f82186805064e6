// Package take puts the rows of records in another order.
package take

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Taker puts the rows of records in another order. What it returns lies in its memory until the next Take. It is used by
// one goroutine at a time.
type Taker struct {
	buffers [][]byte
	indices [][]int32
	nBuffer int
	nIndex  int
}

// Memory returns the bytes of memory that it holds.
func (t *Taker) Memory() (n int64) {
	for _, b := range t.buffers {
		n += int64(cap(b))
	}
	for _, i := range t.indices {
		n += 4 * int64(cap(i))
	}
	return n
}

// Free lets go of the memory.
func (t *Taker) Free() { t.buffers, t.indices = nil, nil }

// Take returns the given rows of r. It knows the types that file sinks take. Whoever has the record releases it.
func (t *Taker) Take(r arrow.Record, rows []int32) arrow.Record {
	t.nBuffer, t.nIndex = 0, 0
	columns := make([]arrow.Array, r.NumCols())
	for i := range columns {
		d := t.data(r.Column(i).Data(), rows)
		columns[i] = array.MakeFromData(d)
		d.Release()
	}
	taken := array.NewRecord(r.Schema(), columns, int64(len(rows)))
	for _, c := range columns {
		c.Release()
	}
	return taken
}

// bytes returns n bytes whose contents are undefined.
func (t *Taker) bytes(n int) []byte {
	if t.nBuffer == len(t.buffers) {
		t.buffers = append(t.buffers, nil)
	}
	if cap(t.buffers[t.nBuffer]) < n {
		t.buffers[t.nBuffer] = make([]byte, n+n/4)
	}
	t.nBuffer++
	return t.buffers[t.nBuffer-1][:n]
}

func bufferOf(d arrow.ArrayData, i int) []byte {
	if b := d.Buffers()[i]; b != nil {
		return b.Bytes()
	}
	return nil
}

// data returns the values of d, counted from its offset, at the given places.
func (t *Taker) data(d arrow.ArrayData, at []int32) arrow.ArrayData {
	valid, nulls := t.valid(d, at)
	buffers := []*memory.Buffer{valid}
	var children []arrow.ArrayData
	switch dt := d.DataType().(type) {
	case *arrow.BooleanType:
		buffers = append(buffers, memory.NewBufferBytes(t.bits(bufferOf(d, 1), d.Offset(), at)))
	case *arrow.StringType, *arrow.BinaryType:
		offsets, data := t.binary(arrow.Int32Traits.CastFromBytes(bufferOf(d, 1)), bufferOf(d, 2), d.Offset(), at)
		buffers = append(buffers, memory.NewBufferBytes(offsets), memory.NewBufferBytes(data))
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		offsets, data := t.largeBinary(arrow.Int64Traits.CastFromBytes(bufferOf(d, 1)), bufferOf(d, 2), d.Offset(), at)
		buffers = append(buffers, memory.NewBufferBytes(offsets), memory.NewBufferBytes(data))
	case *arrow.ListType, *arrow.MapType:
		offsets, elements := t.list(arrow.Int32Traits.CastFromBytes(bufferOf(d, 1)), d.Offset(), at)
		buffers = append(buffers, memory.NewBufferBytes(offsets))
		children = append(children, t.data(d.Children()[0], elements))
	case *arrow.LargeListType:
		offsets, elements := t.largeList(arrow.Int64Traits.CastFromBytes(bufferOf(d, 1)), d.Offset(), at)
		buffers = append(buffers, memory.NewBufferBytes(offsets))
		children = append(children, t.data(d.Children()[0], elements))
	case *arrow.StructType:
		places := at
		if d.Offset() != 0 {
			places = t.places(len(at))
			for i, row := range at {
				places[i] = row + int32(d.Offset())
			}
		}
		for _, child := range d.Children() {
			children = append(children, t.data(child, places))
		}
	case arrow.FixedWidthDataType:
		buffers = append(buffers, memory.NewBufferBytes(t.fixed(bufferOf(d, 1), dt.BitWidth()/8, d.Offset(), at)))
	default:
		panic("take: a type that file sinks do not take: " + d.DataType().String())
	}
	out := array.NewData(d.DataType(), len(at), buffers, children, nulls, 0)
	for _, c := range children {
		c.Release()
	}
	return out
}

// places returns room for n places.
func (t *Taker) places(n int) []int32 {
	if t.nIndex == len(t.indices) {
		t.indices = append(t.indices, nil)
	}
	if cap(t.indices[t.nIndex]) < n {
		t.indices[t.nIndex] = make([]int32, n+n/4)
	}
	t.nIndex++
	return t.indices[t.nIndex-1][:n]
}

func (t *Taker) valid(d arrow.ArrayData, at []int32) (*memory.Buffer, int) {
	bitmap := bufferOf(d, 0)
	if bitmap == nil || d.NullN() == 0 {
		return nil, 0
	}
	bits := t.bits(bitmap, d.Offset(), at)
	return memory.NewBufferBytes(bits), len(at) - bitutil.CountSetBits(bits, 0, len(at))
}

func (t *Taker) bits(bitmap []byte, offset int, at []int32) []byte {
	out := t.bytes((len(at) + 7) / 8)
	clear(out)
	for i, row := range at {
		if bitutil.BitIsSet(bitmap, offset+int(row)) {
			bitutil.SetBit(out, i)
		}
	}
	return out
}

func (t *Taker) fixed(data []byte, width, offset int, at []int32) []byte {
	out := t.bytes(len(at) * width)
	if data == nil { // of nulls only
		clear(out)
		return out
	}
	for i, row := range at {
		from := (offset + int(row)) * width
		copy(out[i*width:(i+1)*width], data[from:])
	}
	return out
}

func (t *Taker) binary(ends []int32, data []byte, offset int, at []int32) (offsets, values []byte) {
	size := 0
	for _, row := range at {
		size += int(ends[offset+int(row)+1] - ends[offset+int(row)])
	}
	offsets, values = t.bytes(4*(len(at)+1)), t.bytes(size)
	out := arrow.Int32Traits.CastFromBytes(offsets)
	n := int32(0)
	for i, row := range at {
		out[i] = n
		n += int32(copy(values[n:], data[ends[offset+int(row)]:ends[offset+int(row)+1]]))
	}
	out[len(at)] = n
	return offsets, values
}

func (t *Taker) largeBinary(ends []int64, data []byte, offset int, at []int32) (offsets, values []byte) {
	size := 0
	for _, row := range at {
		size += int(ends[offset+int(row)+1] - ends[offset+int(row)])
	}
	offsets, values = t.bytes(8*(len(at)+1)), t.bytes(size)
	out := arrow.Int64Traits.CastFromBytes(offsets)
	n := int64(0)
	for i, row := range at {
		out[i] = n
		n += int64(copy(values[n:], data[ends[offset+int(row)]:ends[offset+int(row)+1]]))
	}
	out[len(at)] = n
	return offsets, values
}

// list returns new offsets, and the places of the elements, counted from the start of the child.
func (t *Taker) list(ends []int32, offset int, at []int32) (offsets []byte, elements []int32) {
	size := 0
	for _, row := range at {
		size += int(ends[offset+int(row)+1] - ends[offset+int(row)])
	}
	offsets, elements = t.bytes(4*(len(at)+1)), t.places(size)
	out := arrow.Int32Traits.CastFromBytes(offsets)
	n := int32(0)
	for i, row := range at {
		out[i] = n
		for e := ends[offset+int(row)]; e < ends[offset+int(row)+1]; e++ {
			elements[n] = e
			n++
		}
	}
	out[len(at)] = n
	return offsets, elements
}

func (t *Taker) largeList(ends []int64, offset int, at []int32) (offsets []byte, elements []int32) {
	size := 0
	for _, row := range at {
		size += int(ends[offset+int(row)+1] - ends[offset+int(row)])
	}
	offsets, elements = t.bytes(8*(len(at)+1)), t.places(size)
	out := arrow.Int64Traits.CastFromBytes(offsets)
	n := int64(0)
	for i, row := range at {
		out[i] = n
		for e := ends[offset+int(row)]; e < ends[offset+int(row)+1]; e++ {
			elements[n] = int32(e)
			n++
		}
	}
	out[len(at)] = n
	return offsets, elements
}
