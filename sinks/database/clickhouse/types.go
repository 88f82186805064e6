package clickhouse

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/database"
)

// limitsOf returns those of a server: it takes a time that is beyond them for another one, without a word. Before 20.1
// timestamps are integers.
//
// Source: https://clickhouse.com/docs/whats-new/changelog, 21.4 and 22.8: 1925 to 2283, and 1900 to 2299
func limitsOf(v version) database.Limits {
	l := database.NoLimits
	l.FirstDay, l.LastDay = 0, math.MaxUint16
	years := func(first, end int) {
		l.First, l.Last = time.Date(first, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), time.Date(end, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()-1
	}
	switch {
	case v.atLeast(22, 8):
		years(1900, 2300)
	case v.atLeast(21, 4):
		years(1925, 2283)
	case v.atLeast(20, 1):
		years(1970, 2106)
	}
	l.Bytes = 1<<30 - 1 // format_binary_max_string_size
	return l
}

// column is a column of the rows and of the table.
type column struct {
	name     string
	kind     string // with Nullable
	nullable bool
}

// kindOf returns the type of a column without Nullable, "" for none. Servers before 20.1 have no timestamps with microseconds: those
// are integers there.
func kindOf(t arrow.DataType, v version) string {
	if !database.Known(t) {
		return ""
	}
	switch t := t.(type) {
	case *arrow.BooleanType:
		return "UInt8"
	case *arrow.Float32Type:
		return "Float32"
	case *arrow.Float64Type:
		return "Float64"
	case *arrow.FixedSizeBinaryType:
		return fmt.Sprintf("FixedString(%d)", t.ByteWidth)
	case *arrow.Date32Type:
		return "Date"
	case *arrow.TimestampType:
		if v.atLeast(20, 1) {
			return "DateTime64(6, 'UTC')"
		}
		return "Int64"
	case *arrow.ListType:
		if !database.JSON(t) {
			return "Array(String)"
		}
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type:
		return fmt.Sprintf("Int%d", t.(arrow.FixedWidthDataType).BitWidth())
	case *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type:
		return fmt.Sprintf("UInt%d", t.(arrow.FixedWidthDataType).BitWidth())
	}
	return "String"
}

// CheckRows returns what is wrong with rows of a schema.
func CheckRows(s *arrow.Schema) error {
	_, err := columnsOf(s, version{})
	return err
}

func columnsOf(s *arrow.Schema, v version) ([]column, error) {
	columns := make([]column, s.NumFields())
	for i, f := range s.Fields() {
		c := column{name: f.Name, kind: kindOf(f.Type, v), nullable: f.Nullable}
		if c.kind == "" {
			return nil, pipeline.FieldErrorf("", "column %q: ClickHouse has no type for %s; leave the column out with columns.exclude", pipeline.Column(f.Name), f.Type)
		}
		if strings.HasPrefix(c.kind, "Array(") {
			c.nullable = false // there are no arrays that are null
		}
		if c.nullable {
			c.kind = "Nullable(" + c.kind + ")"
		}
		columns[i] = c
	}
	return columns, nil
}
