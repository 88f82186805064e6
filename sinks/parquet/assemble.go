package parquet

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	pq "github.com/parquet-go/parquet-go"
)

// node is a column of records, or what is within one: the way back from the levels of the Dremel paper, see the format's
// documentation.
type node struct {
	kind     nodeKind
	field    arrow.Field
	def      int // definition level of a value that is there
	rep      int // of a list: repetition level of its elements but the first
	children []*node
	leaf     *leaf // the first below
	builder  array.Builder
}

type nodeKind uint8

const (
	leafNode nodeKind = iota
	structNode
	listNode // a map is one with two children
)

// errLevels is for levels that do not fit the schema or those of other columns.
var errLevels = errors.New("the levels of its values do not fit each other")

// appendRows adds what the next rows have of a column.
func (n *node) appendRows(rows int) error {
	for range rows {
		if err := n.append(0); err != nil {
			return fmt.Errorf("column %s: %w", n.leaf.name, err)
		}
	}
	return nil
}

// append adds one value. What holds it is there; rep is the repetition level that its first entry has.
func (n *node) append(rep int) error {
	v, err := n.leaf.peek()
	if err != nil {
		return err
	}
	def := v.DefinitionLevel()
	if def < n.def {
		if !n.field.Nullable {
			return errLevels
		}
		n.builder.AppendNull()
		return n.skip(rep)
	}
	switch n.kind {
	case leafNode:
		if v.RepetitionLevel() != rep {
			return errLevels
		}
		n.leaf.next++
		return n.leaf.put(v)
	case structNode:
		n.builder.(*array.StructBuilder).Append(true)
		for _, c := range n.children {
			if err := c.append(rep); err != nil {
				return err
			}
		}
		return nil
	}
	n.builder.(array.ListLikeBuilder).Append(true)
	if def == n.def {
		return n.skip(rep)
	}
	for {
		for _, c := range n.children {
			if err := c.append(rep); err != nil {
				return err
			}
		}
		rep = n.rep
		switch v, err := n.leaf.peek(); {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil // the last one of the row group
		case err != nil:
			return err
		case v.RepetitionLevel() < rep:
			return nil
		}
	}
}

// skip passes over the entries of a value that is not there, or has nothing within.
func (n *node) skip(rep int) error {
	for _, c := range n.children {
		if err := c.skip(rep); err != nil {
			return err
		}
	}
	if n.kind != leafNode {
		return nil
	}
	v, err := n.leaf.peek()
	if err == nil && v.RepetitionLevel() != rep {
		err = errLevels
	}
	n.leaf.next++
	return err
}

// bind has values go to a builder, and returns leaves with those below added.
func (n *node) bind(b array.Builder, leaves []*leaf) []*leaf {
	n.builder = b
	switch b := b.(type) {
	case *array.StructBuilder:
		for i, c := range n.children {
			leaves = c.bind(b.FieldBuilder(i), leaves)
		}
		return leaves
	case *array.MapBuilder:
		return n.children[1].bind(b.ItemBuilder(), n.children[0].bind(b.KeyBuilder(), leaves))
	case array.ListLikeBuilder:
		return n.children[0].bind(b.ValueBuilder(), leaves)
	}
	n.leaf.put = putter(b, n.leaf)
	return append(leaves, n.leaf)
}

// leaf reads the values of a column of the file.
type leaf struct {
	index int // among the columns of the file
	name  string
	kind  pq.Kind
	put   func(v *pq.Value) error // adds one to the builder

	pages  pq.Pages
	page   pq.Page
	values pq.ValueReader // nil where there are none left
	buffer []pq.Value
	next   int
	bytes  int64 // of the values that were added
}

// peek returns the next entry, which is valid until the one after the next. There is io.ErrUnexpectedEOF after the last.
func (l *leaf) peek() (*pq.Value, error) {
	for l.next == len(l.buffer) {
		if err := l.read(); err != nil {
			return nil, err
		}
	}
	return &l.buffer[l.next], nil
}

// more reports whether there is an entry left.
func (l *leaf) more() bool {
	_, err := l.peek()
	return err == nil
}

// read reads more entries.
func (l *leaf) read() error {
	if l.values == nil {
		l.release()
		page, err := l.pages.ReadPage()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		l.page, l.values = page, page.Values()
	}
	if l.buffer == nil {
		l.buffer = make([]pq.Value, 0, maxStep)
	}
	n, err := l.values.ReadValues(l.buffer[:cap(l.buffer)])
	l.buffer, l.next = l.buffer[:n], 0
	if errors.Is(err, io.EOF) {
		l.values, err = nil, nil
	}
	return err
}

func (l *leaf) release() {
	if l.page != nil {
		pq.Release(l.page)
		l.page = nil
	}
}

// close ends a row group.
func (l *leaf) close() {
	l.release()
	if l.pages != nil {
		_ = l.pages.Close() // nothing was written
	}
	l.pages, l.values, l.buffer, l.next = nil, nil, l.buffer[:0], 0
}
