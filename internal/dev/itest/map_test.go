package itest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/sinks/parquet"
)

// TestMaps writes query parameters as a map and has DuckDB take it apart, by its own functions for maps.
func TestMaps(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "params", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String), Nullable: true},
	}, nil)
	const rows = 500
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		m := b.Field(1).(*array.MapBuilder)
		if i%7 == 0 {
			m.AppendNull()
			continue
		}
		m.Append(true)
		for j := range i % 5 {
			m.KeyBuilder().(*array.StringBuilder).Append(fmt.Sprint("k", j))
			if j == 3 {
				m.ItemBuilder().AppendNull()
			} else {
				m.ItemBuilder().(*array.StringBuilder).Append(fmt.Sprint("v", i))
			}
		}
	}
	r := b.NewRecord()
	defer r.Release()
	db := readers.Duck(t)
	for _, version := range []int{1, 2} {
		o := parquet.Options{Path: filepath.Join(t.TempDir(), "out"), PageVersion: version, RowGroupRows: 90, PageRows: 20}
		s, err := parquet.New(o, quiet)
		writeAtOnce(t, s, err, []arrow.Record{r})
		got := readers.DuckRows(t, db, `SELECT id, params IS NULL AS no, cardinality(params) AS n, map_extract_value(params, 'k1') AS k1,
			map_contains(params, 'k3') AS k3, map_extract_value(params, 'k3') AS v3 FROM read_parquet(?) ORDER BY id`,
			filepath.Join(o.Path, "*.parquet"))
		var want []readers.Row
		for i := range rows {
			row := readers.Row{"id": readers.Canon(int64(i)), "no": i%7 == 0, "n": readers.Canon(int64(i % 5)), "k1": nil, "k3": i%5 > 3, "v3": nil}
			if i%5 > 1 {
				row["k1"] = fmt.Sprint("v", i)
			}
			if i%7 == 0 {
				row["n"], row["k1"], row["k3"] = nil, nil, nil
			}
			want = append(want, row)
		}
		compare(t, fmt.Sprint("DuckDB, version ", version), want, got)
		_, rows := readers.Pyarrow(t, "parquet", files(t, o.Path, "parquet")[0])
		if len(rows) != len(want) {
			t.Errorf("pyarrow: %d rows", len(rows))
		}
		for i, row := range rows {
			pairs, _ := row["params"].([]any)
			if n := i % 5; i%7 > 0 && len(pairs) != n {
				t.Errorf("pyarrow: row %d has %d pairs, want %d", i, len(pairs), n)
			}
		}
	}
}
