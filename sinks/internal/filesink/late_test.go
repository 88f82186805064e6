package filesink

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/internal/partition"
	"github.com/urlmill/urlmill/sinks/store"
)

var timed = arrow.NewSchema([]arrow.Field{
	{Name: "n", Type: arrow.PrimitiveTypes.Int64},
	{Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true},
}, nil)

// at makes rows with the numbers of a span and the given times, "" for none.
func at(t testing.TB, first int64, times ...string) (arrow.Record, pipeline.Span) {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, timed)
	defer b.Release()
	for i, text := range times {
		b.Field(0).(*array.Int64Builder).Append(first + int64(i))
		if text == "" {
			b.Field(1).AppendNull()
			continue
		}
		v, err := time.Parse("2006-01-02 15:04:05.000", text)
		if err != nil {
			t.Fatal(err)
		}
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(v.UnixMilli()))
	}
	return b.NewRecord(), pipeline.Span{First: first, Next: first + int64(len(times))}
}

// numbersBelow returns the numbers in the visible files below a directory, by the directory of the file, and the number of files.
func numbersBelow(t *testing.T, dir string) (map[string][]int64, int) {
	t.Helper()
	found, files := map[string][]int64{}, 0
	eachVisible(t, dir, func(in string, lines []string) {
		files++
		for _, word := range lines {
			if n, err := strconv.ParseInt(word, 10, 64); err == nil {
				found[in] = append(found[in], n)
			}
		}
	})
	for _, numbers := range found {
		slices.Sort(numbers)
	}
	return found, files
}

// Late rows of many old directories are in one file of their own, in the same commit; what is in time, has no time or is
// of the future goes where it belongs.
func TestLate(t *testing.T) {
	for _, delivery := range []commit.Delivery{commit.ExactlyOnce, commit.AtLeastOnce} {
		t.Run(string(delivery), func(t *testing.T) {
			out, late := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "late")
			s := New(Options{
				Path: out, Format: &text{}, Log: slog.New(slog.DiscardHandler),
				Files: Files{
					Delivery: delivery, PartitionBy: []string{"date(ts)", "hour(ts)"}, Late: Late{Path: late, After: 2 * time.Hour},
				},
			})
			w := openLate(t, s)
			write := func(first int64, times ...string) {
				t.Helper()
				r, span := at(t, first, times...)
				defer r.Release()
				if err := w.Write(t.Context(), pipeline.Rows, r, span); err != nil {
					t.Fatal(err)
				}
			}
			// The newest directory is that of hour 12, so that what is before 10:00 is late.
			write(0, "2026-03-01 10:00:00.000", "2026-03-01 12:59:00.000", "2026-03-01 09:59:59.999", "", "2026-03-01 11:00:00.000")
			write(5, "2026-02-01 00:00:00.000", "1969-12-31 23:00:00.000", "2026-03-01 10:30:00.000", "2999-01-01 00:00:00.000")
			var old []string
			for day := 1; day <= 28; day++ {
				old = append(old, fmt.Sprintf("2026-01-%02d 05:00:00.000", day))
			}
			write(9, old...)
			if n := pipeline.CountsOf(nil, s).Late; n == nil || *n != 0 {
				t.Errorf("late rows before they are committed: %v", n)
			}
			if _, err := w.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			write(37, "2026-03-02 00:00:00.000", "2026-03-01 21:59:00.000", "2026-03-01 22:00:00.000")
			if _, err := w.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := pipeline.CountsOf(nil, s).Late; n == nil || *n != 32 {
				t.Errorf("late rows: %v; want 32", n)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			want := map[string][]int64{
				"dt=2026-03-01/hour=10": {0, 7}, "dt=2026-03-01/hour=12": {1}, "dt=2026-03-01/hour=11": {4}, "dt=2999-01-01/hour=00": {8},
				"dt=__HIVE_DEFAULT_PARTITION__/hour=__HIVE_DEFAULT_PARTITION__": {3},
				"dt=2026-03-02/hour=00": {37}, "dt=2026-03-01/hour=22": {39},
			}
			if got, _ := numbersBelow(t, out); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v, want %v", got, want)
			}
			lates := []int64{2, 5, 6}
			for n := int64(9); n < 37; n++ {
				lates = append(lates, n)
			}
			if got, files := numbersBelow(t, late); !slices.Equal(got["."], append(lates, 38)) || files != 2 {
				t.Errorf("%v in %d files", got, files)
			}
			if delivery == commit.ExactlyOnce {
				verifyLate(t, out, 40)
			}
		})
	}
}

