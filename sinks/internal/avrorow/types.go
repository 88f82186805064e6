package avrorow

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
)

// op is how a value is read from its column and written.
type op uint8

const (
	opNull op = iota
	opBool
	opInt8
	opInt16
	opInt32
	opInt64
	opUint8
	opUint16
	opUint32
	opUint64 // as a decimal
	opHalf   // as a float
	opFloat
	opDouble
	opDecimal
	opText // and bytes
	opLargeText
	opFixed
	opMillisOfDays // as days
	opSeconds      // as milliseconds
	opDictionary
	opList
	opLargeList
	opFixedList
	opMap
	opRecord
)

// simple are the types that are what they are, whatever their parameters.
var simple = map[arrow.Type]struct {
	op  op
	typ any
}{
	arrow.NULL:         {opNull, "null"},
	arrow.BOOL:         {opBool, "boolean"},
	arrow.INT8:         {opInt8, "int"},
	arrow.INT16:        {opInt16, "int"},
	arrow.INT32:        {opInt32, "int"},
	arrow.INT64:        {opInt64, "long"},
	arrow.UINT8:        {opUint8, "int"},
	arrow.UINT16:       {opUint16, "int"},
	arrow.UINT32:       {opUint32, "long"},
	arrow.UINT64:       {opUint64, decimal(20, 0)},
	arrow.FLOAT16:      {opHalf, "float"},
	arrow.FLOAT32:      {opFloat, "float"},
	arrow.FLOAT64:      {opDouble, "double"},
	arrow.STRING:       {opText, "string"},
	arrow.LARGE_STRING: {opLargeText, "string"},
	arrow.BINARY:       {opText, "bytes"},
	arrow.LARGE_BINARY: {opLargeText, "bytes"},
	arrow.DATE32:       {opInt32, logical("int", "date")},
	arrow.DATE64:       {opMillisOfDays, logical("int", "date")},
}

// typeOf returns the form of values of a type that are not null.
func (c *compiler) typeOf(t arrow.DataType, typeName, path string) (any, column, error) {
	if s, ok := simple[t.ID()]; ok {
		return s.typ, column{op: s.op}, nil
	}
	switch t := t.(type) {
	case *arrow.FixedSizeBinaryType:
		return avroType{Type: "fixed", Name: typeName, Size: t.ByteWidth}, column{op: opFixed, width: t.ByteWidth}, c.name(typeName, path)
	case arrow.DecimalType:
		precision, scale := t.GetPrecision(), t.GetScale()
		if scale < 0 || scale > precision {
			return nil, column{}, fmt.Errorf("decimals have a scale from 0 to their precision, %d, in Avro, not %d; leave the column out", precision, scale)
		}
		width := t.(arrow.FixedWidthDataType).BitWidth() / 8
		return decimal(precision, scale), column{op: opDecimal, width: width}, nil
	case *arrow.TimestampType:
		return timestamp(t)
	case *arrow.Time32Type:
		if t.Unit == arrow.Second {
			return logical("int", "time-millis"), column{op: opSeconds, width: 4}, nil
		}
		return logical("int", "time-millis"), column{op: opInt32}, nil
	case *arrow.Time64Type:
		if t.Unit == arrow.Microsecond {
			return logical("long", "time-micros"), column{op: opInt64}, nil
		}
	case *arrow.DictionaryType:
		values, inner, err := c.typeOf(t.ValueType, typeName, path)
		if err == nil && len(inner.next) > 0 {
			return nil, column{}, fmt.Errorf("the type %s has no form in Avro; leave the column out", t)
		}
		index := column{op: simple[t.IndexType.ID()].op}
		return values, column{op: opDictionary, next: []column{index, inner}}, err
	}
	return c.nested(t, typeName, path)
}

// timestamp returns the form of points in time, and of local times where there is no zone.
func timestamp(t *arrow.TimestampType) (any, column, error) {
	name, col := "timestamp", column{op: opInt64}
	if t.TimeZone == "" {
		name = "local-timestamp"
	}
	switch t.Unit {
	case arrow.Second:
		name, col = name+"-millis", column{op: opSeconds, width: 8}
	case arrow.Millisecond:
		name += "-millis"
	case arrow.Microsecond:
		name += "-micros"
	case arrow.Nanosecond:
		name += "-nanos"
	}
	return logical("long", name), col, nil
}
