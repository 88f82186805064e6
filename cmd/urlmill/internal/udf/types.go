package udf

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// column is a column of the answer in ClickHouse's terms.
type column struct {
	name, kind string // kind is ClickHouse's type
	// bind returns what appends value i of an array of the column in RowBinary.
	bind func(arrow.Array) appender
	// all appends arrays of the column in Native.
	all adder
}

// appender appends value i to dst.
type appender func(dst []byte, i int) []byte

// newColumn returns the column of an Arrow field. ClickHouse has no null arrays: they are empty.
func newColumn(f arrow.Field) (column, error) {
	kind, bind, err := typeOf(f.Type)
	if err != nil {
		return column{}, fmt.Errorf("column %s: %w", f.Name, err)
	}
	c := column{name: f.Name, kind: kind, bind: bind, all: adderOf(f)}
	if f.Nullable && !isList(f.Type) {
		c.kind = "Nullable(" + kind + ")"
		c.bind = func(a arrow.Array) appender {
			value := bind(a)
			return func(dst []byte, i int) []byte {
				if a.IsNull(i) {
					return append(dst, 1)
				}
				return value(append(dst, 0), i)
			}
		}
	}
	return c, nil
}

func isList(t arrow.DataType) bool { return t.ID() == arrow.LIST || t.ID() == arrow.MAP }

// typeOf returns ClickHouse's name of a type, and how its values are written.
func typeOf(t arrow.DataType) (string, func(arrow.Array) appender, error) {
	switch t := t.(type) {
	case *arrow.StringType:
		return "String", func(a arrow.Array) appender {
			s := a.(*array.String)
			return func(dst []byte, i int) []byte { return appendText(dst, s.Value(i)) }
		}, nil
	case *arrow.BinaryType:
		return "String", func(a arrow.Array) appender {
			s := a.(*array.Binary)
			return func(dst []byte, i int) []byte { return appendText(dst, s.Value(i)) }
		}, nil
	case *arrow.FixedSizeBinaryType:
		return fmt.Sprintf("FixedString(%d)", t.ByteWidth), func(a arrow.Array) appender {
			s := a.(*array.FixedSizeBinary)
			return func(dst []byte, i int) []byte { return append(dst, s.Value(i)...) }
		}, nil
	case *arrow.ListType:
		return listType(t.ElemField())
	case *arrow.StructType:
		return tupleType(t.Fields())
	}
	return numberType(t)
}

func numberType(t arrow.DataType) (string, func(arrow.Array) appender, error) {
	switch t.ID() {
	case arrow.BOOL:
		return "Bool", func(a arrow.Array) appender {
			s := a.(*array.Boolean)
			return func(dst []byte, i int) []byte {
				if s.Value(i) {
					return append(dst, 1)
				}
				return append(dst, 0)
			}
		}, nil
	case arrow.INT32:
		return "Int32", func(a arrow.Array) appender {
			s := a.(*array.Int32)
			return func(dst []byte, i int) []byte { return binary.LittleEndian.AppendUint32(dst, uint32(s.Value(i))) }
		}, nil
	case arrow.INT64:
		return "Int64", func(a arrow.Array) appender {
			s := a.(*array.Int64)
			return func(dst []byte, i int) []byte { return binary.LittleEndian.AppendUint64(dst, uint64(s.Value(i))) }
		}, nil
	case arrow.FLOAT64:
		return "Float64", func(a arrow.Array) appender {
			s := a.(*array.Float64)
			return func(dst []byte, i int) []byte {
				return binary.LittleEndian.AppendUint64(dst, math.Float64bits(s.Value(i)))
			}
		}, nil
	}
	return "", nil, fmt.Errorf("there is no type of ClickHouse for %s", t)
}

// listType is an Array: the number of elements, and the elements.
func listType(elem arrow.Field) (string, func(arrow.Array) appender, error) {
	c, err := newColumn(elem)
	if err != nil {
		return "", nil, err
	}
	return "Array(" + c.kind + ")", func(a arrow.Array) appender {
		list := a.(*array.List)
		value := c.bind(list.ListValues())
		return func(dst []byte, i int) []byte {
			if list.IsNull(i) {
				return append(dst, 0)
			}
			from, to := list.ValueOffsets(i)
			dst = binary.AppendUvarint(dst, uint64(to-from))
			for j := from; j < to; j++ {
				dst = value(dst, int(j))
			}
			return dst
		}
	}, nil
}

// tupleType is a Tuple: its elements one after the other.
func tupleType(fields []arrow.Field) (string, func(arrow.Array) appender, error) {
	columns := make([]column, len(fields))
	for j, f := range fields {
		var err error
		if columns[j], err = newColumn(f); err != nil {
			return "", nil, err
		}
	}
	return tupleOf(columns), func(a arrow.Array) appender {
		s := a.(*array.Struct)
		values := make([]appender, len(columns))
		for j, c := range columns {
			values[j] = c.bind(s.Field(j))
		}
		return func(dst []byte, i int) []byte {
			for _, value := range values {
				dst = value(dst, i)
			}
			return dst
		}
	}, nil
}

func tupleOf(columns []column) string {
	elements := make([]string, len(columns))
	for j, c := range columns {
		elements[j] = c.name + " " + c.kind
	}
	return "Tuple(" + strings.Join(elements, ", ") + ")"
}

// ReturnType is ClickHouse's type of the function's result.
func (f *Function) ReturnType() string {
	if len(f.columns) == 1 {
		return f.columns[0].kind
	}
	return tupleOf(f.columns)
}

func appendText[T string | []byte](dst []byte, s T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}
