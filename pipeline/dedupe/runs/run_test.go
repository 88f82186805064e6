package runs

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// randomKeys returns keys that are like hashes, in order. The same seed gives the same ones.
func randomKeys(seed uint64, n int) []Key {
	rng := rand.New(rand.NewPCG(seed, 0))
	keys := make([]Key, n)
	for i := range keys {
		keys[i] = number{rng.Uint64(), rng.Uint64()}.key()
	}
	Sort(keys, func(k *Key) *Key { return k })
	return keys
}

// runOf returns a run of keys, whose values are what value says.
func runOf(t rapid.TB, keys []Key, value func(i int) uint64) (*Run, []byte) {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	for i := range keys {
		if err := w.Add(keys[i:i+1], value(i)); err != nil {
			t.Fatal(err)
		}
	}
	info, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenRun(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if r.Info() != info || info.Bytes != int64(out.Len()) {
		t.Fatalf("%+v was written, and %+v read, of %d bytes", info, r.Info(), out.Len())
	}
	return r, out.Bytes()
}

// entriesOf reads a run.
func entriesOf(t rapid.TB, r *Run) (all []entry) {
	t.Helper()
	for s := r.scan(context.Background(), 0); ; {
		entries, err := s.next()
		if err != nil {
			t.Fatal(err)
		}
		if entries == nil {
			return all
		}
		all = append(all, entries...)
	}
}

// TestRun compares runs with the keys that they were made of, spread like hashes or not.
func TestRun(t *testing.T) {
	check := func(t rapid.TB, keys []Key, value func(int) uint64) {
		r, _ := runOf(t, keys, value)
		got := entriesOf(t, r)
		if len(got) != len(keys) {
			t.Fatalf("%d entries of %d", len(got), len(keys))
		}
		for i, e := range got {
			if e.key() != keys[i] || e.value != value(i) {
				t.Fatalf("entry %d of %d: %x with the value %d, want %x with %d", i, len(keys), e.key(), e.value, keys[i], value(i))
			}
		}
		asked := slices.Clone(keys)
		for _, k := range keys {
			for _, near := range []number{{0, 1}, {1, 0}, {^uint64(0), ^uint64(0)}, {1 << 40, 0}} {
				asked = append(asked, numberOf(&k).plus(near).key())
			}
		}
		asked = append(asked, Key{}, number{^uint64(0), ^uint64(0)}.key())
		Sort(asked, func(k *Key) *Key { return k })
		found := make([]bool, len(asked))
		if err := r.Find(asked, found); err != nil {
			t.Fatal(err)
		}
		for i, k := range asked {
			_, want := slices.BinarySearchFunc(keys, k, func(a, b Key) int { return Compare(&a, &b) })
			if found[i] != want {
				t.Fatalf("%x of %d keys: found %t", k, len(keys), found[i])
			}
		}
	}
	for _, n := range []int{0, 1, 2, 255, 256, 257, 1000, 100_000} {
		check(t, randomKeys(uint64(n), n), func(i int) uint64 { return uint64(i%7) * uint64(n) })
	}
	t.Run("any", rapid.MakeCheck(func(t *rapid.T) {
		keys := randomKeys(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 700).Draw(t, "n"))
		from, to := rapid.IntRange(0, 16).Draw(t, "zeros"), rapid.IntRange(0, 16).Draw(t, "bytes")
		for i := range keys {
			clear(keys[i][min(from, to):max(from, to)])
		}
		Sort(keys, func(k *Key) *Key { return k })
		keys = slices.Compact(keys)
		width := rapid.IntRange(0, 63).Draw(t, "value bits")
		seed := rapid.Uint64().Draw(t, "values")
		check(t, keys, func(i int) uint64 { return rand.New(rand.NewPCG(seed, uint64(i))).Uint64() >> width })
	}))
}

// TestRunSize checks how many bytes a key takes, which is what runs are for.
func TestRunSize(t *testing.T) {
	const n = 1_000_000
	for commits, most := range map[uint64]float64{1: 14.05, 500: 15.2} {
		rng := rand.New(rand.NewPCG(3, 0))
		_, data := runOf(t, randomKeys(1, n), func(int) uint64 { return 1000 + rng.Uint64N(commits) })
		if each := float64(len(data)) / n; each > most {
			t.Errorf("%d commits: %.2f bytes a key, more than %.2f", commits, each, most)
		} else {
			t.Logf("%d commits: %.2f bytes a key", commits, each)
		}
	}
}

// TestMerge compares with sorting all entries.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []entry
		var some []*Run
		for range rapid.IntRange(0, 9).Draw(t, "runs") {
			keys := randomKeys(rapid.Uint64Range(0, 5).Draw(t, "seed"), rapid.IntRange(0, 600).Draw(t, "n"))
			value := rapid.Uint64Range(0, 3).Draw(t, "value")
			r, _ := runOf(t, keys, func(int) uint64 { return value })
			some = append(some, r)
			all = append(all, entriesOf(t, r)...)
		}
		gone := rapid.Uint64Range(0, 5).Draw(t, "gone")
		var out bytes.Buffer
		if _, err := Merge(context.Background(), &out, some, func(v uint64) bool { return v != gone }); err != nil {
			t.Fatal(err)
		}
		r, err := OpenRun(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(all, func(a, b entry) int {
			switch {
			case a.less(&b):
				return -1
			case b.less(&a):
				return 1
			}
			return 0
		})
		all = slices.DeleteFunc(slices.Compact(all), func(e entry) bool { return e.value == gone })
		if got := entriesOf(t, r); !slices.Equal(got, all) {
			t.Fatalf("%d entries, want %d", len(got), len(all))
		}
	})
}
