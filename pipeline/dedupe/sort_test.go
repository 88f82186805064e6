package dedupe

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// TestSortEntries compares with the order of the store, with one bucket and with several.
func TestSortEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := randomKeys(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 300).Draw(t, "n"))
		buckets := rapid.IntRange(1, 3).Draw(t, "buckets")
		for i := range entries {
			entries[i].bucket = int64(i % buckets)
		}
		before := make(map[entry]bool)
		for _, e := range entries {
			before[e] = true
		}
		sortEntries(entries)
		for i, e := range entries {
			if !before[e] {
				t.Fatal("not the same entries")
			}
			if i > 0 && (entries[i-1].bucket > e.bucket || entries[i-1].bucket == e.bucket && runs.Compare(&entries[i-1].key, &e.key) > 0) {
				t.Fatal("not in the order of the store")
			}
		}
		if len(slices.Compact(entries)) != len(before) {
			t.Fatal("entries are there twice")
		}
	})
}
