package itest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/parquet"
)

// evolve writes a folder whose columns change: a promoted parameter and a list come, numbers become wider and narrower again, a column gets
// another name. A change that readers could not follow is refused with what to do.
func evolve(t *testing.T) (folder string, columns []string, want [][]any) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "clicks")
	field := func(name string, typ arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: typ, Nullable: name != "record"}
	}
	text, i32, i64 := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	record, campaign, tags := field("record", i64), field("campaign", text), field("tags", arrow.ListOfNonNullable(text))
	for step, s := range []struct {
		fields  []arrow.Field
		rows    string
		refused string
	}{
		{
			[]arrow.Field{record, field("host", text), field("n", i32), field("f", arrow.PrimitiveTypes.Float32)},
			`[{"record":0,"host":"a","n":1,"f":0.5},{"record":1,"host":"b","n":2,"f":1.5}]`, "",
		},
		{
			[]arrow.Field{record, field("host", text), field("n", i64), field("f", arrow.PrimitiveTypes.Float64), campaign, tags},
			`[{"record":2,"host":"c","n":1099511627776,"f":0.1,"campaign":"x","tags":["t"]},{"record":3,"host":"d","n":4,"f":2.5}]`, "",
		},
		{
			[]arrow.Field{record, field("hostname", text), field("n", i32), field("f", arrow.PrimitiveTypes.Float64), campaign, tags},
			`[{"record":4,"hostname":"e","n":5,"f":0.25,"campaign":"y","tags":["t","u"]}]`, "",
		},
		{[]arrow.Field{record, field("n", text)}, `[{"record":5,"n":"6"}]`, "give it another name with columns.rename, or deliver to another folder"},
	} {
		schema := arrow.NewSchema(s.fields, nil)
		r, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(s.rows))
		if err != nil {
			t.Fatal(err)
		}
		o := parquet.Options{Path: folder}
		o.Delivery = commit.ExactlyOnce
		sink, err := parquet.New(o, quiet)
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Start(t.Context(), pipeline.Schemas{schema}); err != nil {
			if s.refused == "" || !strings.Contains(err.Error(), s.refused) {
				t.Fatalf("step %d: %v", step, err)
			}
			continue
		}
		if s.refused != "" {
			t.Errorf("step %d is not refused", step)
		}
		w, _, err := sink.Open(t.Context(), pipeline.LaneID{Stream: "clicks", Partition: int32(step)})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{First: 0, Next: r.NumRows()}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
	}
	err := json.Unmarshal([]byte(`[[0,"a",null,1,0.5,null,null],[1,"b",null,2,1.5,null,null],[2,"c",null,1099511627776,0.1,"x",["t"]],[3,"d",null,4,2.5,null,null],
		[4,null,"e",5,0.25,"y",["t","u"]]]`), &want)
	if err != nil {
		t.Fatal(err)
	}
	return folder, []string{"record", "host", "hostname", "n", "f", "campaign", "tags"}, want
}

// TestEvolved: readers take a folder whose columns have changed for one table, each in the way that docs/files.md says, with null where a
// column is missing and the wider of two types; and what they do by themselves is as docs/files.md warns. Spark takes part with
// URLMILL_SPARK=1.
func TestEvolved(t *testing.T) {
	folder, columns, want := evolve(t)
	t.Run("DuckDB", func(t *testing.T) {
		rows := readers.DuckRows(t, readers.Duck(t), "FROM read_parquet('"+folder+"/*.parquet', union_by_name = true) ORDER BY record")
		var got [][]any
		for _, r := range rows {
			row := make([]any, len(columns))
			for i, c := range columns {
				row[i] = r[c]
			}
			got = append(got, row)
		}
		if a, b := fmt.Sprint(got), fmt.Sprint(neutral(want)); a != b {
			t.Errorf("%s, want %s", a, b)
		}
	})
	for _, c := range []struct {
		reader string
		alone  string // what it does by itself
	}{
		{"pyarrow", "refuses"}, {"polars", "refuses"}, {"datafusion", "refuses"}, {"clickhouse", "gives other values"}, {"spark", "refuses"},
	} {
		t.Run(c.reader, func(t *testing.T) {
			if c.reader == "spark" && os.Getenv("URLMILL_SPARK") != "1" {
				t.Skip("Spark takes minutes: set URLMILL_SPARK=1")
			}
			r := readers.Evolve(t, c.reader+"-merged", folder, columns)
			if r.Refused != "" || !reflect.DeepEqual(r.Rows, want) {
				t.Errorf("%s: %v, want %v %s", r.Version, r.Rows, want, r.Refused)
			}
			r = readers.Evolve(t, c.reader, folder, columns)
			t.Logf("by itself: %v %s", r.Rows, r.Refused)
			if refuses := r.Refused != ""; refuses != (c.alone == "refuses") || reflect.DeepEqual(r.Rows, want) {
				t.Errorf("by itself: %v %s; docs/files.md says that it %s", r.Rows, r.Refused, c.alone)
			}
		})
	}
}

// neutral returns rows in the form of [readers.Row].
func neutral(rows [][]any) [][]any {
	out := make([][]any, len(rows))
	for i, row := range rows {
		for _, v := range row {
			if f, ok := v.(float64); ok && f == math.Trunc(f) {
				v = int64(f)
			}
			out[i] = append(out[i], readers.Canon(v))
		}
	}
	return out
}
