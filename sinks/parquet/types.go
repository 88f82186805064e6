package parquet

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/float16"
	pq "github.com/parquet-go/parquet-go"
	pqformat "github.com/parquet-go/parquet-go/format"
)

// columnOf maps a column of a file, or what is within one, after the format's LogicalTypes.md with its rules for older files.
// def and rep are the levels of what holds it.
func columnOf(c *pq.Column, def, rep int) (*node, error) {
	if c.Repeated() { // a list without a group of its own
		return listOfNode(c, false, def, rep, func() (*node, error) { return valueOf(c, false, def+1, rep+1) })
	}
	if c.Optional() {
		def++
	}
	return valueOf(c, c.Optional(), def, rep)
}

// valueOf maps a column whatever its repetition is. def is the level of a value that is there.
func valueOf(c *pq.Column, nullable bool, def, rep int) (*node, error) {
	n := &node{def: def, field: arrow.Field{Name: c.Name(), Nullable: nullable}}
	if c.Leaf() {
		n.leaf = &leaf{index: c.Index(), name: strings.Join(c.Path(), "."), kind: c.Type().Kind()}
		var err error
		n.field.Type, err = typeOf(c.Type())
		return n, err
	}
	children := c.Columns()
	if len(children) == 0 {
		return nil, errors.New("there is no column within a group")
	}
	if logical := c.Type().LogicalType(); logical != nil && len(children) == 1 && children[0].Repeated() {
		entry := children[0]
		switch logical.Value.(type) {
		case *pqformat.ListType:
			return listOfNode(c, nullable, def, rep, func() (*node, error) { return elementOf(c, entry, def+1, rep+1) })
		case *pqformat.MapType:
			if pair := entry.Columns(); len(pair) == 2 && pair[0].Required() {
				return mapNodeOf(n, pair, rep)
			}
			return listOfNode(c, nullable, def, rep, func() (*node, error) { return elementOf(c, entry, def+1, rep+1) })
		}
	}
	n.kind = structNode
	var fields []arrow.Field
	for _, child := range children {
		below, err := columnOf(child, def, rep)
		if err != nil {
			return nil, err
		}
		n.children, fields = append(n.children, below), append(fields, below.field)
	}
	n.leaf, n.field.Type = n.children[0].leaf, arrow.StructOf(fields...)
	return n, nil
}

func listOfNode(c *pq.Column, nullable bool, def, rep int, element func() (*node, error)) (*node, error) {
	e, err := element()
	if err != nil {
		return nil, err
	}
	return &node{
		kind: listNode, def: def, rep: rep + 1, children: []*node{e}, leaf: e.leaf,
		field: arrow.Field{Name: c.Name(), Nullable: nullable, Type: arrow.ListOfField(e.field)},
	}, nil
}

// elementOf maps the repeated column within a list: it is the element itself, or a group around it.
func elementOf(list, entry *pq.Column, def, rep int) (*node, error) {
	if !entry.Leaf() && len(entry.Columns()) == 1 && entry.Name() != "array" && entry.Name() != list.Name()+"_tuple" {
		return columnOf(entry.Columns()[0], def, rep)
	}
	return valueOf(entry, false, def, rep)
}

func mapNodeOf(n *node, pair []*pq.Column, rep int) (*node, error) {
	n.kind, n.rep = listNode, rep+1
	for _, c := range pair {
		below, err := columnOf(c, n.def+1, n.rep)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, below)
	}
	m := arrow.MapOf(n.children[0].field.Type, n.children[1].field.Type)
	m.SetItemNullable(n.children[1].field.Nullable)
	n.leaf, n.field.Type = n.children[0].leaf, m
	return n, nil
}

// typeOf maps the type of a leaf.
func typeOf(t pq.Type) (arrow.DataType, error) {
	if logical := t.LogicalType(); logical != nil {
		if dt := logicalType(t, logical.Value); dt != nil {
			return dt, nil
		}
	}
	switch t.Kind() {
	case pq.Boolean:
		return arrow.FixedWidthTypes.Boolean, nil
	case pq.Int32:
		return arrow.PrimitiveTypes.Int32, nil
	case pq.Int64:
		return arrow.PrimitiveTypes.Int64, nil
	case pq.Int96:
		return arrow.FixedWidthTypes.Timestamp_ns, nil
	case pq.Float:
		return arrow.PrimitiveTypes.Float32, nil
	case pq.Double:
		return arrow.PrimitiveTypes.Float64, nil
	case pq.ByteArray:
		return arrow.BinaryTypes.Binary, nil
	case pq.FixedLenByteArray:
		return &arrow.FixedSizeBinaryType{ByteWidth: t.Length()}, nil
	}
	return nil, fmt.Errorf("the type %s of Parquet is not known", t)
}

