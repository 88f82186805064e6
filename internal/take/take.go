// Package take puts the rows of records in another order.
package take

import (
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Taker puts the rows of records in another order. What it returns lies in its memory until the next Take. It is used by
// one goroutine at a time.
type Taker struct {
	buffers Scratch[byte]
	indices Scratch[int32]
}

// Memory returns the bytes of memory that it holds.
func (t *Taker) Memory() int64 { return int64(t.buffers.Cap() + 4*t.indices.Cap()) }

// Free lets go of the memory.
func (t *Taker) Free() { *t = Taker{} }

// Take returns the given rows of r. It knows the types that file sinks take. Whoever has the record releases it.
func (t *Taker) Take(r arrow.Record, rows []int32) arrow.Record {
	t.buffers.Reset()
	t.indices.Reset()
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

// Buffer returns the bytes of buffer i of d, nil where there is none.
func Buffer(d arrow.ArrayData, i int) []byte {
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
		buffers = append(buffers, memory.NewBufferBytes(t.bits(Buffer(d, 1), d.Offset(), at)))
	case *arrow.StringType, *arrow.BinaryType:
		buffers = append(buffers, binary[int32](t, d, at)...)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		buffers = append(buffers, binary[int64](t, d, at)...)
	case *arrow.ListType, *arrow.MapType:
		offsets, elements := list[int32](t, d, at)
		buffers, children = append(buffers, offsets), append(children, elements)
	case *arrow.LargeListType:
		offsets, elements := list[int64](t, d, at)
		buffers, children = append(buffers, offsets), append(children, elements)
	case *arrow.StructType:
		places := at
		if d.Offset() != 0 {
			places = t.indices.Take(len(at))
			for i, row := range at {
				places[i] = row + int32(d.Offset())
			}
		}
		for _, child := range d.Children() {
			children = append(children, t.data(child, places))
		}
	case arrow.FixedWidthDataType:
		buffers = append(buffers, memory.NewBufferBytes(t.fixed(Buffer(d, 1), dt.BitWidth()/8, d.Offset(), at)))
	default:
		panic("take: a type that file sinks do not take: " + d.DataType().String())
	}
	out := array.NewData(d.DataType(), len(at), buffers, children, nulls, 0)
	for _, c := range children {
		c.Release()
	}
	return out
}

func (t *Taker) valid(d arrow.ArrayData, at []int32) (*memory.Buffer, int) {
	bitmap := Buffer(d, 0)
	if bitmap == nil || d.NullN() == 0 {
		return nil, 0
	}
	bits := t.bits(bitmap, d.Offset(), at)
	return memory.NewBufferBytes(bits), len(at) - bitutil.CountSetBits(bits, 0, len(at))
}

func (t *Taker) bits(bitmap []byte, offset int, at []int32) []byte {
	out := t.buffers.Take((len(at) + 7) / 8)
	clear(out)
	for i, row := range at {
		if bitutil.BitIsSet(bitmap, offset+int(row)) {
			bitutil.SetBit(out, i)
		}
	}
	return out
}

func (t *Taker) fixed(data []byte, width, offset int, at []int32) []byte {
	out := t.buffers.Take(len(at) * width)
	if data == nil { // of nulls only
		clear(out)
		return out
	}
	switch width {
	case 4:
		gather[uint32](out, data[offset*width:], at)
	case 8:
		gather[uint64](out, data[offset*width:], at)
	default:
		for i, row := range at {
			from := (offset + int(row)) * width
			copy(out[i*width:(i+1)*width], data[from:])
		}
	}
	return out
}

// gather sets out to the values at the given places, of a width that needs no call for each.
func gather[T uint32 | uint64](out, data []byte, at []int32) {
	values, from := arrow.GetData[T](out), arrow.GetData[T](data)
	for i, row := range at {
		values[i] = from[row]
	}
}

// offsets returns the offsets of d, those of the values at the given places behind each other, and where the last of these ends.
func offsets[T int32 | int64](t *Taker, d arrow.ArrayData, at []int32) (old, made []T, end T) {
	old = arrow.GetData[T](Buffer(d, 1))
	old = old[min(d.Offset(), len(old)):]
	made = arrow.GetData[T](t.buffers.Take((len(at) + 1) * int(unsafe.Sizeof(end))))
	for i, row := range at {
		made[i] = end
		end += old[row+1] - old[row]
	}
	made[len(at)] = end
	return old, made, end
}

// block is a number of bytes that are copied at once.
const block = 32

func binary[T int32 | int64](t *Taker, d arrow.ArrayData, at []int32) []*memory.Buffer {
	old, made, size := offsets[T](t, d, at)
	data, values := Buffer(d, 2), t.buffers.Take(int(size)+block)
	for i, row := range at {
		from, to := int(old[row]), int(old[row+1])
		// Texts of up to 32 bytes are copied without a call and without a branch by their lengths, with what is behind them: the
		// next one overwrites that. So those of many rows can be waited for at the same time.
		if to-from <= block && from+block <= len(data) {
			*(*[block]byte)(values[made[i]:]) = *(*[block]byte)(data[from:])
		} else {
			copy(values[made[i]:], data[from:to])
		}
	}
	values = values[:size]
	return []*memory.Buffer{memory.NewBufferBytes(arrow.GetBytes(made)), memory.NewBufferBytes(values)}
}

func list[T int32 | int64](t *Taker, d arrow.ArrayData, at []int32) (*memory.Buffer, arrow.ArrayData) {
	old, made, size := offsets[T](t, d, at)
	elements := t.indices.Take(int(size))[:0]
	for _, row := range at {
		for e := old[row]; e < old[row+1]; e++ {
			elements = append(elements, int32(e))
		}
	}
	return memory.NewBufferBytes(arrow.GetBytes(made)), t.data(d.Children()[0], elements)
}
