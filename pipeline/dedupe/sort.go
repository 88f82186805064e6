package dedupe

import (
	"cmp"
	"slices"

	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// sortEntries puts entries in the order of the store.
func sortEntries(entries []entry) {
	if !slices.ContainsFunc(entries, func(e entry) bool { return e.bucket != entries[0].bucket }) {
		runs.Sort(entries, func(e *entry) *Key { return &e.key })
		return
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.bucket != b.bucket {
			return cmp.Compare(a.bucket, b.bucket)
		}
		return runs.Compare(&a.key, &b.key)
	})
}
