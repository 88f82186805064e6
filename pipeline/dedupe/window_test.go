package dedupe

import (
	"context"
	"testing"

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
	s, err := openState(opts)
	if err != nil {
		t.Fatal(err)
	}
	entries := randomKeys(1, int(opts.Approximate.Keys))
	j, err := s.journal(pipeline.LaneID{Stream: "s"}, 1, entries)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.promote(j); err != nil {
		t.Fatal(err)
	}
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

// has tells whether the key of an entry is in a state.
func has(s *state, e entry) (bool, error) {
	asked := []question{s.ask(e, 0)}
	err := s.seen.find(asked)
	return asked[0].seen, err
}
