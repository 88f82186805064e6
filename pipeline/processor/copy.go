package processor

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// alignment is what Arrow recommends for buffers, in bytes.
const alignment = 64

// copied returns arrays like the views, in memory of their own, which is as large as they need and the garbage collector's.
func copied(views []arrow.ArrayData) []arrow.Array {
	size := 0
	for _, v := range views {
		size += sizeOf(v)
	}
	space := make([]byte, size)
	columns := make([]arrow.Array, len(views))
	for i, v := range views {
		columns[i] = array.MakeFromData(moved(v, &space)) // has the only reference: moved gives none
	}
	return columns
}

// sizeOf returns the bytes that moved takes.
func sizeOf(d arrow.ArrayData) (size int) {
	for _, b := range d.Buffers() {
		if b != nil {
			size += (b.Len() + alignment - 1) / alignment * alignment
		}
	}
	for _, c := range d.Children() {
		size += sizeOf(c)
	}
	return size
}

// moved returns a copy of d whose buffers lie at the front of space, which it takes away.
func moved(d arrow.ArrayData, space *[]byte) arrow.ArrayData {
	buffers := make([]*memory.Buffer, len(d.Buffers()))
	for i, b := range d.Buffers() {
		if b != nil {
			n := copy(*space, b.Bytes())
			buffers[i] = memory.NewBufferBytes((*space)[:n:n])
			*space = (*space)[(n+alignment-1)/alignment*alignment:]
		}
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, c := range d.Children() {
		children[i] = moved(c, space)
	}
	to := new(array.Data) // without a reference
	to.Reset(d.DataType(), d.Len(), buffers, children, d.NullN(), d.Offset())
	return to
}
