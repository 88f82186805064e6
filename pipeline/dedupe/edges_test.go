package dedupe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/cockroachdb/pebble/vfs"

	"github.com/urlmill/urlmill/pipeline"
)

// TestOneProcess has two processes use one state: the second one is refused, and told why.
func TestOneProcess(t *testing.T) {
	opts := Options{Path: t.TempDir(), KeyColumn: "url_key", Identity: "test", Memory: 8 << 20}
	var sinks []*Sink
	for range 2 {
		s, err := New(&disk{t: t}, opts)
		if err != nil {
			t.Fatal(err)
		}
		sinks = append(sinks, s)
	}
	if err := sinks[0].Start(t.Context(), pipeline.Schemas{testSchema}); err != nil {
		t.Fatal(err)
	}
	if err := sinks[1].Start(t.Context(), pipeline.Schemas{testSchema}); err == nil || !strings.Contains(err.Error(), "one process at a time may use it") {
		t.Errorf("the second one: %v", err)
	}
	if err := errors.Join(sinks[1].Close(), sinks[0].Close()); err != nil {
		t.Fatal(err)
	}
}

// TestEarlyCommit fills the memory of keys that are not committed: a commit is asked for, and makes room.
func TestEarlyCommit(t *testing.T) {
	const rows = 100_000
	d := &disk{t: t, lanes: []*diskLane{{}}}
	for i := range int64(rows) {
		d.lanes[0].input = append(d.lanes[0].input, row{key: i, offset: i})
	}
	opts := Options{Path: "/seen", KeyColumn: "url_key", Identity: "test", Memory: 8 << 20}
	p, err := begin(d, vfs.NewMem(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.open(0); err != nil {
		t.Fatal(err)
	}
	for !p.lanes[0].Size().Full {
		if p.read[0] == rows {
			t.Fatalf("%d keys wait for a commit, and nobody asks for one", rows)
		}
		if err := p.write(0, 100); err != nil {
			t.Fatal(err)
		}
	}
	if held := p.read[0] * claimBytes; held < opts.Memory/8 || held > opts.Memory/4 {
		t.Errorf("a commit is asked for when %d bytes of %d are held", held, opts.Memory)
	}
	if err := p.commit(0); err != nil {
		t.Fatal(err)
	}
	if p.lanes[0].Size().Full {
		t.Error("there is no room after the commit")
	}
	if err := p.sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// timedRow is a row of a lane with a key and a time.
type timedRow struct {
	lane, key int64
	at        time.Time
}

// TestTimes checks by which times a window ends: that of the newest row of all lanes, and not those of rows of the future.
func TestTimes(t *testing.T) {
	now := time.Now()
	then := now.Add(-1000 * time.Hour)
	for name, c := range map[string]struct {
		rows []timedRow
		want []bool
	}{
		"the newest row of all lanes": {
			[]timedRow{{0, 1, then}, {0, 1, then.Add(time.Minute)}, {1, 2, then.Add(10 * time.Hour)}, {0, 1, then.Add(time.Minute)}},
			[]bool{false, true, false, false},
		},
		"rows older than the window": {
			[]timedRow{{0, 1, then}, {0, 3, now}, {0, 1, then}, {0, 2, then}, {0, 3, then}},
			[]bool{false, false, false, false, false},
		},
		"the future counts as now": {
			[]timedRow{{0, 1, now.Add(-30 * time.Minute)}, {0, 2, now.Add(1000 * time.Hour)}, {0, 1, now}, {0, 2, now}},
			[]bool{false, false, true, true},
		},
	} {
		for _, approximate := range []*Approximate{nil, {Memory: 4 << 20, Keys: 1000}} {
			t.Run(fmt.Sprintf("%s, approximate=%t", name, approximate != nil), func(t *testing.T) {
				if got := marksOf(t, Options{Within: time.Hour, TimeColumn: "at", Approximate: approximate}, c.rows); !slices.Equal(got, c.want) {
					t.Errorf("duplicates %v, want %v", got, c.want)
				}
			})
		}
	}
}

// marksOf commits row by row, and returns which of them are marked.
func marksOf(t *testing.T, opts Options, rows []timedRow) (marks []bool) {
	t.Helper()
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "url_key", Type: arrow.BinaryTypes.Binary, Nullable: true},
		{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_ms},
	}, nil)
	inner := &recorder{t: t}
	opts.Path, opts.KeyColumn, opts.fs = "/seen", "url_key", vfs.NewMem()
	sink, err := New(inner, opts)
	must(err, sink.Start(t.Context(), pipeline.Schemas{schema}))
	var lanes []pipeline.Writer
	for i := range 2 {
		w, _, err := sink.Open(t.Context(), lane(i))
		must(err)
		lanes = append(lanes, w)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i, row := range rows {
		b.Field(0).(*array.BinaryBuilder).Append(keyOf(row.key))
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(row.at.UnixMilli()))
		r := b.NewRecord()
		w := lanes[row.lane]
		must(w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{First: int64(i), Next: int64(i + 1)}))
		r.Release()
		_, err := w.Commit(t.Context())
		must(err)
	}
	for _, r := range inner.records {
		marks = append(marks, r.Column(2).(*array.Boolean).Value(0))
	}
	must(lanes[0].Abandon(), lanes[1].Abandon(), sink.Close())
	return marks
}

