package dedupe

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSortByKey compares with sorting by comparisons, for keys that are spread like hashes and for others.
func TestSortByKey(t *testing.T) {
	of := func(e *entry) *Key { return &e.key }
	compare := func(a, b entry) int { return compareKeys(&a.key, &b.key) }
	check := func(t rapid.TB, entries []entry) {
		want := slices.Clone(entries)
		slices.SortFunc(want, compare)
		sortByKey(entries, of)
		if !slices.EqualFunc(entries, want, func(a, b entry) bool { return a.key == b.key }) {
			t.Fatal("not in order, or not the same keys")
		}
	}
	for _, n := range []int{0, 1, 2, 31, 33, 1000, 8192, 300_000} {
		check(t, randomKeys(uint64(n), n))
	}
	t.Run("any", rapid.MakeCheck(func(t *rapid.T) {
		entries := randomKeys(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 300).Draw(t, "n"))
		keep := rapid.IntRange(0, 16).Draw(t, "bytes that differ")
		for i := range entries {
			clear(entries[i].key[:16-keep])
			entries[i].bucket = int64(i % rapid.IntRange(1, 3).Draw(t, "buckets"))
		}
		check(t, slices.Clone(entries))
		sortEntries(entries)
		for i := range max(len(entries)-1, 0) {
			if a, b := entries[i], entries[i+1]; a.bucket > b.bucket || a.bucket == b.bucket && compare(a, b) > 0 {
				t.Fatal("not in the order of the store")
			}
		}
	}))
}
