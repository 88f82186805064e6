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

	buffers  lot[memory.Buffer]
	pointers lot[*memory.Buffer]
	datas    lot[array.Data]
	children lot[arrow.ArrayData]
}

// begin begins a record. What the one before was described with serves again, if that was only looked at.
func (d *description) begin() {
	d.made = 0
	d.buffers.begin()
	d.pointers.begin()
	d.datas.begin()
	d.children.begin()
}

// end ends a record. It is lent, and who has it has its description as well; or it was only looked at, and that was all.
func (d *description) end(lent bool) {
	d.buffers.end(lent)
	d.pointers.end(lent)
	d.datas.end(lent)
	d.children.end(lent)
}

// lot is the values of one type that describe a record.
type lot[T any] struct {
	values []T
	had    int // of the record before
}

func (l *lot[T]) begin() {
	if cap(l.values) < l.had {
		l.values = make([]T, 0, l.had)
	}
}

func (l *lot[T]) end(lent bool) {
	l.had = len(l.values)
	if lent {
		l.values = nil
		return
	}
	clear(l.values) // they refer to memory that may be another's from now on
	l.values = l.values[:0]
}

// take returns n zero values, which lie where they lie for good.
func (l *lot[T]) take(n int) []T {
	at := len(l.values)
	if at+n > cap(l.values) {
		l.values = make([]T, at, at+max(n, 8)) // what was taken stays where it is
	}
	l.values = l.values[:at+n]
	return l.values[at : at+n : at+n]
}

// buffer returns a buffer of b.
func (d *description) buffer(b []byte) *memory.Buffer {
	p := &d.buffers.take(1)[0]
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
	p, own := &d.datas.take(1)[0], d.pointers.take(len(buffers))
	var below []arrow.ArrayData
	if len(children) > 0 {
		below = d.children.take(len(children))
		for i, c := range children {
			below[i] = c
		}
	}
	p.Reset(t, rows, own, below, nulls, 0) // retains the children
	copy(own, buffers)                     // after Reset, which would retain them: the references are handed on
	return p
}
