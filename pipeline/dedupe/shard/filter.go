package shard

import (
	"sync"

	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// pool is the memory for filters, which lanes share.
type pool struct {
	mu   sync.Mutex
	free int64
}

// least is the smallest part of a filter, and bitsPerKey is what a key has of one that is full.
const (
	least      = 64 << 10
	bitsPerKey = 9
)

// take returns how many of the bytes that a lane wants it gets: at most half of what is left, so that there is some for the lanes that
// are yet to come, and 0 when that is too little.
func (p *pool) take(want int64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(max(want, least), p.free/2)
	if n < least {
		return 0
	}
	p.free -= n
	return n
}

func (p *pool) give(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free += n
}

// filter has all keys of a lane. It grows in parts, each as large as all before, as long as there is memory; then the last part lets
// more through, and what gets through is sought in the runs.
type filter struct {
	pool  *pool
	parts []*runs.Filter
	keys  int64
	room  int64 // keys until the last part is full
	bytes int64
}

func (f *filter) has(key *runs.Key) bool {
	for _, p := range f.parts {
		if p.Has(key) {
			return true
		}
	}
	return len(f.parts) == 0 && f.keys > 0
}

// expect makes room for n keys more.
func (f *filter) expect(n int64) {
	if got := f.pool.take(max(n, f.keys) * bitsPerKey / 8); got > 0 {
		f.parts = append(f.parts, runs.NewFilter(got))
		f.bytes += got
		f.room = got * 8 / bitsPerKey
	}
}

func (f *filter) add(keys []runs.Key) {
	if f.room <= 0 {
		f.expect(int64(len(keys)))
	}
	f.keys += int64(len(keys))
	f.room -= int64(len(keys))
	if len(f.parts) == 0 {
		return
	}
	last := f.parts[len(f.parts)-1]
	for i := range keys {
		last.Add(&keys[i])
	}
}

// release gives the memory back.
func (f *filter) release() {
	f.pool.give(f.bytes)
	*f = filter{pool: f.pool}
}
