package main

/*
#include "border.h"
*/
import "C"

import (
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
)

// export makes *out the struct of columns, and of views of the arrays along, each of which is rows w of its array. The buffers of the
// columns are those of l, or copies where l holds no record. l is released with *out; it may be nil where there are no views.
func (l *lent) export(columns []arrow.ArrayData, rows int, along []view, out *C.struct_ArrowArray) error {
	nodes, pointers, bytes := 0, 1+len(columns)+len(along), 0
	for _, c := range columns {
		count(c, &nodes, &pointers)
	}
	for _, v := range along {
		countViews(v.array, &nodes, &pointers)
	}
	var handle C.uintptr_t
	if l != nil {
		handle = C.uintptr_t(l.handle)
	}
	var room [64][]byte
	copies := room[:0]
	if l == nil || l.record == nil {
		for _, c := range columns {
			copies = contents(c, copies)
		}
		for _, b := range copies {
			bytes += aligned(len(b))
		}
	}
	block := C.urlmill_block_new(C.size_t(nodes), C.size_t(pointers), C.size_t(bytes), handle, out)
	if block == nil {
		if l != nil {
			l.release()
		}
		return errMemory
	}
	e := &exporter{nodes: unsafe.Slice(block.nodes, nodes), pointers: unsafe.Slice(block.pointers, pointers)}
	var places [64]unsafe.Pointer
	if l == nil || l.record == nil {
		e.buffers = copied(copies, unsafe.Slice((*byte)(unsafe.Pointer(block.copies)), bytes), places[:0])
	} else {
		e.buffers = l.buffers
	}
	children := e.start(out, rows, 0, 0, 1, len(columns)+len(along))
	for i, c := range columns {
		e.data(c, children[i])
	}
	for i, v := range along {
		node := children[len(columns)+i]
		e.view(v.array, node)
		if (window{int(node.offset), int(node.length)}) != v.rows {
			node.offset, node.length = C.int64_t(v.rows.offset), C.int64_t(v.rows.length)
			if node.null_count != 0 {
				node.null_count = -1 // unknown
			}
		}
	}
	return nil
}

// aligned is what n bytes of a block take.
func aligned(n int) int { return (n + 63) / 64 * 64 }

// contents appends the buffers of d and of its children, in the order of walk.
func contents(d arrow.ArrayData, to [][]byte) [][]byte {
	for _, b := range d.Buffers() {
		if b == nil {
			to = append(to, nil)
		} else {
			to = append(to, b.Bytes())
		}
	}
	for _, c := range d.Children() {
		to = contents(c, to)
	}
	return to
}

// copied copies buffers into the memory of a block, and appends where they are there, nil for empty ones.
func copied(buffers [][]byte, block []byte, to []unsafe.Pointer) []unsafe.Pointer {
	for _, b := range buffers {
		if len(b) == 0 {
			to = append(to, nil)
			continue
		}
		copy(block, b)
		to = append(to, unsafe.Pointer(unsafe.SliceData(block)))
		block = block[aligned(len(b)):]
	}
	return to
}

// view is some rows of an array of the host's.
type view struct {
	array *C.struct_ArrowArray
	rows  window
}

// count adds the nodes and pointers that d needs.
func count(d arrow.ArrayData, nodes, pointers *int) {
	*nodes++
	*pointers += len(d.Buffers()) + len(d.Children())
	for _, c := range d.Children() {
		count(c, nodes, pointers)
	}
}

func countViews(a *C.struct_ArrowArray, nodes, pointers *int) {
	*nodes++
	*pointers += int(a.n_children)
	for _, c := range unsafe.Slice(a.children, a.n_children) {
		countViews(c, nodes, pointers)
	}
	if a.dictionary != nil {
		countViews(a.dictionary, nodes, pointers)
	}
}

// zeros is what empty buffers point at.
var zeros = C.urlmill_zeros()

// exporter hands out the nodes and pointers of a block, and the buffers of a loan.
type exporter struct {
	buffers  []unsafe.Pointer
	nodes    []C.struct_ArrowArray
	pointers []unsafe.Pointer
}

func (e *exporter) node() *C.struct_ArrowArray {
	n := &e.nodes[0]
	e.nodes = e.nodes[1:]
	return n
}

func (e *exporter) take(n int) []unsafe.Pointer {
	p := e.pointers[:n:n]
	e.pointers = e.pointers[n:]
	return p
}

// start fills in a node with pointers to buffers that are still null and to children, which it returns.
func (e *exporter) start(n *C.struct_ArrowArray, length, nulls, offset, buffers, children int) []*C.struct_ArrowArray {
	n.length, n.null_count, n.offset = C.int64_t(length), C.int64_t(nulls), C.int64_t(offset)
	n.n_buffers, n.n_children = C.int64_t(buffers), C.int64_t(children)
	if buffers > 0 {
		n.buffers = (*unsafe.Pointer)(unsafe.Pointer(unsafe.SliceData(e.take(buffers))))
	}
	return e.children(n, children)
}

func (e *exporter) children(n *C.struct_ArrowArray, count int) []*C.struct_ArrowArray {
	n.n_children = C.int64_t(count)
	if count == 0 {
		n.children = nil
		return nil
	}
	n.children = (**C.struct_ArrowArray)(unsafe.Pointer(unsafe.SliceData(e.take(count))))
	children := unsafe.Slice(n.children, count)
	for i := range children {
		children[i] = e.node()
	}
	return children
}

// data fills in a node with an array of ours.
func (e *exporter) data(d arrow.ArrayData, n *C.struct_ArrowArray) {
	children := e.start(n, d.Len(), d.NullN(), d.Offset(), len(d.Buffers()), len(d.Children()))
	pointers := unsafe.Slice(n.buffers, len(d.Buffers()))
	for i := range pointers {
		if pointers[i] = e.buffers[i]; pointers[i] == nil && i > 0 {
			pointers[i] = zeros
		}
	}
	e.buffers = e.buffers[len(pointers):]
	for i, c := range d.Children() {
		e.data(c, children[i])
	}
}

// view fills in a node with an array of the host's: the same buffers, and nodes of our own, which the host may move and
// release one by one.
func (e *exporter) view(a, n *C.struct_ArrowArray) {
	release, owner := n.release, n.private_data
	*n = *a
	n.release, n.private_data = release, owner
	given := unsafe.Slice(a.children, a.n_children)
	for i, c := range e.children(n, len(given)) {
		e.view(given[i], c)
	}
	if a.dictionary != nil {
		n.dictionary = e.node()
		e.view(a.dictionary, n.dictionary)
	}
}