// logicalType returns nil for what its physical type says it all.
func logicalType(t pq.Type, logical any) arrow.DataType {
	switch l := logical.(type) {
	case *pqformat.StringType:
		return arrow.BinaryTypes.String
	case *pqformat.NullType:
		return arrow.Null
	case *pqformat.DateType:
		return arrow.FixedWidthTypes.Date32
	case *pqformat.Float16Type:
		return arrow.FixedWidthTypes.Float16
	case *pqformat.IntType:
		return intType(int(l.BitWidth), l.IsSigned)
	case *pqformat.TimeType:
		if unit := unitOf(l.Unit); unit == arrow.Millisecond {
			return &arrow.Time32Type{Unit: unit}
		}
		return &arrow.Time64Type{Unit: unitOf(l.Unit)}
	case *pqformat.TimestampType:
		ts := &arrow.TimestampType{Unit: unitOf(l.Unit)}
		if l.IsAdjustedToUTC {
			ts.TimeZone = "UTC"
		}
		return ts
	case *pqformat.DecimalType:
		if l.Precision <= 38 {
			return &arrow.Decimal128Type{Precision: l.Precision, Scale: l.Scale}
		}
		return &arrow.Decimal256Type{Precision: l.Precision, Scale: l.Scale}
	}
	return nil
}

func intType(bits int, isSigned bool) arrow.DataType {
	types := map[int][2]arrow.DataType{
		8:  {arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int8},
		16: {arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int16},
		32: {arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int32},
		64: {arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64},
	}
	if isSigned {
		return types[bits][1]
	}
	return types[bits][0]
}

func unitOf(u pqformat.TimeUnit) arrow.TimeUnit {
	switch u.Value.(type) {
	case *pqformat.MilliSeconds:
		return arrow.Millisecond
	case *pqformat.NanoSeconds:
		return arrow.Nanosecond
	}
	return arrow.Microsecond
}

// restore takes the fields that a file was written from, where they are of the same columns: they have wider texts, time
// zones, names of elements and metadata beyond what the format's own types say.
func restore(fields []arrow.Field, columns []*node, written *arrow.Schema) {
	if written == nil || len(written.Fields()) != len(fields) {
		return
	}
	for i, n := range columns {
		if f := written.Field(i); f.Name == n.field.Name && f.Nullable == n.field.Nullable && fits(f.Type, n) {
			fields[i] = f
		}
	}
}

// fits reports whether the values of a node can become those of a type.
func fits(t arrow.DataType, n *node) bool {
	switch t := t.(type) {
	case *arrow.StructType:
		return n.kind == structNode && slices.EqualFunc(t.Fields(), n.children, func(f arrow.Field, c *node) bool {
			return f.Name == c.field.Name && fits(f.Type, c)
		})
	case *arrow.MapType:
		return n.kind == listNode && len(n.children) == 2 && fits(t.KeyType(), n.children[0]) && fits(t.ItemType(), n.children[1])
	case *arrow.ListType:
		return n.kind == listNode && len(n.children) == 1 && fits(t.Elem(), n.children[0])
	case *arrow.LargeListType:
		return n.kind == listNode && len(n.children) == 1 && fits(t.Elem(), n.children[0])
	case *arrow.LargeStringType:
		return arrow.TypeEqual(n.field.Type, arrow.BinaryTypes.String)
	case *arrow.LargeBinaryType:
		return arrow.TypeEqual(n.field.Type, arrow.BinaryTypes.Binary)
	case *arrow.TimestampType:
		have, ok := n.field.Type.(*arrow.TimestampType)
		return ok && t.Unit == have.Unit && (t.TimeZone == "") == (have.TimeZone == "")
	}
	return n.kind == leafNode && arrow.TypeEqual(t, n.field.Type)
}

