package dedupe

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/cockroachdb/pebble/vfs"

	"github.com/urlmill/urlmill/pipeline"
)

// TestLast checks that duplicates are found within a window of keys and, an eighth of it later at most, no more.
func TestLast(t *testing.T) {
	for _, approximate := range []*Approximate{nil, {Memory: 4 << 20, Keys: 80}} {
		d := &disk{t: t, lanes: []*diskLane{{}}}
		for i := range int64(200) {
			d.lanes[0].input = append(d.lanes[0].input, row{key: i, offset: i})
		}
		d.lanes[0].input = append(d.lanes[0].input, row{key: 125, offset: 200}, row{key: 100, offset: 201})
		p, err := begin(d, vfs.NewMem(), Options{Path: "/seen", KeyColumn: "url_key", Identity: "test", Last: 80, Approximate: approximate})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.open(0); err != nil {
			t.Fatal(err)
		}
		for range 202 {
			if err := p.write(0, 1); err != nil {
				t.Fatal(err)
			}
			if _, err := p.lanes[0].Commit(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.sink.Close(); err != nil {
			t.Fatal(err)
		}
		for i, r := range d.lanes[0].committed {
			if want := i == 200; r.duplicate != want {
				t.Errorf("approximate=%t row %d of key %d: is_duplicate %t", approximate != nil, i, r.key, r.duplicate)
			}
		}
	}
}

// TestFalsePositives measures how many new keys filters take for known ones, when all that are expected are there.
func TestFalsePositives(t *testing.T) {
	opts := Options{
		Path: "/seen", KeyColumn: "url_key", Identity: "test", Approximate: &Approximate{Memory: 125_000, Keys: 100_000},
		fs: vfs.NewMem(),
	}.withDefaults()
	s, err := openState(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	entries := randomKeys(1, int(opts.Approximate.Keys))
	addKeys(t, s, entries)
	for _, e := range entries {
		if seen, err := has(s, e); !seen || err != nil {
			t.Fatalf("a key that was added is not there (%v)", err)
		}
	}
	const n = 100_000
	wrong := 0
	for _, e := range randomKeys(2, n) {
		if seen, _ := has(s, e); seen {
			wrong++
		}
	}
	got, want := float64(wrong)/n, opts.FalsePositives()
	t.Logf("%.3f %% measured, %.3f %% computed", 100*got, 100*want)
	if got > 1.3*want || got < 0.7*want {
		t.Errorf("%v measured, %v computed", got, want)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}

// has reports whether the key of an entry is in a state.
func has(s *state, e entry) (bool, error) {
	asked := []question{s.ask(e, 0)}
	err := s.seen.find(asked)
	return asked[0].seen, err
}

// recorder keeps the records that it is given, released when the test ends.
type recorder struct {
	pipeline.Sink
	t       *testing.T
	schema  *arrow.Schema
	records []arrow.Record
}

func (r *recorder) Start(_ context.Context, schemas pipeline.Schemas) error {
	r.schema = schemas[pipeline.Rows]
	return nil
}

func (r *recorder) Open(context.Context, pipeline.LaneID) (pipeline.Writer, int64, error) {
	return recording{r: r}, 0, nil
}
func (r *recorder) Close() error { return nil }

type recording struct {
	pipeline.Writer
	r *recorder
}

func (w recording) Write(_ context.Context, _ pipeline.Table, r arrow.Record, _ pipeline.Span) error {
	r.Retain()
	w.r.t.Cleanup(r.Release)
	w.r.records = append(w.r.records, r)
	return nil
}
func (w recording) Commit(context.Context) (int64, error) { return 0, nil }
func (w recording) Abandon() error                        { return nil }

// TestHideKey checks that the column of the keys is left out where it is to be, whatever becomes of duplicates.
func TestHideKey(t *testing.T) {
	for _, mode := range []Mode{Mark, Drop} {
		inner := &recorder{t: t}
		sink, err := New(inner, Options{Path: "/seen", Mode: mode, KeyColumn: "url_key", HideKey: true, fs: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Start(t.Context(), pipeline.Schemas{testSchema}); err != nil {
			t.Fatal(err)
		}
		w, _, err := sink.Open(t.Context(), lane(0))
		if err != nil {
			t.Fatal(err)
		}
		for i, keys := range [][]int64{{1, 2}, {2, 3, 3}} {
			var rows []row
			for n, k := range keys {
				rows = append(rows, row{key: k, offset: int64(10*i + n)})
			}
			r := record(rows)
			if err := w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{Next: 1}); err != nil {
				t.Fatal(err)
			}
			r.Release()
		}
		want := map[Mode]string{Mark: "offset tags is_duplicate", Drop: "offset tags"}[mode]
		kept := map[Mode]int64{Mark: 5, Drop: 3}[mode]
		for _, r := range inner.records {
			names := ""
			for _, f := range r.Schema().Fields() {
				names += " " + f.Name
			}
			if names != " "+want || !r.Schema().Equal(inner.schema) {
				t.Errorf("%s: columns%s, schema %v", mode, names, inner.schema)
			}
			kept -= r.NumRows()
		}
		if d := pipeline.CountsOf(nil, sink).Duplicates; kept != 0 || *d != (pipeline.DuplicateCounts{Rows: 2, Dropped: mode == Drop}) {
			t.Errorf("%s: %d rows too few; duplicates: %+v", mode, kept, d)
		}
		if err := w.Abandon(); err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWindowDoesNotGrow checks that a row leans on the first row of its page and not on a duplicate of that, which may be
// in the same record: that one's window is longer than its own.
func TestWindowDoesNotGrow(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "url_key", Type: arrow.BinaryTypes.Binary, Nullable: true},
		{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_s},
	}, nil)
	inner := &recorder{t: t}
	sink, err := New(inner, Options{Path: "/seen", KeyColumn: "url_key", Within: 8 * time.Second, TimeColumn: "at", fs: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Start(t.Context(), pipeline.Schemas{schema}); err != nil {
		t.Fatal(err)
	}
	w, _, err := sink.Open(t.Context(), lane(0))
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	var got []bool
	for _, seconds := range [][]int64{{100}, {107, 109, 110}, {117, 118}} {
		for _, s := range seconds {
			b.Field(0).(*array.BinaryBuilder).Append(keyOf(1))
			b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(s))
		}
		r := b.NewRecord()
		if err := w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{Next: 1}); err != nil {
			t.Fatal(err)
		}
		r.Release()
		if _, err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range inner.records {
		for i := range int(r.NumRows()) {
			got = append(got, r.Column(2).(*array.Boolean).Value(i))
		}
	}
	if want := []bool{false, true, false, true, true, false}; !slices.Equal(got, want) {
		t.Errorf("duplicates %v, want %v", got, want)
	}
	if err := errors.Join(w.Abandon(), sink.Close()); err != nil {
		t.Fatal(err)
	}
}
