package sinktest

import (
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// Row is a row as plain values by column.
type Row map[string]any

// Rows returns the rows of a record. See [Value] for their types. Nothing aliases r.
func Rows(r arrow.Record) []Row {
	rows := make([]Row, r.NumRows())
	for i := range rows {
		rows[i] = make(Row, r.NumCols())
		for c, f := range r.Schema().Fields() {
			rows[i][f.Name] = Value(r.Column(c), i)
		}
	}
	return rows
}

// Value returns a value as nil, bool, int64, uint64, float64, string, []byte, [time.Time] in UTC, []any for a
// list, or [Row] for a struct. A date is the time of its midnight.
func Value(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.String:
		return string([]byte(a.Value(i)))
	case *array.LargeString:
		return string([]byte(a.Value(i)))
	case *array.Binary:
		return append([]byte{}, a.Value(i)...)
	case *array.LargeBinary:
		return append([]byte{}, a.Value(i)...)
	case *array.FixedSizeBinary:
		return append([]byte{}, a.Value(i)...)
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.Date32:
		return time.Unix(int64(a.Value(i))*86400, 0).UTC()
	case *array.Timestamp:
		return timeOf(a.DataType().(*arrow.TimestampType), int64(a.Value(i)))
	case array.ListLike:
		start, end := a.ValueOffsets(i)
		list := make([]any, 0, end-start)
		for j := start; j < end; j++ {
			list = append(list, Value(a.ListValues(), int(j)))
		}
		return list
	case *array.Struct:
		row := make(Row, a.NumField())
		for j, f := range a.DataType().(*arrow.StructType).Fields() {
			row[f.Name] = Value(a.Field(j), i)
		}
		return row
	}
	return integer(a, i)
}

func timeOf(t *arrow.TimestampType, v int64) time.Time {
	perSecond := int64(time.Second / t.Unit.Multiplier())
	seconds := v / perSecond
	rest := v % perSecond
	return time.Unix(seconds, rest*int64(t.Unit.Multiplier())).UTC()
}

func integer(a arrow.Array, i int) any {
	switch a := a.(type) {
	case *array.Int8:
		return int64(a.Value(i))
	case *array.Int16:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Uint8:
		return uint64(a.Value(i))
	case *array.Uint16:
		return uint64(a.Value(i))
	case *array.Uint32:
		return uint64(a.Value(i))
	case *array.Uint64:
		return a.Value(i)
	}
	panic(fmt.Sprintf("sinktest: no plain value of type %s", a.DataType()))
}
