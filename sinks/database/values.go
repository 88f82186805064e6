package database

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/sinks/ndjson"
)

// Known reports whether drivers get columns of a type: booleans, integers of up to 64 bits with a sign or 32 without, floats, texts,
// byte strings, dates, timestamps, lists of texts, and what is [JSON].
func Known(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.BooleanType, *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type, *arrow.Uint8Type, *arrow.Uint16Type,
		*arrow.Uint32Type, *arrow.Float32Type, *arrow.Float64Type, *arrow.StringType, *arrow.LargeStringType, *arrow.BinaryType,
		*arrow.FixedSizeBinaryType, *arrow.Date32Type, *arrow.TimestampType:
		return true
	case *arrow.MapType:
		return t.KeyType().ID() == arrow.STRING && ndjson.CheckValue(t) == nil
	case *arrow.ListType, *arrow.StructType:
		return ndjson.CheckValue(t) == nil
	}
	return false
}

// JSON reports whether the values of a column are made of others, so that drivers get them as texts with JSON.
func JSON(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.MapType, *arrow.StructType:
		return true
	case *arrow.ListType:
		return t.Elem().ID() != arrow.STRING
	}
	return false
}

// flat returns the schema of the records that drivers get.
func flat(s *arrow.Schema) *arrow.Schema {
	fields := s.Fields()
	for i, f := range fields {
		if JSON(f.Type) {
			fields[i].Type = arrow.BinaryTypes.LargeString
		}
	}
	return arrow.NewSchema(fields, nil)
}

// copyOf returns copies of the columns of a record, which have their own memory, with the types of [flat].
func copyOf(r arrow.Record) ([]arrow.Array, error) {
	columns := make([]arrow.Array, r.NumCols())
	for i, c := range r.Columns() {
		if JSON(c.DataType()) {
			columns[i] = textsOf(c)
			continue
		}
		var err error
		if columns[i], err = array.Concatenate([]arrow.Array{c}, memory.DefaultAllocator); err != nil {
			return nil, fmt.Errorf("column %s: %w", r.ColumnName(i), err)
		}
	}
	return columns, nil
}

// textsOf returns the values of an array as JSON.
func textsOf(a arrow.Array) arrow.Array {
	n := a.Len()
	offsets, valid := make([]int64, n+1), make([]byte, bitutil.BytesForBits(int64(n)))
	appendValue := ndjson.Values(a)
	var text []byte
	for i := range n {
		if a.IsValid(i) {
			bitutil.SetBit(valid, i)
			text = appendValue(text, i)
		}
		offsets[i+1] = int64(len(text))
	}
	buffers := []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(offsets)), memory.NewBufferBytes(text)}
	return array.MakeFromData(array.NewData(arrow.BinaryTypes.LargeString, n, buffers, nil, a.NullN(), 0))
}

// Bytes returns what gives the values of a column of texts or byte strings, which are the array's memory; nil for another column.
func Bytes(a arrow.Array) func(i int) []byte {
	if a.Len() == 0 {
		return func(int) []byte { return nil } // it may have no offsets
	}
	switch a := a.(type) {
	case *array.String:
		at, data := a.ValueOffsets(), bytesOf(a)
		return func(i int) []byte { return data[at[i]:at[i+1]] }
	case *array.LargeString:
		at, data := a.ValueOffsets(), bytesOf(a)
		return func(i int) []byte { return data[at[i]:at[i+1]] }
	case *array.Binary:
		return a.Value
	case *array.FixedSizeBinary:
		return a.Value
	}
	return nil
}

// bytesOf returns the memory that the offsets of an array of texts count in.
func bytesOf(a arrow.Array) []byte {
	if b := a.Data().Buffers()[2]; b != nil { // it may be missing when all are empty
		return b.Bytes()
	}
	return nil
}

// Integers returns what gives the values of a column of integers; nil for another column.
func Integers(a arrow.Array) func(i int) int64 {
	switch a := a.(type) {
	case *array.Int8:
		return integers(a.Int8Values())
	case *array.Int16:
		return integers(a.Int16Values())
	case *array.Int32:
		return integers(a.Int32Values())
	case *array.Int64:
		return integers(a.Int64Values())
	case *array.Uint8:
		return integers(a.Uint8Values())
	case *array.Uint16:
		return integers(a.Uint16Values())
	case *array.Uint32:
		return integers(a.Uint32Values())
	}
	return nil
}

func integers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](values []T) func(i int) int64 {
	return func(i int) int64 { return int64(values[i]) }
}

// Micros returns what gives the values of a column of timestamps in microseconds since 1970, rounded down.
func Micros(a *array.Timestamp) func(i int) int64 {
	values := a.TimestampValues()
	times, by := int64(1), int64(1)
	switch a.DataType().(*arrow.TimestampType).Unit {
	case arrow.Second:
		times = 1_000_000
	case arrow.Millisecond:
		times = 1000
	case arrow.Nanosecond:
		by = 1000
	}
	return func(i int) int64 {
		v := int64(values[i])
		q := v / by
		if v%by < 0 {
			q--
		}
		return q * times
	}
}
