package processor

import (
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// lease gives a workspace back when nobody refers to any buffer of its record any more. Arrow counts the references of
// every buffer and tells its allocator when there is none left; the lease stands in the place of the allocator.
type lease struct {
	processor *Processor
	workspace *workspace
	inputs    []*memory.Buffer // retained: the record may share their memory
	buffers   atomic.Int64     // that have not been freed
}

// Free implements memory.Allocator.
func (l *lease) Free([]byte) {
	if l.buffers.Add(-1) > 0 {
		return
	}
	w := l.workspace
	l.workspace = nil
	for _, b := range l.inputs {
		b.Release()
	}
	l.processor.giveBack(w)
}

// Allocate implements memory.Allocator. Nobody calls it: buffers are not mutable.
func (*lease) Allocate(size int) []byte { return make([]byte, size) }

// Reallocate implements memory.Allocator. Nobody calls it.
func (*lease) Reallocate(size int, b []byte) []byte {
	return append(make([]byte, 0, size), b...)[:size]
}

// lend returns the record with buffers that give w back. bases may be nil.
func lend(p *Processor, w *workspace, made arrow.Record, urls, bases arrow.Array) arrow.Record {
	l := &lease{processor: p, workspace: w}
	l.buffers.Store(1) // held until all buffers are counted
	l.keep(urls)
	if bases != nil {
		l.keep(bases)
	}
	columns := make([]arrow.Array, made.NumCols())
	for i, c := range made.Columns() {
		data := l.own(c.Data())
		columns[i] = array.MakeFromData(data)
		data.Release()
	}
	out := array.NewRecord(made.Schema(), columns, made.NumRows())
	for _, c := range columns {
		c.Release()
	}
	l.Free(nil)
	return out
}

// keep retains the buffers of an array of the input: the column url or base_url may be its text.
func (l *lease) keep(a arrow.Array) {
	for _, b := range a.Data().Buffers() {
		if b != nil {
			b.Retain()
			l.inputs = append(l.inputs, b)
		}
	}
}

// own returns d with buffers of the lease.
func (l *lease) own(d arrow.ArrayData) *array.Data {
	buffers := make([]*memory.Buffer, len(d.Buffers()))
	for i, b := range d.Buffers() {
		if b != nil {
			l.buffers.Add(1)
			buffers[i] = memory.NewBufferWithAllocator(b.Bytes(), l)
		}
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, c := range d.Children() {
		children[i] = l.own(c)
	}
	data := array.NewData(d.DataType(), d.Len(), buffers, children, d.NullN(), d.Offset())
	for _, b := range buffers {
		if b != nil {
			b.Release() // data has retained it
		}
	}
	for _, c := range children {
		c.Release()
	}
	return data
}
