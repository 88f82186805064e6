package clickhouse

import (
	"encoding/binary"
	"encoding/json"
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

// column is a column and how its values are written in the format RowBinary.
type column struct {
	name     string
	kind     string // with Nullable
	nullable bool
	get      func(a arrow.Array, i int) any
	put      func(b []byte, v any) []byte
}

// kindOf returns the type of a column without Nullable, and what writes its values. Servers before 20.1 have no timestamps
// with microseconds: those are integers there.
func kindOf(t arrow.DataType, v version) (kind string, put func(b []byte, v any) []byte) {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return "UInt8", func(b []byte, v any) []byte {
			if v.(bool) {
				return append(b, 1)
			}
			return append(b, 0)
		}
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type, *arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type:
		width := t.(arrow.FixedWidthDataType).BitWidth()
		kind = fmt.Sprintf("Int%d", width)
		if strings.HasPrefix(t.Name(), "u") {
			kind = "U" + kind
		}
		return kind, func(b []byte, v any) []byte {
			return append(b, binary.LittleEndian.AppendUint64(nil, uint64(v.(int64)))[:width/8]...)
		}
	case *arrow.Float32Type:
		return "Float32", func(b []byte, v any) []byte {
			return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v.(float64))))
		}
	case *arrow.Float64Type:
		return "Float64", func(b []byte, v any) []byte {
			return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.(float64)))
		}
	case *arrow.StringType, *arrow.LargeStringType, *arrow.BinaryType, *arrow.StructType, *arrow.MapType:
		return "String", putText
	case *arrow.FixedSizeBinaryType:
		return fmt.Sprintf("FixedString(%d)", t.ByteWidth), func(b []byte, v any) []byte { return append(b, v.([]byte)...) }
	case *arrow.Date32Type:
		return "Date", func(b []byte, v any) []byte {
			return binary.LittleEndian.AppendUint16(b, uint16(v.(time.Time).Unix()/(24*60*60)))
		}
	case *arrow.TimestampType:
		kind = "Int64"
		if v.atLeast(20, 1) {
			kind = "DateTime64(6, 'UTC')"
		}
		return kind, func(b []byte, v any) []byte {
			return binary.LittleEndian.AppendUint64(b, uint64(v.(time.Time).UnixMicro()))
		}
	case *arrow.ListType:
		if t.Elem().ID() != arrow.STRING {
			return "String", putText
		}
		return "Array(String)", func(b []byte, v any) []byte {
			texts, _ := v.([]string)
			b = binary.AppendUvarint(b, uint64(len(texts)))
			for _, s := range texts {
				b = putText(b, s)
			}
			return b
		}
	}
	return "", nil
}

func putText(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return append(binary.AppendUvarint(b, uint64(len(v))), v...)
	case []byte:
		return append(binary.AppendUvarint(b, uint64(len(v))), v...)
	case json.RawMessage:
		return append(binary.AppendUvarint(b, uint64(len(v))), v...)
	}
	return append(b, 0)
}

// CheckRows returns what is wrong with rows of a schema.
func CheckRows(s *arrow.Schema) error {
	_, err := columnsOf(s, version{})
	return err
}

func columnsOf(s *arrow.Schema, v version) ([]column, error) {
	columns := make([]column, s.NumFields())
	for i, f := range s.Fields() {
		c := column{name: f.Name, nullable: f.Nullable, get: database.Value(f.Type)}
		if c.kind, c.put = kindOf(f.Type, v); c.kind == "" || c.get == nil {
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

// encode writes records, each row with what is the same in all of them at its end.
func encode(columns []column, records []arrow.Record, same []byte) []byte {
	var b []byte
	for _, r := range records {
		for row := range int(r.NumRows()) {
			for i, c := range columns {
				v := c.get(r.Column(i), row)
				if c.nullable && v == nil {
					b = append(b, 1)
					continue
				}
				if c.nullable {
					b = append(b, 0)
				}
				b = c.put(b, v)
			}
			b = append(b, same...)
		}
	}
	return b
}
