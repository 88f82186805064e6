package ndjson

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// appender appends value i of an array, which is not null, as JSON.
type appender func(dst []byte, i int) []byte

// column is a column of a record, ready to be read row by row. It is valid as long as the record.
type column struct {
	nulls arrow.Array // nil if there are none
	value appender
}

func (c *column) append(dst []byte, i int) []byte {
	if c.nulls != nil && c.nulls.IsNull(i) {
		return append(dst, "null"...)
	}
	return c.value(dst, i)
}

// namesOf returns what stands before the value of each column: its name, and the brace or comma before that.
func namesOf(s *arrow.Schema) [][]byte { return keysOf(s.Fields()) }

func keysOf(fields []arrow.Field) [][]byte {
	keys := make([][]byte, len(fields))
	for i, f := range fields {
		before := byte(',')
		if i == 0 {
			before = '{'
		}
		keys[i] = append(appendString([]byte{before}, f.Name), ':')
	}
	return keys
}

func columnsOf(r arrow.Record) []column {
	cols := make([]column, r.NumCols())
	for i := range cols {
		cols[i] = columnOf(r.Column(i))
	}
	return cols
}

func columnOf(a arrow.Array) column {
	c := column{value: appenderOf(a)}
	if a.NullN() > 0 {
		c.nulls = a
	}
	return c
}

// appendRow appends row i as an object and a newline.
func appendRow(dst []byte, names [][]byte, cols []column, i int) []byte {
	if len(cols) == 0 {
		dst = append(dst, '{')
	}
	for c := range cols {
		dst = append(dst, names[c]...)
		dst = cols[c].append(dst, i)
	}
	return append(dst, "}\n"...)
}

// check refuses types that appenderOf does not know.
func check(s *arrow.Schema) error {
	for _, f := range s.Fields() {
		if err := checkType(f.Type); err != nil {
			return fmt.Errorf("column %s: %w; leave the column out", f.Name, err)
		}
	}
	return nil
}

func checkType(t arrow.DataType) error {
	switch t := t.(type) {
	case *arrow.BooleanType, *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type,
		*arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type, *arrow.Float32Type, *arrow.Float64Type,
		*arrow.StringType, *arrow.LargeStringType, *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.FixedSizeBinaryType,
		*arrow.Date32Type, *arrow.TimestampType:
		return nil
	case *arrow.ListType, *arrow.LargeListType, *arrow.MapType, *arrow.StructType:
		for _, f := range t.(arrow.NestedType).Fields() {
			if err := checkType(f.Type); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("the type %s has no form in JSON here", t)
}

// appenderOf returns the appender of an array of a type that checkType accepts.
func appenderOf(a arrow.Array) appender {
	switch a := a.(type) {
	case *array.String:
		return func(dst []byte, i int) []byte { return appendString(dst, a.Value(i)) }
	case *array.LargeString:
		return func(dst []byte, i int) []byte { return appendString(dst, a.Value(i)) }
	case *array.Binary:
		return func(dst []byte, i int) []byte { return appendBase64(dst, a.Value(i)) }
	case *array.LargeBinary:
		return func(dst []byte, i int) []byte { return appendBase64(dst, a.Value(i)) }
	case *array.FixedSizeBinary:
		return func(dst []byte, i int) []byte { return appendBase64(dst, a.Value(i)) }
	case *array.Boolean:
		return func(dst []byte, i int) []byte { return strconv.AppendBool(dst, a.Value(i)) }
	case *array.Float32:
		return func(dst []byte, i int) []byte { return appendFloat(dst, float64(a.Value(i)), 32) }
	case *array.Float64:
		return func(dst []byte, i int) []byte { return appendFloat(dst, a.Value(i), 64) }
	case *array.Date32:
		return func(dst []byte, i int) []byte { return appendDate(dst, int64(a.Value(i))) }
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		return func(dst []byte, i int) []byte { return appendTimestamp(dst, int64(a.Value(i)), unit) }
	case *array.Struct:
		return appendStruct(a)
	case array.ListLike:
		return appendList(a)
	}
	return integerAppender(a)
}

func integerAppender(a arrow.Array) appender {
	switch a := a.(type) {
	case *array.Int8:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }
	case *array.Int16:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }
	case *array.Int32:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }
	case *array.Int64:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, a.Value(i), 10) }
	case *array.Uint8:
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, uint64(a.Value(i)), 10) }
	case *array.Uint16:
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, uint64(a.Value(i)), 10) }
	case *array.Uint32:
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, uint64(a.Value(i)), 10) }
	case *array.Uint64:
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, a.Value(i), 10) }
	}
	panic(fmt.Sprintf("ndjson: type %s was not refused by check", a.DataType()))
}

func appendList(a array.ListLike) appender {
	elems := columnOf(a.ListValues())
	return func(dst []byte, i int) []byte {
		start, end := a.ValueOffsets(i)
		dst = append(dst, '[')
		for j := start; j < end; j++ {
			if j > start {
				dst = append(dst, ',')
			}
			dst = elems.append(dst, int(j))
		}
		return append(dst, ']')
	}
}

func appendStruct(a *array.Struct) appender {
	keys := keysOf(a.DataType().(*arrow.StructType).Fields())
	fields := make([]column, a.NumField())
	for j := range fields {
		fields[j] = columnOf(a.Field(j))
	}
	return func(dst []byte, i int) []byte {
		if len(fields) == 0 {
			dst = append(dst, '{')
		}
		for j := range fields {
			dst = append(dst, keys[j]...)
			dst = fields[j].append(dst, i)
		}
		return append(dst, '}')
	}
}

func appendBase64(dst, v []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, v)
	return append(dst, '"')
}
