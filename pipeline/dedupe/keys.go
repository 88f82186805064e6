package dedupe

import (
	"encoding/binary"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble"

	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// keys are the keys of committed rows in the store itself, by bucket.
type keys struct {
	db      *pebble.DB
	buckets atomic.Pointer[[]int64] // that there are, in order; the slice is never changed
	// sieve is asked before the store. It is nil where there are windows: keys cannot be taken out of it. Without windows
	// there is one bucket, 0, whose number is left out.
	sieve *runs.Filter
	hot   *hot // is there where the sieve is
	// sieved is how far the sieve has the keys that were there at the start: those whose first bits are less, or all when it is
	// the highest number.
	sieved  atomic.Uint64
	stop    chan struct{}
	filling sync.WaitGroup
}

// openKeys opens the keys of a store. Where there are windows, it finds their buckets; and else it begins to fill the sieve.
func openKeys(opts Options, db *pebble.DB) (*keys, error) {
	k := &keys{db: db, stop: make(chan struct{})}
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{seenKey}, UpperBound: []byte{seenKey + 1}})
	if err != nil {
		return nil, err
	}
	if !opts.windows() {
		empty := !it.First()
		if err := it.Close(); err != nil {
			return nil, err
		}
		k.buckets.Store(&[]int64{0})
		k.beginSieve(runs.NewFilter(opts.sieveMemory()), newHot(opts.hotMemory()), empty, opts.Log)
		return k, nil
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

// beginSieve gives a store, which is empty or not, its sieve and hot keys.
func (k *keys) beginSieve(s *runs.Filter, h *hot, empty bool, log *slog.Logger) {
	k.sieve, k.hot = s, h
	if empty {
		k.sieved.Store(math.MaxUint64)
		return
	}
	k.filling.Go(func() {
		if err := k.fill(); err != nil {
			log.Warn("state of dedupe: reading its keys failed; look-ups are slow until the next start", "problem", err)
		}
	})
}

// fill adds the keys of the store to the sieve, in order. Those that are committed meanwhile are added by [keys.add].
func (k *keys) fill() error {
	from, last := []byte{seenKey}, false
	for !last {
		select {
		case <-k.stop:
			return nil
		default:
		}
		// An iterator holds on to what is compacted meanwhile, and so does not stay long.
		it, err := k.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: []byte{seenKey + 1}})
		if err != nil {
			return err
		}
		n, done := 0, uint64(0)
		for ok := it.First(); ok && n < fillKeys; ok = it.Next() {
			key := Key(it.Key()[1:])
			k.sieve.Add(&key)
			from, done = append(from[:0], it.Key()...), binary.BigEndian.Uint64(key[:])
			n++
		}
		if err := it.Close(); err != nil {
			return err
		}
		if last = n < fillKeys; last {
			done = math.MaxUint64
		}
		k.sieved.Store(done)
		from = append(from, 0)
	}
	return nil
}

// fillKeys is how many keys are read with one iterator.
const fillKeys = 1 << 16

// seek moves the questions to the front that the store has to be asked, in the order that they have, and returns them. It
// answers those whose keys are known to be there, or not to be.
func (k *keys) seek(asked []question) []question {
	if k.sieve == nil {
		return asked
	}
	sieved, n := k.sieved.Load(), 0
	for i := range asked {
		q := &asked[i]
		inSieve := sieved == math.MaxUint64 || binary.BigEndian.Uint64(q.key[:]) < sieved
		if inSieve && !k.sieve.Has(&q.key) {
			continue
		}
		if q.seen = k.hot.has(&q.key); !q.seen {
			asked[n], *q = *q, asked[n]
			n++
		}
	}
	return asked[:n]
}

// seenKeySize is the size of the largest key of the store that has a key.
const seenKeySize = 1 + 8 + len(Key{})

// prefix appends the beginning of the keys of a bucket.
func (k *keys) prefix(dst []byte, bucket int64) []byte {
	dst = append(dst, seenKey)
	if k.sieve != nil {
		return dst
	}
	return binary.BigEndian.AppendUint64(dst, uint64(bucket)^flipSign)
}

func (k *keys) newest() int64 {
	if all := *k.buckets.Load(); len(all) > 0 {
		return all[len(all)-1]
	}
	return 0
}

// find implements [seenSet]. Most keys are new, and the sieve knows. The others are sought in the order of the store with
// one iterator, which goes on from where it is, and asks the filters of the levels first: of all but the last one, where
// most keys are, or without a sieve of that one as well, which [pebble.DB.Get] never asks.
func (k *keys) find(asked []question) error {
	runs.Sort(asked, func(q *question) *Key { return &q.key })
	if asked = k.seek(asked); len(asked) == 0 {
		return nil
	}
	it, err := k.db.NewIter(&pebble.IterOptions{LowerBound: []byte{seenKey}, UpperBound: []byte{seenKey + 1}, UseL6Filters: k.sieve == nil})
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
			if q.seen = it.SeekPrefixGE(full); q.seen && k.hot != nil {
				k.hot.add(&q.key)
			}
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
		if k.sieve != nil {
			k.sieve.Add(&e.key)
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

func (k *keys) forgotten() {
	if k.hot != nil {
		k.hot.clear()
	}
}

func (k *keys) close() error {
	close(k.stop)
	k.filling.Wait()
	return nil
}
