package dedupe

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble"
	"github.com/cockroachdb/pebble/vfs"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// deliver has a process write the rows of a lane up to end, in commits of ten, and ends it.
func deliver(d *disk, fs vfs.FS, opts Options, i int, end int64) error {
	p, err := begin(d, fs, opts)
	if err == nil {
		err = p.open(i)
	}
	for err == nil && p.read[i] < end {
		if err = p.write(i, 10); err == nil {
			err = p.commit(i)
		}
	}
	if p.lanes[i] != nil {
		err = errors.Join(err, p.abandon(i))
	}
	return errors.Join(err, p.sink.Close())
}

// TestRestoredOutput puts an output back from a backup: the rows that are gone are read again, and are new.
func TestRestoredOutput(t *testing.T) {
	for name, opts := range map[string]Options{"for ever": {}, "window": {Last: 1 << 20}} {
		for _, next := range []int64{pipeline.Unknown, 0, 10, 20} {
			opts.Path, opts.Mode, opts.KeyColumn, opts.Memory, opts.Positions = "/seen", Drop, "url_key", 8<<20, true
			fs, d := vfs.NewMem(), &disk{t: t, lanes: []*diskLane{laneOf(40), laneOf(60)}}
			for i, end := range []int64{40, 60} {
				if err := deliver(d, fs, opts, i, end); err != nil {
					t.Fatal(err)
				}
			}
			backup := max(next, 0)
			d.lanes[0].next, d.lanes[0].committed = backup, d.lanes[0].committed[:backup]
			d.lanes[0].deleted = next == pipeline.Unknown
			for i, end := range []int64{40, 60} {
				if err := deliver(d, fs, opts, i, end); err != nil {
					t.Fatalf("%s, the backup ends at %d: %v", name, next, err)
				}
				d.lanes[0].deleted = false
			}
			checkTruth(t, d, Drop)
		}
	}
}

// TestRestoredOutputOfTopics puts an output back to before a topic was made anew: what the new one had is gone, and what the
// old one had after that place as well.
func TestRestoredOutputOfTopics(t *testing.T) {
	opts := Options{Path: "/seen", Mode: Drop, KeyColumn: "url_key", Memory: 8 << 20, Positions: true}
	fs, d := vfs.NewMem(), &disk{t: t, lanes: []*diskLane{laneOf(40)}}
	d.lanes[0].of = "first"
	if err := deliver(d, fs, opts, 0, 40); err != nil {
		t.Fatal(err)
	}
	old := *d.lanes[0]
	anew := &diskLane{of: "second"}
	for i := range int64(40) {
		anew.input = append(anew.input, row{key: 100 + i, offset: i})
	}
	d.lanes[0] = anew
	if err := deliver(d, fs, opts, 0, 40); err != nil {
		t.Fatal(err)
	}
	old.next, old.committed = 20, old.committed[:20]
	d.lanes[0] = &old
	if err := deliver(d, fs, opts, 0, 40); err != nil {
		t.Fatal(err)
	}
	checkTruth(t, d, Drop)
	anew.next, anew.committed = 0, nil
	d.lanes[0] = anew
	if err := deliver(d, fs, opts, 0, 40); err != nil {
		t.Fatal(err)
	}
	checkTruth(t, d, Drop)
}

// TestRestoredOutputIsRefused has states that cannot forget what the output has lost.
func TestRestoredOutputIsRefused(t *testing.T) {
	opts := Options{Path: "/seen", Mode: Drop, KeyColumn: "url_key", Memory: 8 << 20, Positions: true}
	approximate := opts
	approximate.Approximate = &Approximate{Memory: 1 << 20, Keys: 1000}
	for name, opts := range map[string]Options{"approximate": approximate, "of an older version": opts} {
		fs, d := vfs.NewMem(), &disk{t: t, lanes: []*diskLane{laneOf(40)}}
		if err := deliver(d, fs, opts, 0, 20); err != nil {
			t.Fatal(err)
		}
		if opts.Approximate == nil {
			makeOlder(t, fs, opts, false)
		}
		if err := deliver(d, fs, opts, 0, 40); err != nil {
			t.Fatal(err)
		}
		d.lanes[0].next, d.lanes[0].committed = 10, d.lanes[0].committed[:10]
		err := deliver(d, fs, opts, 0, 40)
		if err == nil || !strings.Contains(err.Error(), "only up to offset 10") || !strings.Contains(err.Error(), "dedupe.path") {
			t.Errorf("%s: the error is %v", name, err)
		}
		if n := len(d.lanes[0].committed); n != 10 {
			t.Errorf("%s: %d rows are there", name, n)
		}
		opts.Path = "/anew" // as the error says
		if err := deliver(d, fs, opts, 0, 40); err != nil {
			t.Fatal(err)
		}
		checkTruth(t, d, Drop)
	}
}