// forgetful is a disk that keeps rows and no positions, as outputs do that are delivered to at least once.
type forgetful struct{ *disk }

func (f forgetful) Open(ctx context.Context, id pipeline.LaneID) (pipeline.Writer, int64, error) {
	w, _, err := f.disk.Open(ctx, id)
	return w, pipeline.Unknown, err
}

// TestAtLeastOnce ends a process at each step of its commits over an output without positions, and has another one read again
// what was not acknowledged: rows may be there twice, and no page is without one that is no duplicate.
func TestAtLeastOnce(t *testing.T) {
	keys := []int64{1, 2, 1, -1, 3, 2, 4, 4}
	for _, mode := range []Mode{Mark, Drop} {
		for _, approximate := range []*Approximate{nil, {Memory: 1 << 20, Keys: 1000}} {
			opts := Options{Path: "/seen", Mode: mode, KeyColumn: "url_key", Identity: "test", Memory: 8 << 20, Approximate: approximate}
			for crash, died := 1, true; died; crash++ {
				d, fs := &disk{t: t, lanes: []*diskLane{{}}, crash: crash}, vfs.NewMem()
				for i, k := range keys {
					d.lanes[0].input = append(d.lanes[0].input, row{key: k, offset: int64(i)})
				}
				acknowledged := deliverAgain(t, d, fs, opts, 0)
				died = d.dead
				d.crash, d.dead = 0, false
				if got := deliverAgain(t, d, fs, opts, acknowledged); got != int64(len(keys)) {
					t.Fatalf("the second process has come to %d", got)
				}
				firsts := map[int64]int{}
				for _, r := range d.lanes[0].committed {
					if !r.duplicate {
						firsts[r.key]++
					}
				}
				for _, k := range keys {
					if firsts[k] == 0 {
						t.Errorf("%s, approximate=%t, after a death at step %d: page %d is not there: %v", mode, approximate != nil, crash, k, d.lanes[0].committed)
					}
				}
			}
		}
	}
}

// deliverAgain has a process read from a position on, with a commit every three rows, until it is done or dies. It returns the
// position that was acknowledged.
func deliverAgain(t *testing.T, d *disk, fs vfs.FS, opts Options, from int64) int64 {
	t.Helper()
	opts.fs, opts.Step = fs, d.step
	sink, err := New(forgetful{d}, opts)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{disk: d, sink: sink, lanes: make([]pipeline.Writer, 1), read: []int64{from}}
	err = sink.Start(t.Context(), pipeline.Schemas{testSchema})
	if err == nil {
		p.lanes[0], _, err = sink.Open(t.Context(), lane(0))
	}
	for err == nil && p.read[0] < int64(len(d.lanes[0].input)) {
		if err = p.write(0, 3); err == nil {
			var next int64
			if next, err = p.lanes[0].Commit(t.Context()); err == nil {
				from = next
			}
		}
	}
	if err != nil && !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	if p.lanes[0] != nil {
		err = p.lanes[0].Abandon()
	}
	if err = errors.Join(err, sink.Close()); err != nil && !errors.Is(err, errCrash) { // a dead process does no step of it
		t.Fatal(err)
	}
	return from
}
