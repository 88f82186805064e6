package databasetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/database"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

// Three rows with columns of all kinds: usual values, the least ones, and nulls.
const kinds = `[
{"b":true,"i8":1,"i16":2,"i32":3,"i64":4,"u8":5,"u16":6,"u32":7,"f32":1.5,"f64":2.5,"s":"\u00fc","l":"text that is longer than twelve bytes","bin":"AQI=","fix":"YWJjZA==",
 "day":1,"ts_s":1,"ts_ms":1001,"ts":1000001,"ts_ns":1000001999,"ts_local":5,"texts":["a","","text that is longer than twelve bytes"],"params":[{"key":"k","value":"v\"\u0001"},{"key":"","value":null}],
 "map":[{"key":"a","value":"1"},{"key":"b","value":"2"},{"key":"a","value":"3"}],"struct":{"x":-1,"y":"z"},"numbers":[1,null]},
{"b":false,"i8":-128,"i16":-32768,"i32":-2147483648,"i64":-9223372036854775808,"u8":255,"u16":65535,"u32":4294967295,"f32":-0.5,"f64":-1e9,"s":"","l":"","bin":"","fix":"AAAAAA==",
 "day":0,"ts_s":-1,"ts_ms":-1,"ts":-1,"ts_ns":-1,"ts_local":-1,"texts":[],"params":[],"map":[],"struct":{"x":null,"y":""},"numbers":[]},
{"b":null,"i8":null,"i16":null,"i32":null,"i64":null,"u8":null,"u16":null,"u32":null,"f32":null,"f64":null,"s":null,"l":null,"bin":null,"fix":null,
 "day":null,"ts_s":null,"ts_ms":null,"ts":null,"ts_ns":null,"ts_local":null,"texts":null,"params":null,"map":null,"struct":null,"numbers":null}]`

// Columns are the names of the columns of [Kinds] behind n, in their order.
var Columns = strings.Fields("b i8 i16 i32 i64 u8 u16 u32 f32 f64 s l bin fix day ts_s ts_ms ts ts_ns ts_local texts params map struct numbers")

// Kinds loads rows with columns of all kinds, usual ones, least ones and nulls, each [KindsRows] times in turns, in several records. Their
// column n is 0, 1 and 2.
func Kinds(t *testing.T, s *database.Sink) {
	t.Helper()
	text := arrow.BinaryTypes.String
	types := map[string]arrow.DataType{
		"b": arrow.FixedWidthTypes.Boolean, "i8": arrow.PrimitiveTypes.Int8, "i16": arrow.PrimitiveTypes.Int16, "i32": arrow.PrimitiveTypes.Int32,
		"i64": arrow.PrimitiveTypes.Int64, "u8": arrow.PrimitiveTypes.Uint8, "u16": arrow.PrimitiveTypes.Uint16, "u32": arrow.PrimitiveTypes.Uint32,
		"f32": arrow.PrimitiveTypes.Float32, "f64": arrow.PrimitiveTypes.Float64, "s": text, "l": arrow.BinaryTypes.LargeString, "bin": arrow.BinaryTypes.Binary,
		"fix": &arrow.FixedSizeBinaryType{ByteWidth: 4}, "day": arrow.FixedWidthTypes.Date32, "ts_s": arrow.FixedWidthTypes.Timestamp_s,
		"ts_ms": arrow.FixedWidthTypes.Timestamp_ms, "ts": arrow.FixedWidthTypes.Timestamp_us, "ts_ns": arrow.FixedWidthTypes.Timestamp_ns,
		"ts_local": &arrow.TimestampType{Unit: arrow.Microsecond}, "texts": arrow.ListOf(text), "params": sinktest.Params(true), "map": arrow.MapOf(text, text),
		"struct":  arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, arrow.Field{Name: "y", Type: text}),
		"numbers": arrow.ListOf(arrow.PrimitiveTypes.Int64),
	}
	fields := []arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}
	for _, name := range Columns {
		fields = append(fields, arrow.Field{Name: name, Type: types[name], Nullable: true})
	}
	all, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields[1:], nil), strings.NewReader(kinds))
	if err != nil {
		t.Fatal(err)
	}
	schema := arrow.NewSchema(fields, nil)
	if err := s.Start(t.Context(), pipeline.Schemas{schema}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
	if err != nil {
		t.Fatal(err)
	}
	for n, rows := range []int{1, 2, KindsRows - 3} {
		columns := make([]arrow.Array, len(fields))
		numbers := array.NewInt64Builder(memory.DefaultAllocator)
		for i := range 3 * rows {
			numbers.Append(int64(i % 3))
		}
		columns[0] = numbers.NewArray()
		for i, c := range all.Columns() {
			copies := make([]arrow.Array, rows)
			for j := range copies {
				copies[j] = c
			}
			if columns[i+1], err = array.Concatenate(copies, memory.DefaultAllocator); err != nil {
				t.Fatal(fmt.Errorf("%s: %w", fields[i+1].Name, err))
			}
		}
		r := array.NewRecord(schema, columns, int64(3*rows))
		if err := w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{First: int64(n), Next: int64(n + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// KindsRows is how often [Kinds] loads each of its rows: more than what drivers encode at once.
const KindsRows = 6000
