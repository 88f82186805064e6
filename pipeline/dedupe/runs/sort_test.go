package runs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSort compares with sorting by comparisons, for keys that are spread like hashes and for others.
func TestSort(t *testing.T) {
	of := func(k *Key) *Key { return k }
	check := func(t rapid.TB, keys []Key) {
		want := slices.Clone(keys)
		slices.SortFunc(want, func(a, b Key) int { return Compare(&a, &b) })
		Sort(keys, of)
		if !slices.Equal(keys, want) {
			t.Fatal("not in order, or not the same keys")
		}
	}
	shuffled := func(seed uint64, n int) []Key {
		keys := randomKeys(seed, n)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		return keys
	}
	for _, n := range []int{0, 1, 2, 31, 33, 1000, 8192, 300_000} {
		check(t, shuffled(uint64(n), n))
	}
	t.Run("any", rapid.MakeCheck(func(t *rapid.T) {
		keys := shuffled(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 300).Draw(t, "n"))
		keep := rapid.IntRange(0, 16).Draw(t, "bytes that differ")
		for i := range keys {
			clear(keys[i][:16-keep])
		}
		check(t, keys)
	}))
}

// TestFilter checks that a filter has every key that was added, and how many others it lets through.
func TestFilter(t *testing.T) {
	const n = 200_000
	known, others := randomKeys(1, n), randomKeys(2, n)
	for bitsPerKey, most := range map[int64]float64{20: 0.001, 10: 0.02, 5: 0.15, 0: 1} {
		f := NewFilter(n * bitsPerKey / 8)
		through := 0
		for i := range known {
			f.Add(&known[i])
		}
		for i := range known {
			if !f.Has(&known[i]) {
				t.Fatalf("%d bits a key: one that was added is not there", bitsPerKey)
			}
			if f.Has(&others[i]) {
				through++
			}
		}
		if share := float64(through) / n; share > most {
			t.Errorf("%d bits a key: a share of %.4f of other keys gets through, more than %.4f", bitsPerKey, share, most)
		}
	}
}
