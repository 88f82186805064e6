package itest

import (
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/internal/dev/itest/readers"
	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// shapes are the kinds of generated tables.
var shapes = map[string]sinktest.Shape{
	"mixed":     {Nulls: 0.2, Empty: 0.2},
	"full":      {},
	"all_null":  {Nulls: 1},
	"all_empty": {Empty: 1},
	"shared":    {Nulls: 0.2, Empty: 0.1, Front: "https://www.example.com/"},
	"huge":      {Nulls: 0.1, HugeText: 1 << 20, HugeList: 1600, MaxList: 3},
}

// table generates rows in batches whose sizes differ.
func table(schema *arrow.Schema, shape sinktest.Shape, rows int) []arrow.Record {
	var recs []arrow.Record
	for at, n := 0, 1; at < rows; n = n*3%1000 + 1 {
		n = min(n, rows-at)
		recs = append(recs, sinktest.Random(memory.DefaultAllocator, schema, n, int64(at), 1, shape))
		at += n
	}
	return recs
}

func expected(recs []arrow.Record) []readers.Row {
	var rows []sinktest.Row
	for _, r := range recs {
		rows = append(rows, sinktest.Rows(r)...)
	}
	return readers.Expected(rows)
}

// write sends records through a sink, with a commit after every few.
func write(t *testing.T, s pipeline.Sink, err error, recs []arrow.Record) {
	t.Helper()
	writeEvery(t, s, err, recs, 4)
}

// writeAtOnce commits once, which makes one file.
func writeAtOnce(t *testing.T, s pipeline.Sink, err error, recs []arrow.Record) {
	t.Helper()
	writeEvery(t, s, err, recs, len(recs))
}

func writeEvery(t *testing.T, s pipeline.Sink, err error, recs []arrow.Record, n int) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context(), pipeline.Schemas{recs[0].Schema()}); err != nil {
		t.Fatal(err)
	}
	w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks", Partition: 1})
	if err != nil {
		t.Fatal(err)
	}
	at := int64(0)
	for i, r := range recs {
		span := pipeline.Span{First: at, Next: at + r.NumRows()}
		if err := w.Write(t.Context(), pipeline.Rows, r, span); err != nil {
			t.Fatal(err)
		}
		if at = span.Next; i%n == n-1 || i == len(recs)-1 {
			if next, err := w.Commit(t.Context()); next != at || err != nil {
				t.Fatal(next, err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T, dir, ext string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*."+ext))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	return names
}

// compare compares rows in order, and shows the first that differs.
func compare(t *testing.T, reader string, want, got []readers.Row) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: %d rows, want %d", reader, len(got), len(want))
		return
	}
	for i := range want {
		if reflect.DeepEqual(want[i], got[i]) {
			continue
		}
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Errorf("%s: row %d: want -, got +\n%.3000s", reader, i, diff)
			return
		}
	}
}

var quiet = slog.New(slog.DiscardHandler)

func create(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
