package dedupe

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/vfs"

	"github.com/urlmill/urlmill/pipeline"
)

// randomKeys returns keys that are like hashes. The same seed gives the same ones.
func randomKeys(seed uint64, n int) []entry {
	rng := rand.New(rand.NewPCG(seed, 0))
	entries := make([]entry, n)
	for i := range entries {
		binary.BigEndian.PutUint64(entries[i].key[:], rng.Uint64())
		binary.BigEndian.PutUint64(entries[i].key[8:], rng.Uint64())
	}
	return entries
}

// TestFiltersSpareBlocks checks that with windows keys that are not there are told so by the filters of all levels, the last one included:
// what the throughput of large states depends on.
func TestFiltersSpareBlocks(t *testing.T) {
	s, err := openState(t.Context(), Options{Path: "/seen", Memory: 8 << 20, Last: 1 << 20, fs: vfs.NewMem()}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	known := randomKeys(1, 20_000)
	addKeys(t, s, known)
	if err := s.db.Compact([]byte{0}, []byte{0xff}, false); err != nil {
		t.Fatal(err)
	}
	levels := s.db.Metrics().Levels
	if levels[len(levels)-1].NumFiles == 0 {
		t.Fatal("there is no table at the last level, which this is about")
	}
	for _, e := range known {
		if seen, err := has(s, e); !seen || err != nil {
			t.Fatalf("a key that was added is not there (%v)", err)
		}
	}
	before := s.db.Metrics().Filter.Hits
	const n = 10_000
	for _, e := range randomKeys(2, n) {
		if seen, err := has(s, e); seen || err != nil {
			t.Fatalf("a key that was not added: there %t, %v", seen, err)
		}
	}
	if spared := s.db.Metrics().Filter.Hits - before; spared < n*95/100 {
		t.Errorf("of %d keys that are not there the filters knew %d", n, spared)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}

func addKeys(t *testing.T, s *state, entries []entry) {
	t.Helper()
	j := s.newJournal(pipeline.LaneID{Stream: "s"}, pipeline.Mark{Next: 1})
	if err := s.write(t.Context(), j, entries); err != nil {
		t.Fatal(err)
	}
	if err := s.promote(j); err != nil {
		t.Fatal(err)
	}
}

// TestOrphans opens a state whose last process has died while it wrote a run: the file is removed.
func TestOrphans(t *testing.T) {
	opts := Options{Path: "/seen", Memory: 8 << 20, table: 100, fs: vfs.NewMem()}.withDefaults()
	known := randomKeys(1, 1000)
	for range 2 {
		s, err := openState(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		names, err := opts.fs.List("/seen/runs")
		list, listErr := s.runs.list()
		if err := errors.Join(err, listErr); err != nil || len(names) != len(list) {
			t.Errorf("files %v for the runs %v: %v", names, list, err)
		}
		addKeys(t, s, slices.Clone(known))
		for _, e := range known {
			if seen, err := has(s, e); !seen || err != nil {
				t.Fatalf("a key that was added is not there (%v)", err)
			}
		}
		if err := errors.Join(s.runs.set.Flush(), s.close()); err != nil {
			t.Fatal(err)
		}
		if err := writeFile(opts.fs, "/seen/runs/0000000000ff", "cut off"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFind asks about keys in any order, some of them several times, in one go.
func TestFind(t *testing.T) {
	s, err := openState(t.Context(), Options{Path: "/seen", Memory: 8 << 20, fs: vfs.NewMem()}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	known, others := randomKeys(1, 1000), randomKeys(2, 1000)
	addKeys(t, s, append([]entry(nil), known...))
	var asked []question
	for i := range known {
		for _, e := range []entry{known[i], others[i], known[len(known)-1-i], others[i]} {
			asked = append(asked, s.ask(e, len(asked)))
		}
	}
	if err := s.seen.find(asked); err != nil {
		t.Fatal(err)
	}
	for _, q := range asked {
		if want := q.row%2 == 0; q.seen != want {
			t.Fatalf("key %d: there %t, want %t", q.row, q.seen, want)
		}
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}
