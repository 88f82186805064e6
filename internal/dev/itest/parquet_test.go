package itest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

// TestAbout compares what pyarrow reads in the footers with the rows.
func TestAbout(t *testing.T) {
	for name, o := range map[string]parquet.Options{
		"pages": {RowGroupRows: 90, PageRows: 20},
		"gzip":  {Compression: "gzip", RowGroupRows: 90},
	} {
		for _, shape := range []string{"mixed", "all_null"} {
			t.Run(name+"/"+shape, func(t *testing.T) {
				o.Path, o.Version = filepath.Join(t.TempDir(), "out"), "9.9.9"
				recs := table(sinktest.AllTypes(), shapes[shape], 400)
				s, err := parquet.New(o, quiet)
				write(t, s, err, recs)
				var got []readers.Row
				for _, name := range files(t, o.Path, "parquet") {
					about, rows := readers.Pyarrow(t, "parquet", name)
					got = append(got, rows...)
					checkAbout(t, about, recs[0].Schema(), rows)
				}
				compare(t, "pyarrow", expected(recs), got)
			})
		}
	}
}

// checkAbout compares what pyarrow makes of the footer with the rows.
func checkAbout(t *testing.T, about readers.About, schema *arrow.Schema, rows []readers.Row) {
	t.Helper()
	if about.CreatedBy != "urlmill version 9.9.9" || about.Metadata["urlmill.stream"] != "clicks" || about.Metadata["urlmill.partition"] != "1" {
		t.Errorf("created by %q, metadata %v", about.CreatedBy, about.Metadata)
	}
	if got, want := about.Metadata["urlmill.next"], fmt.Sprint(last(rows)+1); got != want {
		t.Errorf("next position %s, want %s", got, want)
	}
	for _, f := range schema.Fields() {
		if got := strings.HasSuffix(about.Types[f.Name], " not null"); got == f.Nullable {
			t.Errorf("%s is %s", f.Name, about.Types[f.Name])
		}
	}
	at := int64(0)
	for _, g := range about.Groups {
		for _, c := range g.Chunks {
			if c.Distinct != nil && *c.Distinct == 0 && c.Values > 0 {
				t.Errorf("%s claims no distinct values", c.Path)
			}
			if strings.Contains(c.Path, ".") || c.Nulls == nil {
				continue
			}
			nulls := int64(0)
			for _, row := range rows[at : at+g.Rows] {
				if row[c.Path] == nil {
					nulls++
				}
			}
			if *c.Nulls != nulls || c.Values != g.Rows {
				t.Errorf("%s: %d nulls of %d, want %d of %d", c.Path, *c.Nulls, c.Values, nulls, g.Rows)
			}
		}
		at += g.Rows
	}
	if at != about.Rows || at != int64(len(rows)) {
		t.Errorf("%d rows in row groups, %d in the footer, %d read", at, about.Rows, len(rows))
	}
}

func last(rows []readers.Row) int {
	n := 0
	_, _ = fmt.Sscan(string(rows[len(rows)-1]["id"].(readers.Number)), &n)
	return n
}

// flatten adds the entries of a value to the leaves below its column: nil stands for a null and for an empty list.
func flatten(leaves map[string][]any, path string, dt arrow.DataType, v any, null bool) {
	switch dt := dt.(type) {
	case *arrow.ListType:
		path += ".list.element"
		list, _ := v.([]any)
		for _, e := range list {
			flatten(leaves, path, dt.Elem(), e, e == nil)
		}
		if len(list) == 0 {
			flatten(leaves, path, dt.Elem(), nil, true)
		}
	case *arrow.StructType:
		row, _ := v.(sinktest.Row)
		for _, f := range dt.Fields() {
			flatten(leaves, path+"."+f.Name, f.Type, row[f.Name], null || row[f.Name] == nil)
		}
	default:
		if null {
			leaves[path] = append(leaves[path], nil)
		} else {
			leaves[path] = append(leaves[path], readers.LeafExpected(dt, v))
		}
	}
}

