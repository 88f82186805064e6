package config

import (
	"fmt"
	"strings"
)

// nearest returns the candidate that name most probably was meant to be, and false when none is near enough.
func nearest(name string, candidates []string) (string, bool) {
	best, bestDistance := "", 1+max(1, min(len(name)/3, 3))
	folded := fold(name)
	for _, c := range candidates {
		d := distance(folded, fold(c))
		if isPart(folded, fold(c)) {
			d = 1
		}
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best, best != ""
}

// fold makes spellings equal that differ in case and in how words are joined: batchRows, batch-rows, batch.rows, batch_rows.
func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(s))
}

// isPart reports whether one of the names is the other one cut short, at either end: int for int64, warning for warn, json for
// ndjson.
func isPart(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= 3 && (strings.HasPrefix(b, a) || strings.HasSuffix(b, a))
}

// distance is the optimal string alignment distance: the number of bytes inserted, deleted, replaced, or
// swapped with their neighbour.
func distance(a, b string) int {
	// Longer names cannot be near anything that we know; this bounds the work for hostile input.
	const limit = 64
	if len(a) > limit || len(b) > limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Suggest returns ` (did you mean "x"?)` for the candidate nearest to name, and "" when none is near.
func Suggest(name string, candidates []string) string {
	if c, ok := nearest(name, candidates); ok {
		return fmt.Sprintf(" (did you mean %q?)", c)
	}
	return ""
}
