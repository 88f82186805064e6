package dedupe

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble"
)

// filters are the keys of committed rows as Bloom filters, one for each bucket. They are in memory; the folder has a
// snapshot of them, and the store the entries that were added since.
type filters struct {
	opts         Options
	db           *pebble.DB
	file         string
	bits, hashes uint

	mu      sync.RWMutex
	buckets map[int64]*bloom.BloomFilter
	logged  uint64 // number of the last entry of the log
	pending int64  // keys in the log
}

// snapshotAfter is how many keys the log may have: what is read again at a start.
func (f *filters) snapshotAfter() int64 { return max(1<<20, f.opts.Approximate.Keys/8) }

// openFilters reads the snapshot, and what the log has after it.
func openFilters(opts Options, db *pebble.DB) (*filters, error) {
	f := &filters{opts: opts, db: db, file: opts.fs.PathJoin(opts.Path, "filter"), buckets: make(map[int64]*bloom.BloomFilter)}
	f.bits, f.hashes = opts.Approximate.filter(opts.buckets())
	if err := f.readSnapshot(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.file, err)
	}
	snapshot := f.logged
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{logKey}, UpperBound: []byte{logKey + 1}})
	if err != nil {
		return nil, err
	}
	for ok := it.First(); ok; ok = it.Next() {
		number := binary.BigEndian.Uint64(it.Key()[1:])
		entries, err := parseEntries(it.Value())
		if err != nil {
			return nil, errors.Join(err, it.Close())
		}
		if number > snapshot {
			f.logged = number
			f.put(entries)
		}
	}
	return f, it.Close()
}

func (f *filters) newest() int64 {
	newest, first := int64(0), true
	for b := range f.buckets {
		if first || b > newest {
			newest, first = b, false
		}
	}
	return newest
}

func (f *filters) find(asked []question) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for i := range asked {
		q := &asked[i]
		for bucket, filter := range f.buckets {
			if bucket >= q.low && bucket <= q.high && filter.Test(q.key[:]) {
				q.seen = true
				break
			}
		}
	}
	return nil
}

func (f *filters) add(b *pebble.Batch, entries []entry, _ []byte) (func() error, error) {
	f.logged++
	if err := b.Set(numbered(logKey, f.logged), appendEntries(nil, entries), nil); err != nil {
		return nil, err
	}
	return func() error {
		f.mu.Lock()
		f.put(entries)
		f.mu.Unlock()
		if f.pending < f.snapshotAfter() {
			return nil
		}
		return f.saved(f.snapshot())
	}, nil
}

// put adds entries to the filters of their buckets, and lets go of the oldest where these have become too many.
func (f *filters) put(entries []entry) {
	f.pending += int64(len(entries))
	newest := f.newest()
	for _, e := range entries {
		if len(f.buckets) > 0 && f.opts.buckets() > 1 && e.bucket < newest-parts {
			continue
		}
		filter := f.buckets[e.bucket]
		if filter == nil {
			newest = max(newest, e.bucket)
			f.forget(newest - parts)
			filter = bloom.New(f.bits, f.hashes)
			f.buckets[e.bucket] = filter
		}
		filter.Add(e.key[:])
	}
}

func (f *filters) forget(first int64) {
	for b := range f.buckets {
		if f.opts.buckets() > 1 && b < first {
			delete(f.buckets, b)
		}
	}
}

func (f *filters) drop(_ *pebble.Batch, first int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget(first)
	return nil
}

func (f *filters) close() error {
	if f.pending == 0 {
		return nil
	}
	return f.saved(f.snapshot())
}

// saved has the error of a snapshot tell what to do.
func (f *filters) saved(err error) error {
	if err == nil {
		return nil
	}
	return f.opts.unusable(err)
}

// The snapshot is a header of numbers (last entry of the log, buckets), then each bucket and its filter, then the
// checksum of all that.
func (f *filters) snapshot() error {
	if err := f.opts.Step("snapshot"); err != nil {
		return err
	}
	fs, temporary := f.opts.fs, f.file+".new"
	out, err := fs.Create(temporary)
	if err != nil {
		return err
	}
	if err := errors.Join(f.writeSnapshot(out), out.Sync(), out.Close()); err != nil {
		return err
	}
	if err := fs.Rename(temporary, f.file); err != nil {
		return err
	}
	if err := syncFolder(fs, f.opts.Path); err != nil {
		return err
	}
	if err := f.opts.Step("snapshotted"); err != nil {
		return err
	}
	f.pending = 0
	return f.db.DeleteRange([]byte{logKey}, numbered(logKey, f.logged+1), pebble.NoSync)
}

func (f *filters) writeSnapshot(out io.Writer) error {
	sum := xxhash.New()
	// The sum comes first: file systems of tests change what they were given to write.
	w := bufio.NewWriterSize(io.MultiWriter(sum, out), 1<<20)
	var number [8]byte
	put := func(v uint64) {
		binary.BigEndian.PutUint64(number[:], v)
		_, _ = w.Write(number[:]) // Flush has the error
	}
	put(f.logged)
	put(uint64(len(f.buckets)))
	var order []int64
	for b := range f.buckets {
		order = append(order, b)
	}
	slices.Sort(order)
	for _, b := range order {
		put(uint64(b))
		if _, err := f.buckets[b].WriteTo(w); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	binary.BigEndian.PutUint64(number[:], sum.Sum64())
	_, err := out.Write(number[:])
	return err
}

// errDamaged is the error of a snapshot that is not what was written. It is refused and not left out: the rows that it knew would
// be new again.
var errDamaged = errors.New("it is damaged; restore it, or delete the folder to begin anew")

// readSnapshot reads the snapshot, if there is one. The library makes room for a filter by the sizes in the file, before the
// checksum is known, and divides by them: so nothing reaches it that differs from the sizes by which this state has its filters.
func (f *filters) readSnapshot() error {
	in, err := f.opts.fs.Open(f.file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	sum := xxhash.New()
	buffered := bufio.NewReaderSize(in, 1<<20)
	r := io.TeeReader(buffered, sum)
	sizes := [3]uint64{uint64(f.bits), uint64(f.hashes), uint64(f.bits)} // of a filter, and of the set of bits in it
	var head struct{ Logged, Buckets uint64 }
	if err := binary.Read(r, binary.BigEndian, &head); err != nil {
		return damaged(err)
	}
	each := 8 + uint64(binary.Size(sizes)) + uint64(f.bits)/8
	if head.Buckets > math.MaxUint8 || uint64(info.Size()) != uint64(binary.Size(head))+head.Buckets*each+8 {
		return errDamaged
	}
	for range head.Buckets {
		var bucket int64
		if err := binary.Read(r, binary.BigEndian, &bucket); err != nil {
			return damaged(err)
		}
		ahead, err := buffered.Peek(binary.Size(sizes))
		if err != nil {
			return damaged(err)
		}
		if want, _ := binary.Append(nil, binary.BigEndian, sizes); !bytes.Equal(ahead, want) {
			return errDamaged
		}
		filter := new(bloom.BloomFilter)
		if _, err := filter.ReadFrom(r); err != nil {
			return damaged(err)
		}
		f.buckets[bucket] = filter
	}
	want := sum.Sum64()
	var got uint64
	if err := binary.Read(buffered, binary.BigEndian, &got); err != nil {
		return damaged(err)
	}
	if got != want {
		return errDamaged
	}
	f.logged = head.Logged
	return nil
}

// damaged returns what an error of reading says of the snapshot: one that ends early is damaged.
func damaged(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errDamaged
	}
	return err
}
