package urlcols

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// description makes what describes a record to Arrow: a small value for every buffer and every array. For records of few rows that is
// most of the work, so the values are not allocated one by one, but as many at once as the record before had. They are made anew for
// every record, as they belong to whoever has it.
type description struct {
	// owner is told of every buffer that nobody refers to any more; nil where the buffers are nobody's, as those of the pipeline.
	owner memory.Allocator
	// made is the number of buffers of the record that are the owner's.
	made int

	buffers  []memory.Buffer
	pointers []*memory.Buffer
	datas    []array.Data
	children []arrow.ArrayData
}

// begin begins a record.
func (d *description) begin() {
	d.made = 0
	d.buffers, d.pointers = fresh(d.buffers), fresh(d.pointers)
	d.datas, d.children = fresh(d.datas), fresh(d.children)
}

// again begins a record in the place of the one before, which nobody may have any more.
func (d *description) again() {
	d.made = 0
	d.buffers, d.pointers = emptied(d.buffers), emptied(d.pointers)
	d.datas, d.children = emptied(d.datas), emptied(d.children)
}

func emptied[T any](s []T) []T {
	clear(s)
	return s[:0]
}

// fresh returns an empty slice with room for as many values as s has.
func fresh[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return make([]T, 0, len(s))
}

// some returns n zero values, which lie where they lie for good. What was taken since begin is counted, in any case.
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
