package table

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/leaktest"
	"github.com/urlmill/urlmill/pipeline"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var schema = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)

func record(n ...int64) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(n, nil)
	return b.NewRecord()
}

// fake is a database that fails as it is told to.
type fake struct {
	fail  []error
	loads []Load
	next  int64
	load  string // the last one, in the database
	lanes []Lane
}

func (f *fake) Start(context.Context, [pipeline.NumTables]*Target) error { return nil }
func (f *fake) Position(context.Context, Lane) (int64, string, error)    { return f.next, f.load, nil }
func (f *fake) Lanes(context.Context) ([]Lane, error)                    { return f.lanes, nil }
func (f *fake) Close() error                                             { return nil }
func (f *fake) Load(_ context.Context, l Load) error {
	f.loads = append(f.loads, l)
	if len(f.fail) == 0 {
		return nil
	}
	err := f.fail[0]
	f.fail = f.fail[1:]
	return err
}

func open(t *testing.T, f *fake, o Options) (*Sink, pipeline.Writer) {
	t.Helper()
	o.Table, o.Log = "t", slog.New(slog.DiscardHandler)
	s := New(o, f)
	if err := s.Start(t.Context(), pipeline.Schemas{schema}); err != nil {
		t.Fatal(err)
	}
	w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
	if err != nil {
		t.Fatal(err)
	}
	return s, w
}

// TestCopies checks that rows are copied, that a load that fails for a while is tried again as it was, and that the writer is
// full in time.
func TestCopies(t *testing.T) {
	f := &fake{next: pipeline.Unknown, fail: []error{Temporary(errors.New("away")), Temporary(errors.New("away"))}}
	s, w := open(t, f, Options{BatchRows: 3})
	r := record(1, 2)
	if err := w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{First: 5, Next: 7}); err != nil || w.Size().Full {
		t.Fatal(err, w.Size())
	}
	copy(r.Column(0).(*array.Int64).Int64Values(), []int64{8, 9}) // the memory is the caller's again
	if err := w.Write(t.Context(), pipeline.Rows, record(3), pipeline.Span{First: 7, Next: 9}); err != nil || !w.Size().Full || w.Size().Rows != 3 {
		t.Fatal(err, w.Size())
	}
	if next, err := w.Commit(t.Context()); next != 9 || err != nil {
		t.Fatal(next, err)
	}
	if len(f.loads) != 3 || f.loads[0].ID != f.loads[2].ID || f.loads[0].First != pipeline.Unknown || f.loads[0].Next != 9 {
		t.Errorf("%+v", f.loads)
	}
	if got := f.loads[2].Rows[pipeline.Rows][0].Column(0).(*array.Int64).Int64Values(); got[0] != 1 || got[1] != 2 {
		t.Errorf("%v", got)
	}
	if rows, _, loads, retries := s.Loaded(); rows != 3 || loads != 1 || retries != 2 || s.held.Load() != 0 {
		t.Errorf("%d rows, %d loads, %d retries, %d held", rows, loads, retries, s.held.Load())
	}
	if next, err := w.Commit(t.Context()); next != 9 || err != nil || len(f.loads) != 3 {
		t.Errorf("a commit of nothing: %d, %v, %d loads", next, err, len(f.loads))
	}
}

// TestErrors checks what becomes of a lane whose load fails for good, is fenced, or takes too long.
func TestErrors(t *testing.T) {
	gone := errors.New("gone")
	for _, c := range []struct{ err, want error }{{ErrFenced, pipeline.ErrLaneLost}, {gone, gone}, {Temporary(gone), gone}} {
		_, w := open(t, &fake{fail: []error{c.err, c.err, c.err}}, Options{RetryFor: time.Nanosecond})
		if err := w.Write(t.Context(), pipeline.Rows, record(1), pipeline.Span{First: 0, Next: 1}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := w.Commit(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		}
		if err := w.Abandon(); err != nil {
			t.Error(err)
		}
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{"clicks": "clicks", "a%b": "a%25b", "a\x00": "a%00", "\xffa": "%FFa", "\uFFFD": "\uFFFD", "bücher": "bücher"} {
		if got := escape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// The database keeps what positions are of behind the ID of a load.
func TestPosition(t *testing.T) {
	f := &fake{next: pipeline.Unknown}
	s, w := open(t, f, Options{})
	if err := w.Write(t.Context(), pipeline.Rows, record(1), pipeline.Span{First: 5, Next: 7, Of: "a b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		load string
		want pipeline.Mark
	}{{f.loads[0].ID, pipeline.Mark{Next: 7, Of: "a b"}}, {"RUN-1", pipeline.Mark{Next: 7}}} {
		f.next, f.load = 7, c.load
		if m, err := s.Position(t.Context(), pipeline.LaneID{Stream: "clicks"}); err != nil || m != c.want {
			t.Errorf("%q: %+v, %v", c.load, m, err)
		}
	}
}

// Lanes are those that have been escaped for the database, and no other.
func TestLanes(t *testing.T) {
	id := pipeline.LaneID{Stream: "a%b\xff/c\x00", Session: "m0"}
	s, _ := open(t, &fake{next: pipeline.Unknown, lanes: []Lane{laneOf(id), {Stream: "100%", Session: "x"}, {Stream: "%41", Session: "x"}}}, Options{})
	ids, err := s.Lanes(t.Context())
	if err != nil || len(ids) != 1 || ids[0] != id {
		t.Errorf("%q, %v", ids, err)
	}
}
