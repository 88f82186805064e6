package itest

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/iceberg"
	"github.com/urlmill/urlmill/sinks/parquet"
)

// pyiceberg reads the table that is made of the files of two runs, the second with a column more, and leaves out files by
// partition and by the bounds of columns. DuckDB reads the files that the table names: its own extension for Iceberg has
// to be downloaded.
func TestIceberg(t *testing.T) {
	folder := t.TempDir()
	out, catalog := filepath.Join(folder, "a b", "out"), filepath.Join(folder, "catalog.db")
	if err := os.Mkdir(filepath.Dir(out), 0o755); err != nil {
		t.Fatal(err)
	}
	const rows = 1000
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	fields := []arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "site", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
		{Name: "extra", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
	}
	for run := range 2 {
		s := arrow.NewSchema(fields[:3+run], nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		for i := range rows {
			n := run*rows + i
			b.Field(0).(*array.Int64Builder).Append(int64(n))
			b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("a/b=%d", n%2))
			b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(start.Add(time.Duration(n) * time.Minute).UnixMicro()))
			if run == 1 {
				l := b.Field(3).(*array.ListBuilder)
				l.Append(true)
				l.ValueBuilder().(*array.StringBuilder).Append("x")
			}
		}
		o := iceberg.Options{Table: "web.clicks", CatalogFile: catalog, PartitionBy: []string{"date(ts)", "site"}}
		deliver(t, parquet.Options{Path: out, Files: parquet.Files{PartitionBy: o.PartitionBy}, Follower: iceberg.New(o, slog.New(slog.DiscardHandler))},
			s, b.NewRecord(), pipeline.Span{First: int64(run * rows), Next: int64((run + 1) * rows)})
	}
	got := readers.Pyiceberg(t, catalog, "web.clicks", "n", "ts >= '2026-11-21T00:00:00+00:00' and ts < '2026-11-22T00:00:00+00:00' and site = 'a/b=1'")
	if got.Rows != 2*rows || got.Distinct != 2*rows || got.Sum != 2*rows*(2*rows-1)/2 || got.Snapshots != 2 {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(got.Columns, []string{"n", "site", "ts", "extra"}) || !slices.Equal(got.Partitions, []string{"dt"}) {
		t.Errorf("columns %v, partitions %v", got.Columns, got.Partitions)
	}
	if got.Filtered != 640 || got.Planned != 2 || len(got.Files) != 6 {
		t.Errorf("%d rows of %d files are left, of %d", got.Filtered, got.Planned, len(got.Files))
	}
	if got.Summary["urlmill.positions"] != `{"clicks/0":2000}` || got.Summary["total-records"] != "2000" {
		t.Errorf("summary %v", got.Summary)
	}
	var names []string
	for _, f := range got.Files {
		names = append(names, "'"+strings.ReplaceAll(strings.TrimPrefix(f, "file://"), "'", "''")+"'")
	}
	duck := readers.DuckRows(t, readers.Duck(t), "SELECT count(*) AS rows, sum(n)::BIGINT AS total FROM read_parquet(["+strings.Join(names, ", ")+"], union_by_name = true)")
	if fmt.Sprint(duck) != fmt.Sprintf("[map[rows:%d total:%d]]", 2*rows, 2*rows*(2*rows-1)/2) {
		t.Errorf("DuckDB: %v", duck)
	}
}

// deliver writes and commits one record of the lane clicks/0.
func deliver(t *testing.T, o parquet.Options, s *arrow.Schema, r arrow.Record, span pipeline.Span) {
	t.Helper()
	sink, err := parquet.New(o, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Start(t.Context(), pipeline.Schemas{s}); err != nil {
		t.Fatal(err)
	}
	w, _, err := sink.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
	if err == nil {
		if err = w.Write(t.Context(), pipeline.Rows, r, span); err == nil {
			_, err = w.Commit(t.Context())
		}
	}
	if err := errors.Join(err, sink.Close()); err != nil {
		t.Fatal(err)
	}
}
