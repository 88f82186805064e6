package database

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/dev/leaktest"
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

	limits Limits // none if zero
	lanes  []Lane
}

func (f *fake) Start(context.Context, [pipeline.NumTables]*Target) error { return nil }
func (f *fake) Position(context.Context, Lane) (int64, string, error)    { return f.next, f.load, nil }
func (f *fake) Lanes(context.Context) ([]Lane, error)                    { return f.lanes, nil }
func (f *fake) Close() error                                             { return nil }
func (f *fake) Limits() Limits                                           { return cmp.Or(f.limits, NoLimits) }

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
	if c := pipeline.CountsOf(nil, s).Loads; c.Loads != 1 || c.Retries != 2 || s.held.Load() != 0 {
		t.Errorf("%+v, %d held", c, s.held.Load())
	}
	if next, err := w.Commit(t.Context()); next != 9 || err != nil || len(f.loads) != 3 {
		t.Errorf("a commit of nothing: %d, %v, %d loads", next, err, len(f.loads))
	}
}

// TestGrouped fills lanes of a database that stores ten rows together: they are full as near to a multiple of ten as whole
// records get from below, when nothing more than that would fit.
func TestGrouped(t *testing.T) {
	dead := make([]int64, 4)
	for _, c := range []struct {
		what    string
		options Options
		group   int64
		record  int
		dead    []int64 // dead letters with each record
		want    int     // rows without them
	}{
		{"less than three groups fit", Options{BatchRows: 29}, 10, 3, nil, 18},
		{"three groups fit", Options{BatchRows: 30}, 10, 3, nil, 30},
		{"whole records", Options{BatchRows: 29}, 10, 5, nil, 20},
		{"dead letters count as rows, but are in no group", Options{BatchRows: 60}, 10, 3, dead, 18},
		{"little more than a group fits", Options{BatchRows: 14}, 10, 3, nil, 15},
		{"a record has more than a group", Options{BatchRows: 29}, 10, 11, nil, 11},
		{"bytes", Options{BatchBytes: 29_000 * 8}, 10_000, 3_000, nil, 18_000},
		{"a database without groups", Options{BatchRows: 29}, 0, 3, nil, 30},
	} {
		limits := NoLimits
		limits.Group = c.group
		s, w := open(t, &fake{next: pipeline.Unknown, limits: limits}, c.options)
		s.schemas[pipeline.DeadLetters], s.flat[pipeline.DeadLetters] = schema, schema
		for round := range 2 { // what is loaded counts no more
			rows := 0
			for n := int64(0); rows < 100_000 && !w.Size().Full; n++ {
				span := pipeline.Span{First: n, Next: n + 1}
				err := w.Write(t.Context(), pipeline.Rows, record(make([]int64, c.record)...), span)
				if err == nil && c.dead != nil {
					err = w.Write(t.Context(), pipeline.DeadLetters, record(c.dead...), span)
				}
				if err != nil {
					t.Fatalf("%s: %v", c.what, err)
				}
				rows += c.record
			}
			if rows != c.want {
				t.Errorf("%s, load %d: full with %d rows, want %d", c.what, round, rows, c.want)
			}
			if _, err := w.Commit(t.Context()); err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
		}
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

// TestFit loads values of all kinds of columns at the limits and beyond them.
func TestFit(t *testing.T) {
	days := arrow.NewSchema([]arrow.Field{
		{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "s", Type: arrow.FixedWidthTypes.Timestamp_s, Nullable: true},
		{Name: "ms", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true},
		{Name: "us", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
		{Name: "ns", Type: arrow.FixedWidthTypes.Timestamp_ns, Nullable: true},
		{Name: "required", Type: arrow.FixedWidthTypes.Timestamp_us},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "large", Type: arrow.BinaryTypes.LargeString, Nullable: true},
		{Name: "bytes", Type: arrow.BinaryTypes.Binary, Nullable: true},
		{Name: "list", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "nested", Type: arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.String}), Nullable: true},
		{Name: "map", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.BinaryTypes.String), Nullable: true},
		{Name: "url_error", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	const fits = `"day":-10,"s":-2,"ms":-2000,"us":-2000000,"ns":-2000000000,"required":-9000000,"text":"0123456789","large":"0123456789","bytes":"MDEyMzQ1Njc4OQ==",` +
		`"list":["0123456789"],"nested":{"a":"0123"},"map":[{"key":"","value":""}]`
	const beyond = `"day":21,"s":4,"ms":4001,"us":-2000001,"ns":4000000001,"required":9000000,"text":"0123456789 0123456789 0123456789 0123456789","large":"0123456789 0123456789 0123456789 0123456789",` +
		`"bytes":"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODk=","list":["0123456789","0123456789","0123456789","0123456789"],"nested":{"a":"0123456789 0123456789 0123456789"},"map":[{"key":"a","value":"0123456789 0123456789 0123456789"}]`
	rows := "[{" + fits + `,"url_error":null},{` + beyond + `,"url_error":null},{` + beyond + `,"url_error":"mine"},{` + fits + `,"url_error":null}]`
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, days, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	columns, err := copyOf(r)
	if err != nil {
		t.Fatal(err)
	}
	lost := Limits{First: -2_000_000, Last: 3_999_999, FirstDay: -10, LastDay: 20, Bytes: 32}.fit(days, columns)
	if lost != 2*11 {
		t.Errorf("%d values lost", lost)
	}
	for i, f := range days.Fields() {
		for row := range 4 {
			want := row == 0 || row == 3 || f.Name == "required"
			if f.Name == noteColumn {
				if got, want := columns[i].ValueStr(row), []string{"(null)", Unfit, "mine", "(null)"}[row]; got != want {
					t.Errorf("row %d: %s, want %s", row, got, want)
				}
			} else if columns[i].IsValid(row) != want {
				t.Errorf("row %d: column %s is there: %v", row, f.Name, !want)
			}
		}
	}
	if columns[6].ValueStr(3) != "0123456789" || columns[6].NullN() != 2 {
		t.Errorf("%v", columns[6])
	}
}

// TestUnfitAreCounted counts what has become null once, however often its load is tried.
func TestUnfitAreCounted(t *testing.T) {
	nullable := arrow.NewSchema([]arrow.Field{{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, nullable)
	b.Field(0).(*array.Date32Builder).AppendValues([]arrow.Date32{1, -1, 2}, nil)
	f := &fake{next: pipeline.Unknown, fail: []error{Temporary(errors.New("away"))}, limits: Limits{LastDay: 1}}
	s := New(Options{Table: "t", Log: slog.New(slog.DiscardHandler)}, f)
	if err := s.Start(t.Context(), pipeline.Schemas{nullable}); err != nil {
		t.Fatal(err)
	}
	w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"})
	if err == nil {
		err = w.Write(t.Context(), pipeline.Rows, b.NewRecord(), pipeline.Span{First: 0, Next: 3})
	}
	for range 2 {
		if err == nil {
			_, err = w.Commit(t.Context())
		}
	}
	if c := pipeline.CountsOf(nil, s).Loads; err != nil || c.Nulled != 2 {
		t.Errorf("%+v, %v", c, err)
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
