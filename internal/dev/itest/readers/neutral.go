package readers

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/sinks/sinktest"
)

// WriteNeutral writes records as JSON that readers in other languages compare with: an object of lists, a list for
// every column. Values that JSON does not have, or not exactly, are objects with the type as their only key:
//
//	{"i": "-1"} integer   {"f": "3ff0…"} the bits of a double   {"b": "00ff"} bytes   {"n": "…"} ns since 1970
//	{"s": [[field, value], …]} struct
func WriteNeutral(tb testing.TB, path string, schema *arrow.Schema, recs []arrow.Record) {
	tb.Helper()
	columns := map[string][]any{}
	for i, f := range schema.Fields() {
		values := []any{}
		for _, r := range recs {
			for row := range int(r.NumRows()) {
				values = append(values, neutral(f.Type, sinktest.Value(r.Column(i), row)))
			}
		}
		columns[f.Name] = values
	}
	text, err := json.Marshal(columns)
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		tb.Fatal(err)
	}
}

func neutral(dt arrow.DataType, v any) any {
	one := func(kind, text string) any { return map[string]string{kind: text} }
	switch v := v.(type) {
	case nil, bool, string:
		return v
	case int64, uint64:
		return one("i", fmt.Sprint(v))
	case float64:
		return one("f", fmt.Sprintf("%016x", math.Float64bits(v)))
	case []byte:
		return one("b", hex.EncodeToString(v))
	case time.Time:
		// More than 64 bits: the range of microseconds in nanoseconds.
		n := new(big.Int).Mul(big.NewInt(v.Unix()), big.NewInt(1e9))
		return one("n", n.Add(n, big.NewInt(int64(v.Nanosecond()))).String())
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = neutral(dt.(arrow.ListLikeType).Elem(), e)
		}
		return list
	case sinktest.Row:
		fields := []any{}
		for _, f := range dt.(*arrow.StructType).Fields() {
			fields = append(fields, []any{f.Name, neutral(f.Type, v[f.Name])})
		}
		return map[string]any{"s": fields}
	}
	panic(fmt.Sprintf("readers: no neutral form of a %T", v))
}
