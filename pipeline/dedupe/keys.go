package dedupe

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/cockroachdb/pebble"

	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// keys are the keys of committed rows in the store itself, by bucket, where there are windows.
type keys struct {
	db      *pebble.DB
	buckets atomic.Pointer[[]int64] // that there are, in order; the slice is never changed
}

// openKeys opens the keys of a store, and finds their buckets.
func openKeys(db *pebble.DB) (*keys, error) {
	k := &keys{db: db}
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
		ok = it.SeekGE(k.prefix(nil, b+1))
	}
	k.buckets.Store(&all)
	return k, it.Close()
}

// seenKeySize is the size of the largest key of the store that has a key.
const seenKeySize = 1 + 8 + len(Key{})

// prefix appends the beginning of the keys of a bucket.
func (k *keys) prefix(dst []byte, bucket int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, seenKey), uint64(bucket)^flipSign)
}

func (k *keys) newest() int64 {
	if all := *k.buckets.Load(); len(all) > 0 {
		return all[len(all)-1]
	}
	return 0
}

// find implements [seenSet]. Keys are sought in the order of the store with one iterator, which goes on from where it is, and asks the
// filters of all levels first, that of the last one as well, which [pebble.DB.Get] never asks.
func (k *keys) find(asked []question) error {
	runs.Sort(asked, func(q *question) *Key { return &q.key })
	it, err := k.db.NewIter(&pebble.IterOptions{LowerBound: []byte{seenKey}, UpperBound: []byte{seenKey + 1}, UseL6Filters: true})
	if err != nil {
		return err
	}
	var buf [seenKeySize]byte
	all := *k.buckets.Load()
	for i := len(all) - 1; i >= 0; i-- { // the newest one is the most likely
		full := k.prefix(buf[:0], all[i])
		n := len(full)
		for j := range asked {
			q := &asked[j]
			if q.seen || all[i] < q.low || all[i] > q.high {
				continue
			}
			full = append(full[:n], q.key[:]...)
			q.seen = it.SeekPrefixGE(full)
		}
	}
	return it.Close() // has the error of a seek, too
}

func (k *keys) add(b *pebble.Batch, entries []entry, from []byte) (func() error, error) {
	// In order, the store finds the place of a key beside that of the last one.
	sortEntries(entries)
	var buf [seenKeySize]byte
	all := *k.buckets.Load()
	for _, e := range entries {
		if err := b.Set(append(k.prefix(buf[:0], e.bucket), e.key[:]...), from, nil); err != nil {
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
	return b.DeleteRange([]byte{seenKey}, k.prefix(nil, first), nil)
}

func (k *keys) close() error { return nil }
