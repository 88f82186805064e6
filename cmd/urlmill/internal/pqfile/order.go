package pqfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// order is how the values of a column follow each other, by the format's column orders.
type order struct {
	compare func(a, b parquet.Value) int // nil where the format defines none
	isNaN   func(parquet.Value) bool     // of values that bounds leave out
}

// orderOf returns the order of a column of type t, whose element of the schema is e. The library compares bytes without
// signs, whatever they stand for.
//
// https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift, ColumnOrder
func orderOf(t parquet.Type, e *format.SchemaElement) order {
	o := order{t.Compare, isNaN}
	isBytes := t.Kind() == parquet.ByteArray || t.Kind() == parquet.FixedLenByteArray
	converted := func(c deprecated.ConvertedType) bool { return e.ConvertedType.Valid && e.ConvertedType.V == c }
	switch logical := e.LogicalType.Value.(type) {
	case *format.DecimalType:
		if isBytes {
			o.compare = compareSigned
		}
	case *format.Float16Type:
		o = order{
			func(a, b parquet.Value) int { return cmp.Compare(float16(a), float16(b)) },
			func(v parquet.Value) bool { return math.IsNaN(float16(v)) },
		}
	case *format.GeometryType, *format.GeographyType, *format.VariantType:
		o.compare = nil
	default:
		switch {
		case t.Kind() == parquet.Int96, converted(deprecated.Interval):
			o.compare = nil
		case logical == nil && isBytes && converted(deprecated.Decimal):
			o.compare = compareSigned
		}
	}
	return o
}

// compareSigned compares numbers in two's complement, the highest byte first, of any lengths.
func compareSigned(a, b parquet.Value) int {
	x, y := a.ByteArray(), b.ByteArray()
	n := max(len(x), len(y), 1)
	x, y = extended(x, n), extended(y, n)
	return cmp.Or(cmp.Compare(int8(x[0]), int8(y[0])), bytes.Compare(x, y))
}

// extended returns a number with n bytes, the first of which repeat its sign.
func extended(number []byte, n int) []byte {
	if len(number) == n {
		return number
	}
	fill := byte(0)
	if len(number) > 0 && number[0] >= 0x80 {
		fill = 0xff
	}
	return append(bytes.Repeat([]byte{fill}, n-len(number)), number...)
}

// float16 is the value of IEEE 754's binary16, low byte first; NaN for what has another length.
func float16(v parquet.Value) float64 {
	b := v.ByteArray()
	if len(b) != 2 {
		return math.NaN()
	}
	bits := binary.LittleEndian.Uint16(b)
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	f := math.Ldexp(1024+fraction, exponent-25)
	switch exponent {
	case 0:
		f = math.Ldexp(fraction, -24)
	case 0x1f:
		if f = math.Inf(1); fraction != 0 {
			f = math.NaN()
		}
	}
	if bits >= 0x8000 {
		return -f
	}
	return f
}

// isText reports whether the schema says that a column is UTF-8.
func isText(e *format.SchemaElement) bool {
	switch e.LogicalType.Value.(type) {
	case *format.StringType, *format.JsonType, *format.EnumType:
		return true
	case nil:
		return e.ConvertedType.Valid && slices.Contains([]deprecated.ConvertedType{deprecated.UTF8, deprecated.Json, deprecated.Enum}, e.ConvertedType.V)
	}
	return false
}

// leaves returns the elements of the schema that are columns, in their order.
func leaves(schema []format.SchemaElement) []*format.SchemaElement {
	var all []*format.SchemaElement
	for i := range schema {
		if e := &schema[i]; e.Type.Valid {
			all = append(all, e)
		}
	}
	return all
}
