package main

/*
#include "border.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/urlmill/urlmill/pipeline/processor"
)

// What a host gives is looked at once, before anything is read by it: a fault in memory ends the process of the host. What the
// interface does not tell, how long buffers are and where pointers lead, cannot be checked.
const (
	maxDepth = 64      // of children and dictionaries: they may lead back to where they come from
	maxNodes = 1 << 20 // of an array or a schema, and the pointers of one
	maxRows  = 1 << 40 // far more than there is memory for; the bytes of as many rows can still be counted
	maxBytes = 1 << 47 // of a buffer, likewise
)

// broken returns an error about what the host has given.
func broken(format string, args ...any) error {
	return fmt.Errorf("urlmill: the input breaks the Arrow C Data Interface: %w", fmt.Errorf(format, args...))
}

// named says that an array of the processor's was malformed: it is the host's.
func named(err error) error {
	if errors.Is(err, processor.ErrMalformed) {
		return broken("%w", err)
	}
	return err
}

// checker goes over the nodes of an array or a schema.
type checker struct {
	what  string
	nodes int
	path  []int // numbers of children; -1 for a dictionary
	room  [8]int
}

func newChecker(what string) *checker {
	c := &checker{what: what}
	c.path = c.room[:0]
	return c
}

// fault returns an error about the node at the path.
func (c *checker) fault(format string, args ...any) error {
	var where strings.Builder
	for i := len(c.path) - 1; i >= 0; i-- {
		if c.path[i] < 0 {
			where.WriteString("the dictionary of ")
		} else {
			fmt.Fprintf(&where, "child %d of ", c.path[i])
		}
	}
	return broken("%s%s %s", where.String(), c.what, fmt.Sprintf(format, args...))
}

// enter counts a node.
func (c *checker) enter(missing bool) error {
	switch c.nodes++; {
	case missing:
		return c.fault("is missing")
	case len(c.path) > maxDepth:
		c.path = nil
		return c.fault("has more than %d levels of children and dictionaries", maxDepth)
	case c.nodes > maxNodes:
		c.path = nil
		return c.fault("has more than %d children", maxNodes)
	}
	return nil
}

// count checks the number of what pointers lead to.
func (c *checker) count(n C.int64_t, pointers unsafe.Pointer, what string) error {
	switch {
	case n < 0 || n > maxNodes:
		return c.fault("has %d %s", int64(n), what)
	case n > 0 && pointers == nil:
		return c.fault("has %d %s, and no pointers to them", int64(n), what)
	}
	return nil
}

// below checks a child or a dictionary.
func (c *checker) below(child int, check func() error) error {
	c.path = append(c.path, child)
	err := check()
	if err == nil {
		c.path = c.path[:len(c.path)-1]
	}
	return err
}

func checkSchema(s *C.struct_ArrowSchema) error { return newChecker("the schema").schema(s) }

func (c *checker) schema(s *C.struct_ArrowSchema) error {
	if err := c.enter(s == nil); err != nil {
		return err
	}
	switch {
	case s.release == nil:
		return c.fault("has been released")
	case s.format == nil:
		return c.fault("has no format")
	}
	if err := c.count(s.n_children, unsafe.Pointer(s.children), "children"); err != nil {
		return err
	}
	if err := c.metadata(unsafe.Pointer(s.metadata)); err != nil {
		return err
	}
	for i, child := range unsafe.Slice(s.children, s.n_children) {
		if err := c.below(i, func() error { return c.schema(child) }); err != nil {
			return err
		}
	}
	if s.dictionary != nil {
		return c.below(-1, func() error { return c.schema(s.dictionary) })
	}
	return nil
}

// metadata checks the numbers of the metadata: that of pairs, and the length of every key and value.
func (c *checker) metadata(m unsafe.Pointer) error {
	if m == nil {
		return nil
	}
	next := func() (n int32) {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&n)), 4), unsafe.Slice((*byte)(m), 4)) // which need not be aligned
		m = unsafe.Add(m, 4)
		return n
	}
	pairs := next()
	if pairs < 0 || pairs > maxNodes {
		return c.fault("has metadata of %d pairs", pairs)
	}
	for range 2 * pairs {
		n := next()
		if n < 0 {
			return c.fault("has metadata with a text of %d bytes", n)
		}
		m = unsafe.Add(m, n)
	}
	return nil
}

func checkArray(a *C.struct_ArrowArray) error { return newChecker("the array").array(a) }

func (c *checker) array(a *C.struct_ArrowArray) error {
	if err := c.enter(a == nil); err != nil {
		return err
	}
	switch {
	case a.release == nil:
		return c.fault("has been released")
	case a.length < 0 || a.length > maxRows:
		return c.fault("has %d rows", int64(a.length))
	case a.offset < 0 || a.offset > maxRows:
		return c.fault("begins at row %d", int64(a.offset))
	case a.null_count < -1 || a.null_count > a.length:
		return c.fault("has %d rows, of which %d are null", int64(a.length), int64(a.null_count))
	}
	if err := c.count(a.n_buffers, unsafe.Pointer(a.buffers), "buffers"); err != nil {
		return err
	}
	if err := c.count(a.n_children, unsafe.Pointer(a.children), "children"); err != nil {
		return err
	}
	for i, child := range unsafe.Slice(a.children, a.n_children) {
		if err := c.below(i, func() error { return c.array(child) }); err != nil {
			return err
		}
	}
	if a.dictionary != nil {
		return c.below(-1, func() error { return c.array(a.dictionary) })
	}
	return nil
}

// checkBatch checks a record batch, which has as many columns as its schema, and each of them the rows of the batch.
func checkBatch(a *C.struct_ArrowArray, columns int) error {
	if int(a.n_children) != columns {
		return broken("the array has %d children, and its schema %d", int(a.n_children), columns)
	}
	for i, child := range unsafe.Slice(a.children, a.n_children) {
		if rows := a.offset + a.length; child.length < rows {
			return broken("child %d of the array has %d rows, and the array needs %d of it", i, int64(child.length), int64(rows))
		}
	}
	return nil
}
