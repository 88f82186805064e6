package dedupe

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/cockroachdb/pebble"
)

// keys are the keys of committed rows in the store itself, by bucket.
type keys struct {
	db      *pebble.DB
	buckets atomic.Pointer[[]int64] // that there are, in order; the slice is never changed
}

// openKeys finds the buckets that there are.
func openKeys(db *pebble.DB) (*keys, error) {
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{seenKey}, UpperBound: []byte{seenKey + 1}})
	if err != nil {
		return nil, err
	}
	var all []int64
	for ok := it.First(); ok; {
		b := int64(binary.BigEndian.Uint64(it.Key()[1:]) ^ flipSign)
		all = append(all, b)
		if b == 1<<63-1 {
			break
		}
		ok = it.SeekGE(seenPrefix(b + 1))
	}
	k := &keys{db: db}
	k.buckets.Store(&all)
	return k, it.Close()
}

// seenPrefix is the beginning of the keys of a bucket.
func seenPrefix(bucket int64) []byte { return numbered(seenKey, uint64(bucket)^flipSign) }

func (k *keys) newest() int64 {
	if all := *k.buckets.Load(); len(all) > 0 {
		return all[len(all)-1]
	}
	return 0
}

func (k *keys) has(key Key, low, high int64) (bool, error) {
	var full [1 + 8 + 16]byte
	full[0] = seenKey
	copy(full[9:], key[:])
	all := *k.buckets.Load()
	for i := len(all) - 1; i >= 0; i-- { // the newest one is the most likely
		if all[i] < low || all[i] > high {
			continue
		}
		binary.BigEndian.PutUint64(full[1:], uint64(all[i])^flipSign)
		_, closer, err := k.db.Get(full[:])
		if errors.Is(err, pebble.ErrNotFound) {
			continue
		}
		if err != nil {
			return false, err
		}
		return true, closer.Close()
	}
	return false, nil
}

func (k *keys) add(b *pebble.Batch, entries []entry) (func() error, error) {
	all := *k.buckets.Load()
	for _, e := range entries {
		if err := b.Set(append(seenPrefix(e.bucket), e.key[:]...), nil, nil); err != nil {
			return nil, err
		}
		if i, found := slices.BinarySearch(all, e.bucket); !found {
			all = slices.Insert(slices.Clone(all), i, e.bucket)
		}
	}
	// Known before the keys are there: whoever looks too early finds nothing, and the claim besides.
	k.buckets.Store(&all)
	return func() error { return nil }, nil
}

func (k *keys) drop(b *pebble.Batch, first int64) error {
	all := *k.buckets.Load()
	i, _ := slices.BinarySearch(all, first)
	if i == 0 {
		return nil
	}
	left := slices.Clone(all[i:])
	k.buckets.Store(&left)
	return b.DeleteRange([]byte{seenKey}, seenPrefix(first), nil)
}

func (k *keys) close() error { return nil }
