package sinktest

import (
	"github.com/apache/arrow/go/v15/arrow"
)

// Params is the type of lists of key and value, as query parameters and message headers have it.
func Params(nullableValue bool) arrow.DataType {
	return arrow.ListOfNonNullable(arrow.StructOf(
		arrow.Field{Name: "key", Type: arrow.BinaryTypes.String},
		arrow.Field{Name: "value", Type: arrow.BinaryTypes.String, Nullable: nullableValue},
	))
}

// AllTypes returns a schema with every type that the sinks support, with and without nulls.
func AllTypes() *arrow.Schema {
	null := func(name string, t arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: t, Nullable: true}
	}
	return arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		null("text", arrow.BinaryTypes.String),
		{Name: "text_required", Type: arrow.BinaryTypes.String},
		null("repeated_text", arrow.BinaryTypes.String),
		null("bytes", arrow.BinaryTypes.Binary),
		null("large_text", arrow.BinaryTypes.LargeString),
		null("flag", arrow.FixedWidthTypes.Boolean),
		{Name: "flag_required", Type: arrow.FixedWidthTypes.Boolean},
		null("i8", arrow.PrimitiveTypes.Int8),
		null("u8", arrow.PrimitiveTypes.Uint8),
		null("i16", arrow.PrimitiveTypes.Int16),
		null("u16", arrow.PrimitiveTypes.Uint16),
		null("i32", arrow.PrimitiveTypes.Int32),
		null("u32", arrow.PrimitiveTypes.Uint32),
		null("i64", arrow.PrimitiveTypes.Int64),
		null("u64", arrow.PrimitiveTypes.Uint64),
		null("f32", arrow.PrimitiveTypes.Float32),
		null("f64", arrow.PrimitiveTypes.Float64),
		null("day", arrow.FixedWidthTypes.Date32),
		null("ts_us", arrow.FixedWidthTypes.Timestamp_us),
		{Name: "ts_us_required", Type: arrow.FixedWidthTypes.Timestamp_us},
		null("ts_ms", arrow.FixedWidthTypes.Timestamp_ms),
		null("fixed", &arrow.FixedSizeBinaryType{ByteWidth: 5}),
		null("params", Params(false)),
		{Name: "params_required", Type: Params(false)},
		null("headers", arrow.ListOfNonNullable(arrow.StructOf(
			arrow.Field{Name: "key", Type: arrow.BinaryTypes.String},
			arrow.Field{Name: "value", Type: arrow.BinaryTypes.Binary, Nullable: true},
		))),
		null("numbers", arrow.ListOf(arrow.PrimitiveTypes.Int64)),
		null("matrix", arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int32))),
		null("nested", arrow.StructOf(
			null("name", arrow.BinaryTypes.String),
			arrow.Field{Name: "count", Type: arrow.PrimitiveTypes.Int32},
			null("tags", arrow.ListOf(arrow.BinaryTypes.String)),
		)),
	}, nil)
}

// Clicks returns a schema like that of a clickstream read from Kafka, with all columns.
func Clicks() *arrow.Schema {
	text, null := arrow.BinaryTypes.String, true
	return arrow.NewSchema([]arrow.Field{
		{Name: "url", Type: text, Nullable: null},
		{Name: "href", Type: text, Nullable: null},
		{Name: "scheme", Type: text, Nullable: null},
		{Name: "host", Type: text, Nullable: null},
		{Name: "port", Type: arrow.PrimitiveTypes.Uint16, Nullable: null},
		{Name: "registrable_domain", Type: text, Nullable: null},
		{Name: "path", Type: text, Nullable: null},
		{Name: "query", Type: text, Nullable: null},
		{Name: "params", Type: Params(false), Nullable: null},
		{Name: "fragment", Type: text, Nullable: null},
		{Name: "url_error", Type: text, Nullable: null},
		{Name: "topic", Type: text},
		{Name: "partition", Type: arrow.PrimitiveTypes.Int32},
		{Name: "offset", Type: arrow.PrimitiveTypes.Int64},
		{Name: "timestamp", Type: arrow.FixedWidthTypes.Timestamp_us},
		{Name: "key", Type: arrow.BinaryTypes.Binary, Nullable: null},
	}, nil)
}
