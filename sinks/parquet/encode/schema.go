package encode

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
	compact "github.com/apache/thrift/lib/go/thrift"
)

// Physical types of the format (parquet.thrift, Type).
const (
	typeBoolean   = 0
	typeInt32     = 1
	typeInt64     = 2
	typeFloat     = 4
	typeDouble    = 5
	typeByteArray = 6
	typeFixed     = 7
)

// order is how the values of a column compare.
type order uint8

const (
	unordered order = iota // there are no bounds
	signed
	unsigned
	float
	bytewise
)

// column is the part of the schema that concerns one leaf. It does not change once New has returned, so that every
// goroutine may read it.
type column struct {
	name     string   // dotted path, as in the file
	names    []string // the same, by part
	path     []node   // from the column of the record to the leaf
	maxDef   byte
	maxRep   byte
	physical int32
	width    int // bytes of a value in the file and in leaf.data, 0 for byte arrays and booleans
	order    order
	text     bool // UTF-8
	bloom    bool
	sortable bool
	source   source
}

// node is a step on the way to a leaf. A null of a nullable node has the definition level def-1, an empty list def, and an
// element of a list def+1 at least.
type node struct {
	kind     nodeKind
	child    int // index of the next step's data among the children
	nullable bool
	wide     bool   // 64-bit offsets
	def      byte   // definition level of a value that is not null
	rep      byte   // of a list: repetition level of its elements
	name     string // for errors
}

type nodeKind uint8

const (
	leafNode nodeKind = iota
	structNode
	listNode
)

// source is the form of the values in Arrow's buffer.
type source uint8

const (
	sourceBytes source = iota
	sourceBits
	sourceInt8
	sourceUint8
	sourceInt16
	sourceUint16
	sourceSeconds // to become milliseconds
	sourceSame    // as in the file, on a little-endian machine
)

// columnsOf returns the leaves of a schema and the elements of the footer's schema in Thrift's form. The Arrow schema
// decides how values are read, and root how they are written: the two are made by different code, and describe refuses a
// pair whose levels do not agree, since a reader would then see lists and nulls in the wrong rows.
func columnsOf(s *arrow.Schema, root *schema.GroupNode) ([]*column, []byte, int, error) {
	var columns []*column
	for _, f := range s.Fields() {
		c, err := leavesOf(f, nil, 0, 0)
		if err != nil {
			return nil, nil, 0, fmt.Errorf("column %s: %w", f.Name, err)
		}
		columns = append(columns, c...)
	}
	descr := schema.NewSchema(root)
	if descr.NumColumns() != len(columns) {
		return nil, nil, 0, fmt.Errorf("%d leaves for %d columns", len(columns), descr.NumColumns())
	}
	for i, c := range columns { // both count leaves depth first
		if err := c.describe(descr.Column(i)); err != nil {
			return nil, nil, 0, err
		}
	}
	elements := schema.ToThrift(root)
	mem := compact.NewTMemoryBuffer()
	protocol := compact.NewTCompactProtocolConf(mem, nil)
	for _, e := range elements {
		if err := e.Write(context.Background(), protocol); err != nil {
			return nil, nil, 0, err
		}
	}
	return columns, mem.Bytes(), len(elements), nil
}

// leavesOf returns the leaves of a field that is reached by path, with the levels def and rep.
func leavesOf(f arrow.Field, path []node, def, rep int) ([]*column, error) {
	n := node{nullable: f.Nullable, name: f.Name}
	if f.Nullable {
		def++
	}
	if def > 100 { // levels are bytes
		return nil, fmt.Errorf("more than 100 levels of nesting")
	}
	n.def = byte(def)
	var children []arrow.Field
	switch dt := f.Type.(type) {
	case *arrow.ListType:
		n.kind, children = listNode, []arrow.Field{dt.ElemField()}
	case *arrow.LargeListType:
		n.kind, n.wide, children = listNode, true, []arrow.Field{dt.ElemField()}
	case *arrow.MapType:
		n.kind, children = listNode, []arrow.Field{dt.ElemField()}
	case *arrow.StructType:
		n.kind, children = structNode, dt.Fields()
	default:
		c := &column{maxDef: byte(def), maxRep: byte(rep)}
		var err error
		n.wide, err = c.setSource(f.Type)
		// The full slice expression makes append copy: siblings share what is before them in the path, and an append in
		// place would overwrite the last node of a leaf that was returned before.
		c.path = append(path[:len(path):len(path)], n)
		return []*column{c}, err
	}
	if n.kind == listNode {
		def++
		rep++
		n.rep = byte(rep)
	}
	var leaves []*column
	for i, child := range children {
		n.child = i
		below, err := leavesOf(child, append(path[:len(path):len(path)], n), def, rep)
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, below...)
	}
	return leaves, nil
}

func (c *column) setSource(t arrow.DataType) (wide bool, err error) {
	c.source, c.order = sourceSame, signed
	switch t.ID() {
	case arrow.STRING, arrow.BINARY:
		c.source, c.order = sourceBytes, bytewise
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		c.source, c.order, wide = sourceBytes, bytewise, true
	case arrow.BOOL:
		c.source, c.order = sourceBits, unsigned
	case arrow.INT8:
		c.source = sourceInt8
	case arrow.UINT8:
		c.source, c.order = sourceUint8, unsigned
	case arrow.INT16:
		c.source = sourceInt16
	case arrow.UINT16:
		c.source, c.order = sourceUint16, unsigned
	case arrow.UINT32, arrow.UINT64:
		c.order = unsigned
	case arrow.FLOAT32, arrow.FLOAT64:
		c.order = float
	case arrow.FIXED_SIZE_BINARY:
		c.order = bytewise
	case arrow.TIMESTAMP:
		if t.(*arrow.TimestampType).Unit == arrow.Second {
			c.source = sourceSeconds
		}
	case arrow.INT32, arrow.INT64, arrow.DATE32:
	default:
		return false, fmt.Errorf("type %s is not supported", t)
	}
	c.text = t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING
	return wide, nil
}

// describe adds what the Parquet schema says of the leaf, and refuses one that does not fit what leavesOf has found.
func (c *column) describe(d *schema.Column) error {
	c.name, c.names = d.Path(), d.ColumnPath()
	if d.MaxDefinitionLevel() != int16(c.maxDef) || d.MaxRepetitionLevel() != int16(c.maxRep) {
		return fmt.Errorf("column %s: levels do not fit the schema", c.name)
	}
	switch d.PhysicalType() {
	case parquet.Types.Boolean:
		c.physical = typeBoolean
	case parquet.Types.Int32:
		c.physical, c.width = typeInt32, 4
	case parquet.Types.Int64:
		c.physical, c.width = typeInt64, 8
	case parquet.Types.Float:
		c.physical, c.width = typeFloat, 4
	case parquet.Types.Double:
		c.physical, c.width = typeDouble, 8
	case parquet.Types.ByteArray:
		c.physical = typeByteArray
	case parquet.Types.FixedLenByteArray:
		c.physical, c.width = typeFixed, d.TypeLength()
	default:
		return fmt.Errorf("column %s: Parquet type %s is not supported", c.name, d.PhysicalType())
	}
	if (c.source == sourceBytes) != (c.physical == typeByteArray) || (c.source == sourceBits) != (c.physical == typeBoolean) {
		return fmt.Errorf("column %s: its type does not fit the schema", c.name)
	}
	return nil
}

// levelWidth returns the bits of a level.
func levelWidth(highest byte) uint { return uint(bits.Len8(highest)) }