// putter returns what adds a value of a leaf to a builder.
func putter(b array.Builder, l *leaf) func(v *pq.Value) error {
	switch b := b.(type) {
	case *array.StringBuilder:
		return l.bytesTo(b.BinaryBuilder.Append)
	case *array.LargeStringBuilder:
		return l.bytesTo(b.BinaryBuilder.Append)
	case *array.BinaryBuilder:
		return l.bytesTo(b.Append)
	case *array.FixedSizeBinaryBuilder:
		return l.bytesTo(b.Append)
	case *array.Decimal128Builder:
		return l.decimalTo(func(i *big.Int) { b.Append(decimal128.FromBigInt(i)) }, 127)
	case *array.Decimal256Builder:
		return l.decimalTo(func(i *big.Int) { b.Append(decimal256.FromBigInt(i)) }, 255)
	}
	put := numberPutter(b, l.kind)
	return func(v *pq.Value) error {
		put(v)
		return nil
	}
}

func (l *leaf) bytesTo(put func([]byte)) func(v *pq.Value) error {
	return func(v *pq.Value) error {
		text := v.ByteArray()
		l.bytes += int64(len(text))
		put(text)
		return nil
	}
}

// decimalTo adds whole numbers of up to so many bits and a sign.
func (l *leaf) decimalTo(put func(*big.Int), bits int) func(v *pq.Value) error {
	return func(v *pq.Value) error {
		i := new(big.Int)
		switch l.kind {
		case pq.Int32:
			i.SetInt64(int64(v.Int32()))
		case pq.Int64:
			i.SetInt64(v.Int64())
		default: // two's complement, the highest byte first
			text := v.ByteArray()
			i.SetBytes(text)
			if len(text) > 0 && text[0]&0x80 != 0 {
				i.Sub(i, new(big.Int).Lsh(big.NewInt(1), uint(8*len(text))))
			}
		}
		if i.BitLen() > bits {
			return errors.New("a decimal has more digits than its column allows")
		}
		put(i)
		return nil
	}
}

// numberPutter is putter for types of fixed width.
func numberPutter(b array.Builder, kind pq.Kind) func(v *pq.Value) {
	switch b := b.(type) {
	case *array.NullBuilder:
		return func(*pq.Value) { b.AppendNull() }
	case *array.BooleanBuilder:
		return func(v *pq.Value) { b.Append(v.Boolean()) }
	case *array.Int8Builder:
		return func(v *pq.Value) { b.Append(int8(v.Int32())) }
	case *array.Uint8Builder:
		return func(v *pq.Value) { b.Append(uint8(v.Uint32())) }
	case *array.Int16Builder:
		return func(v *pq.Value) { b.Append(int16(v.Int32())) }
	case *array.Uint16Builder:
		return func(v *pq.Value) { b.Append(uint16(v.Uint32())) }
	case *array.Int32Builder:
		return func(v *pq.Value) { b.Append(v.Int32()) }
	case *array.Uint32Builder:
		return func(v *pq.Value) { b.Append(v.Uint32()) }
	case *array.Int64Builder:
		return func(v *pq.Value) { b.Append(v.Int64()) }
	case *array.Uint64Builder:
		return func(v *pq.Value) { b.Append(v.Uint64()) }
	case *array.Float32Builder:
		return func(v *pq.Value) { b.Append(v.Float()) }
	case *array.Float64Builder:
		return func(v *pq.Value) { b.Append(v.Double()) }
	case *array.Float16Builder:
		return func(v *pq.Value) { b.Append(float16.FromLEBytes(v.ByteArray())) }
	case *array.Date32Builder:
		return func(v *pq.Value) { b.Append(arrow.Date32(v.Int32())) }
	case *array.Time32Builder:
		return func(v *pq.Value) { b.Append(arrow.Time32(v.Int32())) }
	case *array.Time64Builder:
		return func(v *pq.Value) { b.Append(arrow.Time64(v.Int64())) }
	case *array.TimestampBuilder:
		if kind == pq.Int96 {
			return func(v *pq.Value) { b.Append(ofInt96(v)) }
		}
		return func(v *pq.Value) { b.Append(arrow.Timestamp(v.Int64())) }
	}
	panic(fmt.Sprintf("no column becomes %s", b.Type())) // by typeOf and fits
}

// ofInt96 returns a time in the form of older files: nanoseconds of a Julian day.
func ofInt96(v *pq.Value) arrow.Timestamp {
	const julianDayOf1970, day = 2440588, 86400e9
	n := v.Int96()
	return arrow.Timestamp((int64(n[2])-julianDayOf1970)*day + int64(uint64(n[1])<<32|uint64(n[0])))
}
