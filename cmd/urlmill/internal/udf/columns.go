package udf

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// parts are the bytes of columns in Native, in their order: those of a column of texts are one part, of a column with nulls two, and
// so on. Each grows by rows, and behind one another they are a block.
type parts [][]byte

// clear makes p the parts of columns without rows. One large block does not hold its memory for ever.
func (p *parts) clear(columns []column) {
	if *p == nil {
		for _, c := range columns {
			*p = append(*p, make(parts, c.all.parts)...)
		}
	}
	for i, part := range *p {
		if (*p)[i] = part[:0]; cap(part) > batchBytes {
			(*p)[i] = nil
		}
	}
}

// adder appends arrays of a type to the first parts of some.
type adder struct {
	parts int // that belong to it
	add   func(parts, arrow.Array)
}

// adderOf returns the adder of a field with a type that typeOf knows. ClickHouse has no null arrays: they are empty.
func adderOf(f arrow.Field) adder {
	values := adderOfType(f.Type)
	if !f.Nullable || isList(f.Type) {
		return values
	}
	// A byte for each row before all values.
	return adder{1 + values.parts, func(to parts, a arrow.Array) {
		nulls := zeros(&to[0], a.Len())
		for i := 0; i < len(nulls) && a.NullN() > 0; i++ {
			if a.IsNull(i) {
				nulls[i] = 1
			}
		}
		values.add(to[1:], a)
	}}
}

// zeros appends n zeros and returns them.
func zeros(to *[]byte, n int) []byte {
	at := len(*to)
	*to = slices.Grow(*to, n)[:at+n]
	clear((*to)[at:])
	return (*to)[at:]
}

// adderOfType returns the adder of a type without its nulls, which are any value, and texts and lists without length.
func adderOfType(t arrow.DataType) adder {
	switch t := t.(type) {
	case *arrow.ListType:
		return listAdder(t.ElemField())
	case *arrow.StructType:
		return structAdder(t)
	case *arrow.BooleanType:
		return adder{1, func(to parts, a arrow.Array) {
			values := zeros(&to[0], a.Len())
			for i := range values {
				if a.(*array.Boolean).Value(i) {
					values[i] = 1
				}
			}
		}}
	case arrow.FixedWidthDataType: // as in memory, where numbers are little endian
		width := t.Bytes()
		return adder{1, func(to parts, a arrow.Array) {
			d := a.Data()
			to[0] = append(to[0], d.Buffers()[1].Bytes()[d.Offset()*width:(d.Offset()+d.Len())*width]...)
		}}
	}
	return adder{1, func(to parts, a arrow.Array) { to[0] = appendTexts(to[0], a) }}
}

// few is how many bytes are copied at once, without a call.
const few = 32

// copyText copies the first n bytes of from, and up to few more where both have room behind them.
func copyText(to, from []byte, n int) {
	if n > 4*few || n+few > min(len(to), len(from)) {
		copy(to, from[:n])
		return
	}
	p, q := unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(from))
	for i := 0; i < n; i += few {
		a, b := *(*[few / 2]byte)(unsafe.Add(q, i)), *(*[few / 2]byte)(unsafe.Add(q, i+few/2))
		*(*[few / 2]byte)(unsafe.Add(p, i)), *(*[few / 2]byte)(unsafe.Add(p, i+few/2)) = a, b
	}
}

// appendTexts appends texts with their length before each.
func appendTexts(dst []byte, a arrow.Array) []byte {
	n := a.Len()
	if n == 0 {
		return dst
	}
	d := a.Data()
	offsets := arrow.Int32Traits.CastFromBytes(d.Buffers()[1].Bytes())[d.Offset() : d.Offset()+n+1]
	var data []byte
	if b := d.Buffers()[2]; b != nil {
		data = b.Bytes()
	}
	at, begin := len(dst), offsets[0]
	dst = slices.Grow(dst, int(offsets[n]-begin)+n*binary.MaxVarintLen32+few)
	dst = dst[:cap(dst)]
	for _, end := range offsets[1:] {
		if length := end - begin; length < 1<<7 {
			dst[at] = byte(length)
			at++
		} else {
			at += binary.PutUvarint(dst[at:], uint64(length))
		}
		copyText(dst[at:], data[begin:], int(end-begin))
		at += int(end - begin)
		begin = end
	}
	return dst[:at]
}

// listAdder is where the values of each row end, and the values of all rows.
func listAdder(elem arrow.Field) adder {
	values := adderOf(elem)
	return adder{1 + values.parts, func(to parts, a arrow.Array) {
		list, before := a.(*array.List), uint64(0)
		n := list.Len()
		if n == 0 {
			return
		}
		if k := len(to[0]); k > 0 {
			before = binary.LittleEndian.Uint64(to[0][k-8:])
		}
		first, _ := list.ValueOffsets(0)
		_, last := list.ValueOffsets(n - 1)
		for i := range n {
			_, end := list.ValueOffsets(i)
			to[0] = binary.LittleEndian.AppendUint64(to[0], before+uint64(end-first))
		}
		part := array.NewSlice(list.ListValues(), first, last)
		defer part.Release()
		values.add(to[1:], part)
	}}
}

func structAdder(t *arrow.StructType) adder {
	fields, n := make([]adder, t.NumFields()), 0
	for j, f := range t.Fields() {
		fields[j] = adderOf(f)
		n += fields[j].parts
	}
	return adder{n, func(to parts, a arrow.Array) {
		for j, field := range fields {
			field.add(to, a.(*array.Struct).Field(j))
			to = to[field.parts:]
		}
	}}
}