// makeOlder makes of a state without windows one of a version that had keys in the store and, if origins is false, did not say where they are
// from.
func makeOlder(t *testing.T, fs vfs.FS, opts Options, origins bool) {
	t.Helper()
	opts.fs = fs
	s, err := openState(t.Context(), opts.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	from := map[uint64][]byte{}
	err = errors.Join(s.runs.set.Flush(), s.runs.numbered(fromKey, func(number uint64, text []byte) error {
		from[number] = bytes.Clone(text)
		return nil
	}))
	list, listErr := s.runs.list()
	if err = errors.Join(err, listErr, s.close()); err != nil {
		t.Fatal(err)
	}
	db, err := pebble.Open("/seen/db", &pebble.Options{FS: fs, Comparer: comparer()})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		in, err := runFiles{fs, "/seen/runs"}.Open(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := runs.OpenRun(in, in.Size())
		if err != nil {
			t.Fatal(err)
		}
		err = r.Each(t.Context(), func(keys []Key, values []uint64) error {
			for i, k := range keys {
				value := from[values[i]]
				if !origins {
					value = nil
				}
				if err := db.Set(append([]byte{seenKey}, k[:]...), value, nil); err != nil {
					return err
				}
			}
			return nil
		})
		if err = errors.Join(err, in.Close()); err != nil {
			t.Fatal(err)
		}
	}
	gone := []byte{runsKey, doneKey, fromKey}
	if !origins {
		gone = append(gone, originKey, laneKey)
	}
	for _, kind := range gone {
		err = errors.Join(err, db.DeleteRange([]byte{kind}, []byte{kind + 1}, nil))
	}
	err = errors.Join(err, db.Set([]byte{metaKey}, []byte(opts.describe()), nil), db.Close(), fs.RemoveAll("/seen/runs"))
	if err != nil {
		t.Fatal(err)
	}
}

// TestCarriedOver opens states of an older version: their keys are there, and forgotten where the output has lost their rows.
func TestCarriedOver(t *testing.T) {
	for _, positions := range []bool{true, false} {
		opts := Options{Path: "/seen", Mode: Drop, KeyColumn: "url_key", Memory: 8 << 20, Positions: positions}
		fs, d := vfs.NewMem(), &disk{t: t, lanes: []*diskLane{laneOf(60), laneOf(60)}}
		if err := deliver(d, fs, opts, 0, 40); err != nil {
			t.Fatal(err)
		}
		makeOlder(t, fs, opts, true)
		if positions {
			d.lanes[0].next, d.lanes[0].committed = 10, d.lanes[0].committed[:10]
		}
		for lane := range d.lanes {
			if err := deliver(d, fs, opts, lane, 60); err != nil {
				t.Fatal(err)
			}
		}
		checkTruth(t, d, Drop)
	}
}

// TestStateOfAnotherOutput is refused, until it is said that the output was moved.
func TestStateOfAnotherOutput(t *testing.T) {
	opts := Options{Path: "/seen", Mode: Drop, KeyColumn: "url_key", Memory: 8 << 20, Output: "/out/a"}
	fs, d := vfs.NewMem(), &disk{t: t, lanes: []*diskLane{laneOf(20)}}
	if err := deliver(d, fs, opts, 0, 10); err != nil {
		t.Fatal(err)
	}
	opts.Output = "/out/b"
	err := deliver(d, fs, opts, 0, 20)
	for _, want := range []string{"/out/a", "/out/b", "dedupe.path", "/seen/output"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, without %s", err, want)
		}
	}
	if err := errors.Join(fs.Remove("/seen/output"), deliver(d, fs, opts, 0, 20)); err != nil {
		t.Error(err)
	}
	checkTruth(t, d, Drop)
}

// TestOutputAheadOfState has a state that was put back from a backup, or a lane that another process has had: it is said, once.
func TestOutputAheadOfState(t *testing.T) {
	opts := Options{Path: "/seen", Mode: Drop, KeyColumn: "url_key", Memory: 8 << 20, Positions: true}
	fs, d := vfs.NewMem(), &disk{t: t, lanes: []*diskLane{laneOf(60)}}
	if err := deliver(d, fs, opts, 0, 20); err != nil {
		t.Fatal(err)
	}
	older := vfs.NewMem()
	if _, err := vfs.Clone(fs, older, "/seen", "/seen"); err != nil {
		t.Fatal(err)
	}
	if err := deliver(d, fs, opts, 0, 40); err != nil {
		t.Fatal(err)
	}
	for _, said := range []bool{true, false} {
		var log strings.Builder
		opts.Log = slog.New(slog.NewTextHandler(&log, nil))
		if err := deliver(d, older, opts, 0, d.lanes[0].next+10); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(log.String(), "from=20 to=40"); got != said {
			t.Errorf("it was said: %t, want %t:\n%s", got, said, &log)
		}
	}
}
