package rowbuf

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
)

// Kind is the layout of a column.
type Kind uint8

const (
	// Fixed columns have Width bytes a value in Data, in the machine's byte order as Arrow has them.
	Fixed Kind = iota
	// Bits columns have one entry a value in Bools.
	Bits
	// Binary columns have value i at Data[Offsets[i]:Offsets[i+1]].
	Binary
	// List columns have the elements of value i at Offsets[i]:Offsets[i+1] of their only child.
	List
	// Struct columns have one value in each child for each of their own.
	Struct
)

// Column is a column of a [Buffer]. What value stands in the place of a null is not said. All slices belong to
// the buffer and are valid until its Reset.
type Column struct {
	Field arrow.Field
	Kind  Kind
	Width int // of Fixed
	// Inside says that a null may stand in the place of a value that cannot be null, because a struct
	// around it is null.
	Inside bool

	Len      int
	Nulls    int
	Valid    []bool // one entry a value if Field.Nullable or Inside, else empty
	Data     []byte // never nil, so that no value is nil either
	Bools    []bool
	Offsets  []int32
	Children []*Column
}

// newColumn returns an empty column for a field.
func newColumn(f arrow.Field, inside bool) (*Column, error) {
	c := &Column{Field: f, Data: []byte{}, Inside: inside}
	var children []arrow.Field
	switch dt := f.Type.(type) {
	case *arrow.BooleanType:
		c.Kind = Bits
	case *arrow.StringType, *arrow.BinaryType, *arrow.LargeStringType, *arrow.LargeBinaryType:
		c.Kind = Binary
	case *arrow.ListType:
		c.Kind, children = List, []arrow.Field{dt.ElemField()}
	case *arrow.LargeListType:
		c.Kind, children = List, []arrow.Field{dt.ElemField()}
	case *arrow.MapType:
		c.Kind, children = List, []arrow.Field{dt.ElemField()}
	case *arrow.StructType:
		c.Kind, children = Struct, dt.Fields()
		if len(children) == 0 {
			return nil, fmt.Errorf("column %s: a struct without fields holds nothing", f.Name)
		}
	case arrow.FixedWidthDataType:
		if f.Type.ID() == arrow.DICTIONARY || f.Type.ID() == arrow.EXTENSION || dt.BitWidth()%8 != 0 {
			return nil, fmt.Errorf("column %s: type %s is not supported", f.Name, f.Type)
		}
		c.Kind, c.Width = Fixed, dt.BitWidth()/8
	default:
		return nil, fmt.Errorf("column %s: type %s is not supported", f.Name, f.Type)
	}
	inside = inside || c.Kind == Struct && f.Nullable
	for _, field := range children {
		child, err := newColumn(field, inside)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name, err)
		}
		c.Children = append(c.Children, child)
	}
	c.reset()
	return c, nil
}

// reset empties the column and keeps its memory.
func (c *Column) reset() {
	c.Len, c.Nulls = 0, 0
	c.Valid, c.Data, c.Bools = c.Valid[:0], c.Data[:0], c.Bools[:0]
	if c.Kind == Binary || c.Kind == List {
		c.Offsets = append(c.Offsets[:0], 0)
	}
	for _, child := range c.Children {
		child.reset()
	}
}

// free empties the column and lets go of its memory.
func (c *Column) free() {
	c.Valid, c.Data, c.Bools, c.Offsets = nil, []byte{}, nil, nil
	for _, child := range c.Children {
		child.free()
	}
	c.reset()
}

// Bytes returns the size of the column and its children in memory.
func (c *Column) Bytes() int64 {
	n := int64(len(c.Valid) + len(c.Data) + len(c.Bools) + 4*max(0, len(c.Offsets)-1))
	for _, child := range c.Children {
		n += child.Bytes()
	}
	return n
}

// capacity returns the memory held.
func (c *Column) capacity() int64 {
	n := int64(cap(c.Valid)+cap(c.Data)+cap(c.Bools)) + 4*int64(cap(c.Offsets))
	for _, child := range c.Children {
		n += child.capacity()
	}
	return n
}
