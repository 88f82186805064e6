package parquet

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	pq "github.com/parquet-go/parquet-go"

	"github.com/urlmill/urlmill/sinks/parquet/encode"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

// readBack returns the rows of a file by our own reader.
func readBack(t *testing.T, content []byte) []sinktest.Row {
	t.Helper()
	r, err := NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var rows []sinktest.Row
	if err := r.Each(t.Context(), func(rec arrow.Record) error {
		rows = append(rows, sinktest.Rows(rec)...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return rows
}

// Sorted files of all types have the same rows as unsorted ones, and each row group is in order.
func TestSortedRowsAreTheSame(t *testing.T) {
	s := sinktest.AllTypes()
	for _, by := range [][]string{
		{"text"}, {"repeated_text", "i64"}, {"flag", "u64", "bytes"}, {"day", "i8"}, {"ts_us", "large_text"}, {"u8", "i16"}, {"u16", "ts_ms", "id"}, {"i32", "u32"},
	} {
		t.Run(strings.Join(by, ","), func(t *testing.T) {
			var sorted, plain bytes.Buffer
			options := Options{RowGroupRows: 500}
			a, err := NewFile(&plain, s, options)
			if err != nil {
				t.Fatal(err)
			}
			options.SortBy = by
			b, err := NewFile(&sorted, s, options)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				r := sinktest.Random(memory.DefaultAllocator, s, 700, int64(700*i), 7, sinktest.Shape{Nulls: 0.2})
				for _, f := range []*File{a, b} {
					if err := f.Write(r); err != nil {
						t.Fatal(err)
					}
				}
				r.Release()
			}
			for _, f := range []*File{a, b} {
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
			}
			want, got := readBack(t, plain.Bytes()), readBack(t, sorted.Bytes())
			if slices.EqualFunc(want, got, same) {
				t.Error("the order is as before")
			}
			byID := func(x, y sinktest.Row) int { return cmp.Compare(fmt.Sprint(x["id"]), fmt.Sprint(y["id"])) }
			slices.SortStableFunc(want, byID)
			slices.SortStableFunc(got, byID)
			if !slices.EqualFunc(want, got, same) {
				t.Error("the rows are not the same")
			}
			checkSorted(t, sorted.Bytes(), by)
		})
	}
}

func same(a, b sinktest.Row) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// checkSorted has parquet-go compare the rows of every row group in the order that the footer declares.
func checkSorted(t *testing.T, content []byte, by []string) {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for g, group := range f.RowGroups() {
		var names []string
		for _, c := range group.SortingColumns() {
			if c.Descending() || c.NullsFirst() {
				t.Errorf("%v", c)
			}
			names = append(names, strings.Join(c.Path(), "."))
		}
		if !slices.Equal(names, by) {
			t.Fatalf("sorted by %v, want %v", names, by)
		}
		compare := f.Schema().Comparator(group.SortingColumns()...)
		rows := make([]pq.Row, group.NumRows())
		reader := group.Rows()
		for n := 0; n < len(rows); {
			m, err := reader.ReadRows(rows[n:])
			if m == 0 {
				t.Fatal(err)
			}
			n += m
		}
		for i := 1; i < len(rows); i++ {
			if compare(rows[i-1], rows[i]) > 0 {
				t.Fatalf("row group %d: row %d comes before row %d", g, i-1, i)
			}
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Rows that are equal in all columns stay in their order, also over a Flush, and the metadata says what they are sorted by.
func TestSortIsStable(t *testing.T) {
	recs := []arrow.Record{
		sinktest.RandomClicks(memory.DefaultAllocator, 3000, 0, 1), sinktest.RandomClicks(memory.DefaultAllocator, 3000, 3000, 2),
	}
	var out bytes.Buffer
	f, err := NewFile(&out, sinktest.Clicks(), Options{SortBy: []string{"registrable_domain"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recs {
		if err := f.Write(r); err != nil {
			t.Fatal(err)
		}
		if err := f.w.Flush(); err != nil {
			t.Fatal(err)
		}
		if m := f.w.Memory(); m > 2<<20 {
			t.Errorf("%d bytes are held after a flush", m)
		}
		r.Release()
	}
	if err := f.Close(encode.KeyValue{Key: "more", Value: "1"}); err != nil {
		t.Fatal(err)
	}
	last := map[string]int64{}
	for _, row := range readBack(t, out.Bytes()) {
		domain, offset := fmt.Sprint(row["registrable_domain"]), row["offset"].(int64)
		if before, ok := last[domain]; ok && before > offset {
			t.Fatalf("%s: offset %d comes before %d", domain, before, offset)
		}
		last[domain] = offset
	}
	checkSorted(t, out.Bytes(), []string{"registrable_domain"})
	r, err := NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !slices.Contains(r.Metadata(), encode.KeyValue{Key: KeySortBy, Value: `["registrable_domain"]`}) {
		t.Errorf("%v", r.Metadata())
	}
}

func TestSortByProblems(t *testing.T) {
	for want, o := range map[string]Options{
		"sort_by: path is there twice":                  {Path: "out", SortBy: []string{"path", "path"}},
		`sort_by: there is no column "domain"`:          {Path: "out", SortBy: []string{"domain"}},
		`sort_by: column "params" is of type list<item`: {Path: "out", SortBy: []string{"path", "params"}},
	} {
		err := o.Validate()
		if err == nil {
			err = o.CheckRows(sinktest.Clicks())
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: %v, want %s", o.SortBy, err, want)
		}
	}
}

// TestSortLeavesDeadLetters: dead letters lack the columns that rows are sorted by, and have files all the same.
func TestSortLeavesDeadLetters(t *testing.T) {
	f := &format{opts: &Options{SortBy: []string{"text"}}}
	*f.opts = f.opts.withDefaults()
	letters := arrow.NewSchema([]arrow.Field{{Name: "raw", Type: arrow.BinaryTypes.Binary}}, nil)
	if err := f.Check(letters); err != nil {
		t.Error(err)
	}
	if o := f.optionsOf(sinktest.AllTypes()); len(o.SortBy) != 1 {
		t.Errorf("rows are sorted by %v", o.SortBy)
	}
}

// TestRanksOfTexts: a column of few values is sorted by their ranks, one of many by the values, and both come to the same order,
// in which nulls are last and equal rows stay as they were.
func TestRanksOfTexts(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "id", Type: arrow.PrimitiveTypes.Int32}}, nil)
	const rows = 5000
	for values, ranked := range map[int]bool{1: true, 3: true, 400: true, 100_000: false} {
		rnd := rand.New(rand.NewPCG(1, uint64(values)))
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		texts := make([]string, rows)
		for i := range rows {
			if rnd.IntN(20) == 0 {
				b.Field(0).AppendNull()
				texts[i] = "\xff" // behind all others
			} else {
				texts[i] = fmt.Sprintf("www.host-%d.example", rnd.IntN(values))
				b.Field(0).(*array.StringBuilder).Append(texts[i])
			}
			b.Field(1).(*array.Int32Builder).Append(int32(i))
		}
		r := b.NewRecord()
		want := make([]int32, rows)
		for i := range want {
			want[i] = int32(i)
		}
		slices.SortStableFunc(want, func(a, b int32) int { return strings.Compare(texts[a], texts[b]) })
		sorter := &sorter{by: []int{0}}
		column := r.Column(0).(*array.String)
		if got := sorter.rankTexts(column, column.Value); got != ranked {
			t.Errorf("%d values: ranked %v", values, got)
		}
		sorter.sort(r)
		for i, o := range sorter.order {
			if o.row != want[i] {
				t.Errorf("%d values: row %d is at %d, want %d", values, o.row, i, want[i])
				break
			}
		}
		r.Release()
	}
}
