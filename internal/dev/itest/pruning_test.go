package itest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/sinks/parquet"
)

const (
	prunedRows  = 20_000
	prunedGroup = 4_000 // rows of a row group
	prunedPage  = 500   // rows of a page
)

// sessions is a table in the order of the column id. Of 400 rows that follow each other, most have the same day, which is long
// enough for bounds to be cut; visitors come at random, so that only a bloom filter can tell where one is not.
type sessions struct {
	days, visitors []string // by id; "" is null
}

func newSessions() (sessions, []arrow.Record) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "day", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "visitor", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	r := rand.New(rand.NewPCG(1, 2))
	var s sessions
	var recs []arrow.Record
	for at := 0; at < prunedRows; at += 1000 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := at; i < at+1000; i++ {
			day := fmt.Sprintf("%s%05d-%s", strings.Repeat("day-", 10), i/400, strings.Repeat("x", i%300))
			visitor := fmt.Sprintf("visitor-%d", r.IntN(1_000_000))
			if i%17 == 0 {
				day = ""
			}
			if i%5 == 0 {
				visitor = ""
			}
			b.Field(0).(*array.Int64Builder).Append(int64(i))
			for c, v := range []string{day, visitor} {
				if v == "" {
					b.Field(1 + c).AppendNull()
				} else {
					b.Field(1 + c).(*array.StringBuilder).Append(v)
				}
			}
			s.days, s.visitors = append(s.days, day), append(s.visitors, visitor)
		}
		recs = append(recs, b.NewRecord())
		b.Release()
	}
	return s, recs
}

// where returns the ids of the rows for which is holds.
func where(values []string, is func(string) bool) []int64 {
	ids := []int64{}
	for i, v := range values {
		if v != "" && is(v) {
			ids = append(ids, int64(i))
		}
	}
	return ids
}

// query is a condition with the rows that it has to find, and what has to be left unread.
type query struct {
	condition        string
	want             []int64
	byGroup, byBloom bool // row groups are skipped by statistics, or by bloom filters
	byPage           bool // and pages of those that are left
}

func (s sessions) queries() []query {
	var out []query
	for _, i := range []int{0, 1, 400, 3_999, 4_000, 12_345, prunedRows - 1} {
		out = append(out, query{fmt.Sprint("id = ", i), []int64{int64(i)}, true, false, true})
	}
	out = append(out, query{"id BETWEEN 3900 AND 4100", seq(3900, 4101), true, false, true}, query{"id < 0", []int64{}, false, false, false})
	for _, i := range []int{1, 777, 9_998, prunedRows - 2} {
		day := s.days[i]
		out = append(out,
			query{fmt.Sprintf("day = '%s'", day), where(s.days, func(v string) bool { return v == day }), true, false, true},
			query{fmt.Sprintf("day > '%s'", day), where(s.days, func(v string) bool { return v > day }), false, false, i > 4*prunedPage},
			query{fmt.Sprintf("day <= '%s'", day), where(s.days, func(v string) bool { return v <= day }), false, false, i < prunedRows/2})
		visitor := s.visitors[i]
		out = append(out, query{fmt.Sprintf("visitor = '%s'", visitor), where(s.visitors, func(v string) bool { return v == visitor }), false, true, false})
	}
	// One that never came, but is between others.
	return append(out, query{"visitor = 'visitor-5x'", []int64{}, false, true, false})
}

func seq(from, to int64) []int64 {
	var ids []int64
	for i := from; i < to; i++ {
		ids = append(ids, i)
	}
	return ids
}

// TestPrunes has DataFusion skip row groups by minima and maxima and by bloom filters, and pages by the page index,
// and find every row all the same.
func TestPrunes(t *testing.T) {
	s, recs := newSessions()
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprint("v", version), func(t *testing.T) {
			name := writeSessions(t, recs, version)
			queries := s.queries()
			var conditions []string
			for _, q := range queries {
				conditions = append(conditions, q.condition)
			}
			results := readers.Prune(t, name, conditions)
			var groups, pages, blooms int64
			for i, q := range queries {
				r := results[i]
				if !slices.Equal(r.Rows, q.want) {
					t.Errorf("%.60s: %d rows, want %d", q.condition, len(r.Rows), len(q.want))
				}
				groups += r.Statistics[0] - r.Statistics[1]
				blooms += r.Bloom[0] - r.Bloom[1]
				pages += r.PageRows[0] - r.PageRows[1]
				if q.byGroup && r.Statistics[0]-r.Statistics[1] < prunedRows/prunedGroup-2 {
					t.Errorf("%.60s: statistics left %d of %d row groups", q.condition, r.Statistics[1], r.Statistics[0])
				}
				if q.byBloom && r.Bloom[1] >= r.Bloom[0] {
					t.Errorf("%.60s: bloom filters left %d of %d row groups", q.condition, r.Bloom[1], r.Bloom[0])
				}
				if q.byPage && r.PageRows[1] >= r.PageRows[0] {
					t.Errorf("%.60s: the page index left %d of %d rows", q.condition, r.PageRows[1], r.PageRows[0])
				}
			}
			t.Logf("%d queries: %d row groups skipped by statistics, %d by bloom filters, %d rows by the page index",
				len(queries), groups, blooms, pages)
		})
	}
}

// TestBloomFilters asks DuckDB, which probes them by themselves, for visitors that came, and for some that did not.
func TestBloomFilters(t *testing.T) {
	s, recs := newSessions()
	name := writeSessions(t, recs, 1)
	db := readers.Duck(t)
	denied := func(visitor string) map[string]bool {
		out := map[string]bool{}
		for _, row := range readers.DuckRows(t, db, `SELECT row_group_id AS g, bloom_filter_excludes AS no
			FROM parquet_bloom_probe(?, 'visitor', ?)`, name, visitor) {
			out[fmt.Sprint(row["g"])] = row["no"].(bool)
		}
		return out
	}
	for i := 1; i < prunedRows; i += 97 {
		if s.visitors[i] != "" && denied(s.visitors[i])[fmt.Sprint(i/prunedGroup)] {
			t.Errorf("the filter of row group %d denies %s, who is in row %d", i/prunedGroup, s.visitors[i], i)
		}
	}
	wrong, asked := 0, 0
	for i := range 200 {
		for _, no := range denied(fmt.Sprint("nobody-", i)) {
			asked++
			if !no {
				wrong++
			}
		}
	}
	t.Logf("%d of %d answers about visitors who never came are wrong", wrong, asked)
	if asked != 200*prunedRows/prunedGroup || wrong > asked/20 {
		t.Errorf("%d of %d answers about visitors who never came are wrong", wrong, asked)
	}
}

// writeSessions returns the only file.
func writeSessions(t *testing.T, recs []arrow.Record, version int) string {
	t.Helper()
	o := parquet.Options{
		Path: filepath.Join(t.TempDir(), "out"), RowGroupRows: prunedGroup, PageRows: prunedPage, PageVersion: version,
		BloomFilters: []string{"visitor"},
	}
	s, err := parquet.New(o, quiet)
	writeAtOnce(t, s, err, recs)
	names := files(t, o.Path, "parquet")
	if len(names) != 1 {
		t.Fatalf("%d files", len(names))
	}
	return names[0]
}
