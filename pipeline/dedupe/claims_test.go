package dedupe

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestClaims compares with a list of claims, of keys most of which come into one table and are claimed and given up again and again.
func TestClaims(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		near := rapid.Int64Range(0, 2).Draw(t, "near")
		c, want := newClaims(near), []claim(nil)
		keys := randomKeys(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 60).Draw(t, "keys"))
		for i := range keys {
			keys[i].key[0] &= 1
		}
		for range rapid.IntRange(1, 400).Draw(t, "calls") {
			e := rapid.SampledFrom(keys).Draw(t, "key")
			e.bucket = rapid.Int64Range(0, 5).Draw(t, "bucket")
			lane := rapid.Uint64Range(1, 2).Draw(t, "lane")
			if rapid.Bool().Draw(t, "release") {
				c.release(lane, []entry{e})
				want = slices.DeleteFunc(want, func(w claim) bool { return w == claim{e, lane} })
				continue
			}
			is := slices.ContainsFunc(want, func(w claim) bool { return w.key == e.key && c.isNear(w.bucket, e.bucket) })
			duplicate := []bool{false}
			if c.take(lane, []entry{e}, []bool{false}, duplicate); duplicate[0] != is {
				t.Fatalf("duplicate: %t, and should be %t", duplicate[0], is)
			}
			if !is {
				want = append(want, claim{e, lane})
			}
		}
		if n := c.count(); n != int64(len(want)) {
			t.Fatalf("%d claims, and should be %d", n, len(want))
		}
	})
}