// TestPruning asks DuckDB for ranges, for which it skips row groups by their statistics, and compares with the rows
// themselves.
func TestPruning(t *testing.T) {
	db := readers.Duck(t)
	o := parquet.Options{Path: filepath.Join(t.TempDir(), "out"), RowGroupRows: 50}
	recs := table(sinktest.AllTypes(), shapes["mixed"], 1000)
	s, err := parquet.New(o, quiet)
	write(t, s, err, recs)
	want := expected(recs)
	pattern := filepath.Join(o.Path, "*.parquet")
	for _, column := range []string{"text", "repeated_text", "bytes", "large_text"} {
		for i := 0; i < len(want); i += 41 {
			bound := want[i][column]
			if bound == nil {
				continue
			}
			arg, n := bound, 0
			if b, ok := bound.(readers.Bytes); ok {
				arg = []byte(b)
			}
			for _, row := range want {
				if v := row[column]; v != nil && fmt.Sprint(v) >= fmt.Sprint(bound) {
					n++
				}
			}
			got := readers.DuckRows(t, db, `SELECT count(*) AS n FROM read_parquet(?) WHERE "`+column+`" >= ?`, pattern, arg)
			if got[0]["n"] != readers.Number(fmt.Sprint(n)) {
				t.Errorf("%s >= %q: %v rows, want %d", column, bound, got[0]["n"], n)
			}
		}
	}
	for _, column := range []string{"id", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "ts_us", "day", "f64", "flag"} {
		// Every value must be found again.
		got := readers.DuckRows(t, db, `SELECT count(*) AS n FROM read_parquet($1) a WHERE a."`+column+
			`" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM read_parquet($1) b WHERE b."`+column+`" = a."`+column+`")`, pattern)
		if got[0]["n"] != readers.Number("0") {
			t.Errorf("%s: %v values are not found", column, got[0]["n"])
		}
		lo := readers.DuckRows(t, db, `SELECT min(a) AS lo, max(a) AS hi FROM (SELECT "`+column+`" AS a FROM read_parquet(?))`, pattern)
		scan := readers.DuckRows(t, db, `SELECT min(a) AS lo, max(a) AS hi FROM (SELECT "`+column+`" AS a FROM read_parquet(?) WHERE random() >= 0)`, pattern)
		compare(t, column+" by statistics", scan, lo)
	}
}

// TestStatistics compares minima and maxima of strings in the footer with the rows, from rows in memory that the
// sink's caller reuses.
func TestStatistics(t *testing.T) {
	db := readers.Duck(t)
	o := parquet.Options{Path: filepath.Join(t.TempDir(), "out"), RowGroupRows: 70}
	recs := table(sinktest.AllTypes(), sinktest.Shape{Nulls: 0.2}, 800)
	want := expected(recs)
	for i, r := range recs {
		recs[i] = copyOf(r)
	}
	s, err := parquet.New(o, quiet)
	write(t, overwriting{s}, err, recs)
	at := 0
	for _, name := range files(t, o.Path, "parquet") {
		about := readers.DuckRows(t, db, `SELECT row_group_id AS g, row_group_num_rows AS n, stats_min_value AS lo, stats_max_value AS hi
			FROM parquet_metadata(?) WHERE path_in_schema = 'repeated_text' OR path_in_schema = 'text_required' ORDER BY g, path_in_schema`, name)
		for i := 0; i < len(about); i += 2 {
			n := 0
			_, _ = fmt.Sscan(string(about[i]["n"].(readers.Number)), &n)
			for j, column := range []string{"repeated_text", "text_required"} {
				var lo, hi any
				for _, row := range want[at : at+n] {
					if v, ok := row[column].(string); ok {
						if lo == nil || v < lo.(string) {
							lo = v
						}
						if hi == nil || v > hi.(string) {
							hi = v
						}
					}
				}
				if got := about[i+j]; got["lo"] != lo || got["hi"] != hi {
					t.Errorf("%s rows %d to %d: %q to %q, want %q to %q", column, at, at+n, got["lo"], got["hi"], lo, hi)
				}
			}
			at += n
		}
	}
	if at != len(want) {
		t.Errorf("%d rows", at)
	}
}
