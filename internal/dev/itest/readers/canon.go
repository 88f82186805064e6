package readers

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/urlmill/urlmill/sinks/sinktest"
)

// Row is a row in canonical form by column: nil, bool, string for text, Number, Bytes or Moment for what the names
// say, []any for lists and Row for structs.
type Row map[string]any

type (
	// Number is an integer in decimal, or a float as the shortest text that reads back as the same double.
	Number string
	// Bytes are binary values.
	Bytes string
	// Moment is a timestamp or, with midnight, a date: RFC 3339 in UTC with nanoseconds where there are any.
	Moment string
)

// Canon brings a value as a reader has it into canonical form.
func Canon(v any) any {
	switch v := v.(type) {
	case nil, bool, string, Number, Bytes, Moment:
		return v
	case []byte:
		return Bytes(v)
	case time.Time:
		return Moment(v.UTC().Format(time.RFC3339Nano))
	case float32:
		return float(float64(v))
	case float64:
		return float(v)
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = Canon(e)
		}
		return list
	case map[string]any:
		return canonRow(v)
	case Row:
		return canonRow(v)
	case sinktest.Row:
		return canonRow(v)
	case int8, int16, int32, int64, int, uint8, uint16, uint32, uint64:
		return Number(fmt.Sprint(v))
	}
	panic(fmt.Sprintf("readers: no canonical form of a %T", v))
}

func canonRow(v map[string]any) Row {
	row := make(Row, len(v))
	for name, e := range v {
		row[name] = Canon(e)
	}
	return row
}

func float(f float64) Number {
	if f == 0 && !math.Signbit(f) {
		return "0"
	}
	return Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// Expected returns the rows of a table in canonical form.
func Expected(rows []sinktest.Row) []Row {
	out := make([]Row, len(rows))
	for i, r := range rows {
		out[i] = canonRow(r)
	}
	return out
}

// Base64 returns bytes as the NDJSON sink writes them.
func Base64(b Bytes) string { return base64.StdEncoding.EncodeToString([]byte(b)) }
