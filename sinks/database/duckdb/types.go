package duckdb

import (
	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/database"
)

var kinds = map[arrow.Type]string{
	arrow.BOOL: "BOOLEAN", arrow.INT8: "BIGINT", arrow.INT16: "BIGINT", arrow.INT32: "BIGINT", arrow.INT64: "BIGINT",
	arrow.UINT8: "BIGINT", arrow.UINT16: "BIGINT", arrow.UINT32: "BIGINT", arrow.FLOAT32: "DOUBLE", arrow.FLOAT64: "DOUBLE",
	arrow.STRING: "VARCHAR", arrow.LARGE_STRING: "VARCHAR", arrow.BINARY: "BLOB", arrow.FIXED_SIZE_BINARY: "BLOB",
	arrow.DATE32: "DATE", arrow.MAP: "VARCHAR", arrow.STRUCT: "VARCHAR",
}

// kindOf returns the type of a column, "" for none.
func kindOf(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return "TIMESTAMP WITH TIME ZONE"
		}
		return "TIMESTAMP"
	case *arrow.ListType:
		if t.Elem().ID() == arrow.STRING {
			return "VARCHAR[]"
		}
		return "VARCHAR"
	}
	return kinds[t.ID()]
}

// CheckRows returns what is wrong with rows of a schema.
func CheckRows(s *arrow.Schema) error {
	for _, f := range s.Fields() {
		if kindOf(f.Type) == "" || !database.Known(f.Type) {
			return pipeline.FieldErrorf("", "column %q: DuckDB has no type for %s here; leave the column out with columns.exclude", pipeline.Column(f.Name), f.Type)
		}
	}
	return nil
}
