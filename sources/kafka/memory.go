package kafka

import (
	"context"
	"sync"

	"github.com/urlmill/urlmill/pipeline/budget"
)

// fetchMemory is what the answers of all lanes, and what they decompress to, have to share. Half of it is for answers. How large answers are is
// known only when they come: brokers send a batch whole, whatever was asked for. So a fetch reserves what the largest of
// the latest answers took. A larger answer is kept all the same, since it has been read from the connection; the pool then
// is overdrawn, and other fetches wait until it has been used up.
//
// Three eighths are for what batches decompress to, which a lane takes before it decompresses one (reading.room). They are apart
// from the answers, because a lane that waits for some holds an answer: lanes with answers would wait for each other. A batch that
// needs more than all of it is decompressed when no other one is.
//
// Reserved memory becomes the buffer's when the answer is there (answered), and goes back with it (put). Idle buffers hold
// nothing of the pool: the last eighth of the limit is set aside for them.
type fetchMemory struct {
	pool    *budget.Pool // for answers
	decoded *budget.Pool // for what they decompress to
	most    int64        // bytes of idle buffers

	mu      sync.Mutex
	largest int64     // of the latest answers
	idle    []*buffer // the last one back is the first to go
	resting int64     // bytes of those
}

// buffer holds an answer.
type buffer struct {
	bytes []byte
	held  int64 // of the pool
}

// newFetchMemory returns memory of limit bytes. The first answers are expected to take usual bytes each, and no more than an
// eighth of the limit.
func newFetchMemory(limit, usual int) *fetchMemory {
	eighth := limit / 8
	return &fetchMemory{
		pool: budget.NewPool(int64(limit - 4*eighth)), decoded: budget.NewPool(int64(3 * eighth)),
		most: int64(eighth), largest: int64(min(usual, eighth)),
	}
}

// reserve takes memory for an answer to a fetch of the given bytes, for which it waits.
func (m *fetchMemory) reserve(ctx context.Context, ask int) (int64, error) {
	m.mu.Lock()
	n := max(int64(ask), m.largest)
	m.mu.Unlock()
	return n, m.pool.Take(ctx, n)
}

// answered replaces what was reserved by what the answer took, in bytes. It does not wait, also when that is more.
func (m *fetchMemory) answered(reserved, size int64) {
	m.mu.Lock()
	m.largest = max(size, m.largest-m.largest/8) // falls by an eighth with each smaller answer
	m.mu.Unlock()
	m.pool.Give(reserved - size)
}

// get returns a buffer, which holds nothing of the pool.
func (m *fetchMemory) get() *buffer {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.idle)
	if n == 0 {
		return new(buffer)
	}
	b := m.idle[n-1]
	m.idle = m.idle[:n-1]
	m.resting -= int64(cap(b.bytes))
	return b
}

// put takes a buffer back, which must not be used any more. Its memory stays for the next fetch if it has at most largest
// bytes and the idle ones leave room for it.
func (m *fetchMemory) put(b *buffer, largest int) {
	m.pool.Give(b.held)
	b.held = 0
	size := int64(cap(b.bytes))
	m.mu.Lock()
	defer m.mu.Unlock()
	if size > 0 && size <= int64(largest) && m.resting+size <= m.most {
		m.idle = append(m.idle, b)
		m.resting += size
	}
}
