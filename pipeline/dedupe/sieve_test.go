package dedupe

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/vfs"

	"github.com/urlmill/urlmill/pipeline"
)

// TestSieveIsFilled opens a state that has keys: the sieve gets them while they are found in the store, and spares look-ups
// in the end, those of keys that were added meanwhile included.
func TestSieveIsFilled(t *testing.T) {
	opts := Options{Path: "/seen", Memory: 8 << 20, fs: vfs.NewMem()}.withDefaults()
	known := randomKeys(1, 3*fillKeys+17)
	for name, entries := range map[string][]entry{"empty": nil, "keys": known[:len(known)-100]} {
		t.Run(name, func(t *testing.T) {
			s, err := openState(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			if len(entries) > 0 {
				addKeys(t, s, slices.Clone(entries))
			}
			if err := s.close(); err != nil {
				t.Fatal(err)
			}
		})
	}
	s, err := openState(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	// The lane commits while the sieve is filled, or after that.
	addKeys(t, s, slices.Clone(known[len(known)-100:]))
	k := s.seen.(*keys)
	checkKnown(t, s, known)
	for deadline := time.Now().Add(5 * time.Minute); k.sieved.Load() != math.MaxUint64; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the sieve is not filled")
		}
	}
	checkKnown(t, s, known)
	checkSpared(t, s)

	// As if the first half had been read so far, the rest is left to the store.
	k.sieved.Store(math.MaxUint64 / 2)
	checkKnown(t, s, known)
	checkKnown(t, s, known)
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}

// TestSieveIsAbandoned closes a state that has not read all of its keys.
func TestSieveIsAbandoned(t *testing.T) {
	opts := Options{Path: "/seen", Memory: 8 << 20, fs: vfs.NewMem()}.withDefaults()
	s, err := openState(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	known := randomKeys(1, 2*fillKeys)
	addKeys(t, s, slices.Clone(known))
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if s, err = openState(t.Context(), opts); err != nil {
			t.Fatal(err)
		}
		checkKnown(t, s, known[:10])
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
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

func checkKnown(t *testing.T, s *state, known []entry) {
	t.Helper()
	var asked []question
	for i, e := range known {
		asked = append(asked, s.ask(e, i))
	}
	if err := s.find(asked); err != nil {
		t.Fatal(err)
	}
	for _, q := range asked {
		if !q.seen {
			t.Fatalf("key %d was added and is not there", q.row)
		}
	}
}

// checkSpared checks that the store need not be asked about most keys that are not there.
func checkSpared(t *testing.T, s *state) {
	t.Helper()
	const n = 10_000
	var asked []question
	for i, e := range randomKeys(9, n) {
		asked = append(asked, s.ask(e, i))
	}
	if left := s.seen.(*keys).seek(asked); len(left) > n/50 {
		t.Errorf("of %d keys that are not there %d are sought in the store", n, len(left))
	}
}
