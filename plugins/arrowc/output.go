package main

/*
#include "border.h"
*/
import "C"

import (
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
)

// export makes *out the struct of the columns of r, and of views of the arrays along, each of which is rows w of its array. It
// takes the reference to r, and retains in, which the arrays along belong to.
func (p *shared) export(r arrow.Record, in *input, along []view, out *C.struct_ArrowArray) error {
	nodes, pointers := 0, 1
	for _, c := range r.Columns() {
		count(c.Data(), &nodes, &pointers)
	}
	for _, v := range along {
		countViews(v.array, &nodes, &pointers)
	}
	pointers += int(r.NumCols()) + len(along)
	l := p.lend(r, in)
	block := C.urlmill_block_new(C.size_t(nodes), C.size_t(pointers), out)
	if block == nil {
		l.release()
		return errMemory
	}
	block.handle = C.uintptr_t(l.handle)
	e := &exporter{
		buffers: l.buffers,
		nodes:   unsafe.Slice(block.nodes, nodes), pointers: unsafe.Slice(block.pointers, pointers),
	}
	children := e.start(out, int(r.NumRows()), 0, 0, 1, int(r.NumCols())+len(along))
	for i, c := range r.Columns() {
		e.data(c.Data(), children[i])
	}
	for i, v := range along {
		e.view(v.array, children[int(r.NumCols())+i])
		node := children[int(r.NumCols())+i]
		if (window{int(node.offset), int(node.length)}) != v.rows {
			node.offset, node.length = C.int64_t(v.rows.offset), C.int64_t(v.rows.length)
			if node.null_count != 0 {
				node.null_count = -1 // unknown
			}
		}
	}
	return nil
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
