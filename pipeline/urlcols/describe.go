package urlcols

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// description makes what describes a record to Arrow: a small value for every buffer and every array. For records of few rows that is
// most of the work, so the values are not allocated one by one, but as many at once as the record before had.
type description struct {
	// owner is told of every buffer that nobody refers to any more; nil where the buffers are nobody's, as those of the pipeline.
	owner memory.Allocator
	// made is the number of buffers of the record that are the owner's.
	made int

	buffers  []memory.Buffer
	pointers []*memory.Buffer
	datas    []array.Data
	children []arrow.ArrayData

	had struct{ buffers, pointers, datas, children int } // of the record before
}

// begin begins a record. What the one before was described with serves again, if that was only looked at.
func (d *description) begin() {
	d.made = 0
	d.buffers, d.pointers = room(d.buffers, d.had.buffers), room(d.pointers, d.had.pointers)
	d.datas, d.children = room(d.datas, d.had.datas), room(d.children, d.had.children)
}

func room[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, 0, n)
	}
	return s
}

// end ends a record. It is lent, and who has it has its description as well; or it was only looked at, and that was all.
func (d *description) end(lent bool) {
	d.had.buffers, d.had.pointers, d.had.datas, d.had.children = len(d.buffers), len(d.pointers), len(d.datas), len(d.children)
	if lent {
		d.buffers, d.pointers, d.datas, d.children = nil, nil, nil, nil
		return
	}
	d.buffers, d.pointers, d.datas, d.children = emptied(d.buffers), emptied(d.pointers), emptied(d.datas), emptied(d.children)
}

// emptied returns s without values, which refer to memory that may be another's from now on.
func emptied[T any](s []T) []T {
	clear(s)
	return s[:0]
}

// some returns n zero values, which lie where they lie for good.
func some[T any](s *[]T, n int) []T {
	at := len(*s)
	if at+n > cap(*s) {
		*s = make([]T, at, at+max(n, 8)) // what was taken stays where it is
	}
	*s = (*s)[:at+n]
	return (*s)[at : at+n : at+n]
}

// buffer returns a buffer of b.
func (d *description) buffer(b []byte) *memory.Buffer {
	p := &some(&d.buffers, 1)[0]
	if d.owner == nil {
		*p = *memory.NewBufferBytes(b)
		return p
	}
	d.made++
	*p = *memory.NewBufferWithAllocator(b, d.owner)
	return p
}

// maybe is buffer, nil for nil.
func (d *description) maybe(b []byte) *memory.Buffer {
	if b == nil {
		return nil
	}
	return d.buffer(b)
}

func (d *description) ints32(v []int32) *memory.Buffer {
	return d.buffer(arrow.Int32Traits.CastToBytes(v))
}

func (d *description) ints64(v []int64) *memory.Buffer {
	return d.buffer(arrow.Int64Traits.CastToBytes(v))
}

// data describes an array. Who makes an array of it has its only reference.
func (d *description) data(t arrow.DataType, rows, nulls int, buffers ...*memory.Buffer) *array.Data {
	return d.nested(t, rows, nulls, buffers)
}

// nested is data with arrays below, whose references it takes over.
func (d *description) nested(t arrow.DataType, rows, nulls int, buffers []*memory.Buffer, children ...*array.Data) *array.Data {
	p, own := &some(&d.datas, 1)[0], some(&d.pointers, len(buffers))
	var below []arrow.ArrayData
	if len(children) > 0 {
		below = some(&d.children, len(children))
		for i, c := range children {
			below[i] = c
		}
	}
	p.Reset(t, rows, own, below, nulls, 0) // retains the children
	copy(own, buffers)                     // after Reset, which would retain them: the references are handed on
	return p
}
