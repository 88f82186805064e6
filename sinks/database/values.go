package database

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// Value returns what gives the values of a column of a type as Go has them, nil for a type that has none: bool, int64,
// float64, string, []byte, time.Time in UTC, []string for lists of texts, and [json.RawMessage] for what is made of other
// values. Nulls give nil. Texts and bytes are the array's memory.
func Value(t arrow.DataType) func(a arrow.Array, i int) any {
	get := value(t)
	if get == nil {
		return nil
	}
	return func(a arrow.Array, i int) any {
		if a.IsNull(i) {
			return nil
		}
		return get(a, i)
	}
}

func value(t arrow.DataType) func(a arrow.Array, i int) any {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return func(a arrow.Array, i int) any { return a.(*array.Boolean).Value(i) }
	case *arrow.Int8Type:
		return func(a arrow.Array, i int) any { return int64(a.(*array.Int8).Value(i)) }
	case *arrow.Int16Type:
		return func(a arrow.Array, i int) any { return int64(a.(*array.Int16).Value(i)) }
	case *arrow.Int32Type:
		return func(a arrow.Array, i int) any { return int64(a.(*array.Int32).Value(i)) }
	case *arrow.Int64Type:
		return func(a arrow.Array, i int) any { return a.(*array.Int64).Value(i) }
	case *arrow.Uint8Type:
		return func(a arrow.Array, i int) any { return int64(a.(*array.Uint8).Value(i)) }
	case *arrow.Uint16Type:
		return func(a arrow.Array, i int) any { return int64(a.(*array.Uint16).Value(i)) }
	case *arrow.Uint32Type:
		return func(a arrow.Array, i int) any { return int64(a.(*array.Uint32).Value(i)) }
	case *arrow.Float32Type:
		return func(a arrow.Array, i int) any { return float64(a.(*array.Float32).Value(i)) }
	case *arrow.Float64Type:
		return func(a arrow.Array, i int) any { return a.(*array.Float64).Value(i) }
	case *arrow.StringType:
		return func(a arrow.Array, i int) any { return a.(*array.String).Value(i) }
	case *arrow.LargeStringType:
		return func(a arrow.Array, i int) any { return a.(*array.LargeString).Value(i) }
	case *arrow.BinaryType:
		return func(a arrow.Array, i int) any { return a.(*array.Binary).Value(i) }
	case *arrow.FixedSizeBinaryType:
		return func(a arrow.Array, i int) any { return a.(*array.FixedSizeBinary).Value(i) }
	case *arrow.Date32Type:
		return func(a arrow.Array, i int) any { return a.(*array.Date32).Value(i).ToTime() }
	case *arrow.TimestampType:
		unit := t.Unit
		return func(a arrow.Array, i int) any { return a.(*array.Timestamp).Value(i).ToTime(unit).UTC() }
	case *arrow.ListType:
		return list(t)
	case *arrow.MapType:
		return mapping(t)
	case *arrow.StructType:
		return structure(t)
	}
	return nil
}

func list(t *arrow.ListType) func(arrow.Array, int) any {
	element := Value(t.Elem())
	if element == nil {
		return nil
	}
	texts := t.Elem().ID() == arrow.STRING
	return func(a arrow.Array, i int) any {
		l := a.(*array.List)
		from, to := l.ValueOffsets(i)
		if texts {
			values := l.ListValues().(*array.String)
			out := make([]string, 0, to-from)
			for j := int(from); j < int(to); j++ {
				out = append(out, values.Value(j))
			}
			return out
		}
		out := make([]any, 0, to-from)
		for j := int(from); j < int(to); j++ {
			out = append(out, plain(element(l.ListValues(), j)))
		}
		return encode(out)
	}
}

func mapping(t *arrow.MapType) func(arrow.Array, int) any {
	item := Value(t.ItemType())
	if item == nil || t.KeyType().ID() != arrow.STRING {
		return nil
	}
	return func(a arrow.Array, i int) any {
		m := a.(*array.Map)
		from, to := m.ValueOffsets(i)
		out := make(map[string]any, to-from)
		for j := int(from); j < int(to); j++ {
			out[m.Keys().(*array.String).Value(j)] = plain(item(m.Items(), j))
		}
		return encode(out)
	}
}

func structure(t *arrow.StructType) func(arrow.Array, int) any {
	fields := make([]func(arrow.Array, int) any, len(t.Fields()))
	for n, f := range t.Fields() {
		if fields[n] = Value(f.Type); fields[n] == nil {
			return nil
		}
	}
	return func(a arrow.Array, i int) any {
		s := a.(*array.Struct)
		out := make(map[string]any, len(fields))
		for n, get := range fields {
			out[t.Field(n).Name] = plain(get(s.Field(n), i))
		}
		return encode(out)
	}
}

// plain returns a value as JSON has it.
func plain(v any) any {
	if t, ok := v.(time.Time); ok {
		return t.Format(time.RFC3339Nano)
	}
	return v
}

func encode(v any) json.RawMessage {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("null") // NaN and infinities, which JSON does not have
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}
