package dedupe

import (
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/vfs"
)

// TestHot compares with a list of what was added: nothing else is ever there, and what is asked for stays.
func TestHot(t *testing.T) {
	known, others := randomKeys(1, 4000), randomKeys(2, 4000)
	h := newHot(1000 * 16)
	asked := &known[0].key
	h.add(asked)
	for i := range known {
		h.add(&known[i].key)
		if !h.has(&known[i].key) {
			t.Fatal("the last key is not there")
		}
		if !h.has(asked) {
			t.Fatal("a key that is asked for again and again is gone")
		}
		if h.has(&others[i].key) {
			t.Fatal("a key is there that was never added")
		}
	}
	there := 0
	for i := range known {
		if h.has(&known[i].key) {
			there++
		}
	}
	// Each set has four places, and most are full.
	if there > 1000 || there < 900 {
		t.Errorf("%d keys are there, in a thousand places", there)
	}
	if h.has(&Key{}) {
		t.Error("the empty key is there, and was never added")
	}
	h.add(&Key{})
	if h.has(&Key{}) {
		t.Error("the empty key cannot be told from an empty place, and is there")
	}
}

// TestHotSparesStore checks that what was found once is not sought in the store again, and that new keys are, once they
// are committed.
func TestHotSparesStore(t *testing.T) {
	s, err := openState(t.Context(), Options{Path: "/seen", Memory: 8 << 20, fs: vfs.NewMem()}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}()
	known := randomKeys(1, 5000)
	addKeys(t, s, slices.Clone(known))
	sought := func() int {
		var asked []question
		for i, e := range known {
			asked = append(asked, s.ask(e, i))
		}
		left := s.seen.(*keys).seek(asked)
		for _, q := range asked[len(left):] {
			if !q.seen {
				t.Fatal("a key that was added is not there")
			}
		}
		return len(left)
	}
	if n := sought(); n != len(known) {
		t.Errorf("%d keys are sought in the store before any of %d was found", n, len(known))
	}
	checkKnown(t, s, known)
	if n := sought(); n > len(known)/50 {
		t.Errorf("%d of %d keys are sought again in the store", n, len(known))
	}
}