// Which rows are late is said by the rows before them in their lane, not by the batches that they came in.
func TestLateInBatches(t *testing.T) {
	times := []string{
		"2026-03-01 10:10:00.000", "2026-03-01 10:20:00.000", "2026-03-01 10:30:00.000", "2026-03-01 11:10:00.000",
		"2026-03-01 10:40:00.000", "2999-01-01 00:00:00.000", "", "2026-03-01 11:20:00.000", "2026-02-01 00:00:00.000",
	}
	for _, rows := range []int{1, 2, 3, 4, 5, 8192} {
		out, late := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "late")
		s := New(Options{
			Path: out, Format: &text{}, Log: slog.New(slog.DiscardHandler),
			Files: Files{PartitionBy: []string{"hour(ts)"}, Late: Late{Path: late}},
		})
		w := openLate(t, s)
		first := int64(0)
		for batch := range slices.Chunk(times, rows) {
			r, span := at(t, first, batch...)
			if err := w.Write(t.Context(), pipeline.Rows, r, span); err != nil {
				t.Fatal(err)
			}
			r.Release()
			first = span.Next
		}
		if _, err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := numbersBelow(t, late); fmt.Sprint(got) != "map[.:[4 8]]" {
			t.Errorf("batches of %d rows: late are %v", rows, got)
		}
	}
}

// Telling the late rows of a batch in order allocates nothing beyond what [partition.Splitter.Split] does.
func BenchmarkSplitLate(b *testing.B) {
	s := New(Options{
		Path: filepath.Join(b.TempDir(), "out"), Format: &text{}, Log: slog.New(slog.DiscardHandler),
		Files: Files{PartitionBy: []string{"date(ts)", "hour(ts)"}, Late: Late{Path: filepath.Join(b.TempDir(), "late"), After: time.Hour}},
	})
	w := openLate(b, s)
	var times []string
	for i := range 8192 {
		times = append(times, fmt.Sprintf("2026-03-01 %02d:%02d:%02d.000", 12+i/4096, i/64%60, i%60))
	}
	r, _ := at(b, 0, times...)
	defer r.Release()
	table := w.(*writer).tables[pipeline.Rows].(*fileTable)
	splitter := s.splitters.Get().(*partition.Splitter)
	b.ReportAllocs()
	for b.Loop() {
		for _, part := range table.split(splitter, r) {
			part.Rows.Release()
		}
	}
	b.SetBytes(r.NumRows())
}

// What is old when a process starts is not late until its lane has come to something newer.
func TestLateAfterStart(t *testing.T) {
	out, late := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "late")
	for n, times := range [][]string{{"2026-03-01 12:00:00.000"}, {"2026-02-01 12:00:00.000", "2026-03-01 12:00:00.000", "2026-02-01 12:00:00.000"}} {
		s := New(Options{
			Path: out, Format: &text{}, Log: slog.New(slog.DiscardHandler),
			Files: Files{PartitionBy: []string{"date(ts)"}, Late: Late{Path: late, After: 2 * time.Hour}},
		})
		w := openLate(t, s)
		for i, text := range times {
			r, span := at(t, int64(n+i), text)
			if err := w.Write(t.Context(), pipeline.Rows, r, span); err != nil {
				t.Fatal(err)
			}
			r.Release()
		}
		if _, err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := numbersBelow(t, late); fmt.Sprint(got) != "map[.:[3]]" {
		t.Errorf("late are %v", got)
	}
}

func openLate(t testing.TB, s *Sink) pipeline.Writer {
	t.Helper()
	if err := s.Start(t.Context(), pipeline.Schemas{timed}); err != nil {
		t.Fatal(err)
	}
	w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func verifyLate(t *testing.T, out string, rows int64) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	r, err := verify.Run(t.Context(), verify.Options{Root: store.NewLocal(out, store.System, log), Open: store.Open, Log: log})
	if err != nil || !r.OK || r.Rows != rows || r.Commits != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestLateProblems(t *testing.T) {
	two := arrow.NewSchema(append(timed.Fields(), arrow.Field{Name: "seen", Type: arrow.FixedWidthTypes.Timestamp_us}), nil)
	for want, f := range map[string]Files{
		"late.path: missing; give the directory": {Late: Late{After: 1}},
		"late.path: it and path lie in each":     {Late: Late{Path: "./out"}},
		"late.path: it and dead_letters lie in":  {Late: Late{Path: "dead/late"}, DeadLetters: "dead"},
		"late.after: -1s is less than nothing":   {Late: Late{Path: "late", After: -time.Second}},
		"late: no directory is of a time":        {Late: Late{Path: "late"}, PartitionBy: []string{"n"}},
		"late: the directories are of two":       {Late: Late{Path: "late"}, PartitionBy: []string{"date(ts)", "hour(seen)"}},
	} {
		err := Options{Path: "out", Files: f}.Validate()
		if err == nil {
			err = f.CheckRows(two)
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", f.Late, err, want)
		}
	}
}
