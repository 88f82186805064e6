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
	"github.com/urlmill/urlmill/sinks/compact"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/store"
)

// visits makes rows n of two lanes, whose times go back and forth by some minutes, and for every 50th by days.
func visits(first, rows int) arrow.Record {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "domain", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
	}, nil)
	start := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for n := first; n < first+rows; n++ {
		at := start.Add(time.Duration(n)*time.Second - time.Duration(n%300)*time.Second)
		if n%50 == 49 {
			at = at.AddDate(0, 0, -2-n%7)
		}
		b.Field(0).(*array.Int64Builder).Append(int64(n))
		if n%11 == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("site-%d.example", n*7919%1000))
		}
		b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(at.UnixMicro()))
	}
	return b.NewRecord()
}

// The visits that are written: so many rows a commit.
const visitLanes, visitCommits, visitRows = 2, 12, 1000

// writeVisits writes visits into sorted hourly directories, and those that are late into another folder.
func writeVisits(t *testing.T, out, late string, log *slog.Logger) {
	t.Helper()
	o := parquet.Options{Path: out, SortBy: []string{"domain", "n"}, RowGroupRows: 2048, PageRows: 128}
	o.PartitionBy = []string{"date(ts)", "hour(ts)"}
	o.Late.Path, o.Late.After = late, time.Hour
	sink, err := parquet.New(o, log)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Start(t.Context(), pipeline.Schemas{visits(0, 0).Schema()}); err != nil {
		t.Fatal(err)
	}
	for lane := range visitLanes {
		w, _, err := sink.Open(t.Context(), pipeline.LaneID{Stream: "visits", Partition: int32(lane)})
		if err != nil {
			t.Fatal(err)
		}
		for c := range visitCommits {
			span := pipeline.Span{First: int64(c * visitRows), Next: int64((c + 1) * visitRows)}
			if err := w.Write(t.Context(), pipeline.Rows, visits((lane*visitCommits+c)*visitRows, visitRows), span); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// DuckDB finds the same rows in sorted hourly directories and among the late rows, before and after they are compacted, and
// by the domain that they are sorted by.
func TestCompacted(t *testing.T) {
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	out, late := filepath.Join(dir, "out"), filepath.Join(dir, "late")
	writeVisits(t, out, late, log)
	db := readers.Duck(t)
	ask := func() (string, int64) {
		t.Helper()
		from := fmt.Sprintf("(SELECT n, domain, ts, dt, hour FROM read_parquet('%s/*/*/*.parquet', hive_partitioning = 1, hive_types_autocast = 0) "+
			"UNION ALL SELECT n, domain, ts, 'late', 'late' FROM read_parquet('%s/*.parquet'))", out, late)
		all := readers.DuckRows(t, db, `SELECT count(*) AS n, count(DISTINCT n) AS different, count(*) FILTER (dt = 'late') AS late, sum(hash(n, domain, ts))::VARCHAR AS sum,
			count(*) FILTER (dt <> 'late' AND (dt <> strftime(ts, '%Y-%m-%d') OR hour <> strftime(ts, '%H'))) AS wrong FROM `+from)
		one := readers.DuckRows(t, db, `SELECT count(*) AS n, sum(n)::BIGINT AS sum FROM `+from+` WHERE domain = 'site-19.example'`)
		none := readers.DuckRows(t, db, `SELECT count(*) AS n FROM `+from+` WHERE domain IS NULL`)
		files := readers.DuckRows(t, db, fmt.Sprintf(`SELECT count(*) AS n FROM glob('%s/**/*.parquet')`, dir))
		const want = visitLanes * visitCommits * visitRows
		got := fmt.Sprintf("%v %v %v %v", all[0]["n"], all[0]["different"], all[0]["wrong"], none[0]["n"])
		if got != fmt.Sprintf("%d %d 0 %d", want, want, (want+10)/11) {
			t.Errorf("%v, %v without a domain", all, none)
		}
		if fmt.Sprint(all[0]["late"]) == "0" || fmt.Sprint(one[0]["n"]) == "0" {
			t.Errorf("the test has nothing to find: %v, %v", all[0], one[0])
		}
		n := int64(0)
		if _, err := fmt.Sscan(fmt.Sprint(files[0]["n"]), &n); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(all, one, none), n
	}
	before, many := ask()
	report, err := compact.Run(t.Context(), compact.Options{
		Root: store.NewLocal(out, store.System, log), Open: store.Open, Format: compact.Parquet{}, TargetBytes: 64 << 20, MinAge: -1, MinFiles: 2, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	after, few := ask()
	if before != after {
		t.Errorf("before %s\nafter  %s", before, after)
	}
	t.Logf("%d files were %d, of which %d were merged into %d", few, many, report.Merged, report.Files)
	if few != many-int64(report.Merged)+int64(report.Files) || report.Files < 5 {
		t.Errorf("%d and %d files, %+v", many, few, report)
	}
}
