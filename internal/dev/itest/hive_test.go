package itest

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/parquet"
)

// DuckDB finds every row in the directory of its partition, reads the values of the partitions back from the names of the
// directories as they were, whatever characters they have, and prunes by them.
func TestHivePartitions(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "site", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_us},
	}, nil)
	sites := []string{"example.com", "a/b=c", "100%", "bücher.example", "it's \"quoted\"", "a b+c&d", "q?x#y", "[::1]", "..", "back\\slash", "", "007"}
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	start := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	const rows = 5000
	for n := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(n))
		if i := n % (len(sites) + 1); i == len(sites) {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(sites[i])
		}
		b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(start.Add(time.Duration(n) * 4 * time.Second).UnixMicro()))
	}
	out := filepath.Join(t.TempDir(), "out")
	sink, err := parquet.New(parquet.Options{Path: out, Files: parquet.Files{PartitionBy: []string{"date(ts)", "hour(ts)", "p=site", "bucket(3, site)"}}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Start(t.Context(), pipeline.Schemas{s}); err != nil {
		t.Fatal(err)
	}
	w, _, err := sink.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), pipeline.Rows, b.NewRecord(), pipeline.Span{First: 0, Next: rows}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}

	db := readers.Duck(t)
	from := fmt.Sprintf("read_parquet('%s/*/*/*/*/*.parquet', hive_partitioning = 1, hive_types_autocast = 0)", out)
	got := readers.DuckRows(t, db, `SELECT count(*) AS n, count(DISTINCT n) AS different,
		count(*) FILTER (p IS DISTINCT FROM nullif(site, '')) AS wrong_site,
		count(*) FILTER (dt IS DISTINCT FROM strftime(ts, '%Y-%m-%d')) AS wrong_day,
		count(*) FILTER (hour IS DISTINCT FROM strftime(ts, '%H')) AS wrong_hour,
		count(DISTINCT dt) AS days, count(DISTINCT site_bucket) AS buckets FROM `+from)
	want := fmt.Sprint(readers.Row{"n": rows, "different": rows, "wrong_site": 0, "wrong_day": 0, "wrong_hour": 0, "days": 2, "buckets": 3})
	if fmt.Sprint(got[0]) != want {
		t.Errorf("got %v, want %s", got[0], want)
		t.Log(readers.DuckRows(t, db, `SELECT DISTINCT p, site FROM `+from+` WHERE p IS DISTINCT FROM nullif(site, '')`))
	}
	one := readers.DuckRows(t, db, `SELECT count(*) AS n, count(DISTINCT filename) AS files FROM `+
		fmt.Sprintf("read_parquet('%s/*/*/*/*/*.parquet', hive_partitioning = 1, hive_types_autocast = 0, filename = true)", out)+` WHERE dt = '2026-11-21' AND p = 'a/b=c'`)
	all := readers.DuckRows(t, db, `SELECT count(*) AS n FROM `+from+` WHERE ts >= '2026-11-21' AND site = 'a/b=c'`)
	if fmt.Sprint(one[0]["n"]) != fmt.Sprint(all[0]["n"]) || fmt.Sprint(one[0]["n"]) == "0" {
		t.Errorf("%v rows by partition, %v by value", one[0], all[0])
	}
}
