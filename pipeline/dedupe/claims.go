package dedupe

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"sync"

	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// Key is the key of a row.
type Key = runs.Key

// entry is a key with the bucket of its row's time, 0 without a time window.
type entry struct {
	key    Key
	bucket int64
}

// claim says that a lane, whose number is not 0, has a row with a key that is not committed.
type claim struct {
	entry
	lane uint64
}

// claims are the keys of rows that are not committed, each claimed by the lane that had it first.
type claims struct {
	near int64     // buckets so far apart are within the window
	seed [2]uint64 // so that nobody can make keys that have one place

	mu     sync.Mutex
	tables [1 << 8]claimTable // by the first bits of the key: what is released is in order, and so what is touched stays in the CPU's cache
	n      int64
}

// claimTable has claims at the place of their key or behind it, before one that is empty. A key is there several times if those are outside of
// each other's window.
type claimTable struct {
	slots []claim
	n     int
}

func newClaims(near int64) *claims {
	return &claims{near: near, seed: [2]uint64{rand.Uint64() | 1, rand.Uint64() | 1}}
}

func (c *claims) isNear(a, b int64) bool { return max(a-b, b-a) <= c.near }

// place returns the place of a key in its table.
func (c *claims) place(t *claimTable, key *Key) int {
	mixed := binary.LittleEndian.Uint64(key[:8])*c.seed[0] ^ binary.LittleEndian.Uint64(key[8:])*c.seed[1]
	at, _ := bits.Mul64(mixed, uint64(len(t.slots)))
	return int(at)
}

// after returns the place after another.
func (t *claimTable) after(at int) int {
	if at++; at == len(t.slots) {
		return 0
	}
	return at
}

// way returns how many places one is after another.
func (t *claimTable) way(from, to int) int {
	if to < from {
		to += len(t.slots)
	}
	return to - from
}

// take claims the keys of entries for lane, and notes in duplicate those that somebody has already. Where skip is true
// nothing is done.
func (c *claims) take(lane uint64, entries []entry, skip, duplicate []bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range entries {
		if !skip[i] {
			duplicate[i] = !c.takeOne(&claim{entries[i], lane})
		}
	}
}

func (c *claims) takeOne(made *claim) bool {
	t := &c.tables[made.key[0]]
	if (t.n+1)*3 > len(t.slots)*2 {
		c.grow(t)
	}
	at := c.place(t, &made.key)
	for ; t.slots[at].lane != 0; at = t.after(at) {
		if t.slots[at].key == made.key && c.isNear(t.slots[at].bucket, made.bucket) {
			return false
		}
	}
	t.slots[at] = *made
	t.n++
	c.n++
	return true
}

// grow makes room in a table, which is two thirds full at most.
func (c *claims) grow(t *claimTable) {
	old := t.slots
	t.slots = make([]claim, max(len(old)/2*3, 8))
	for i := range old {
		if old[i].lane != 0 {
			at := c.place(t, &old[i].key)
			for t.slots[at].lane != 0 {
				at = t.after(at)
			}
			t.slots[at] = old[i]
		}
	}
}

// release gives claims of lane up.
func (c *claims) release(lane uint64, entries []entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range entries {
		c.releaseOne(&claim{entries[i], lane})
	}
	if c.n == 0 && len(entries) > 1<<12 {
		clear(c.tables[:]) // which keep the room that they have had
	}
}

func (c *claims) releaseOne(gone *claim) {
	t := &c.tables[gone.key[0]]
	if t.n == 0 {
		return
	}
	at := c.place(t, &gone.key)
	for ; t.slots[at] != *gone; at = t.after(at) {
		if t.slots[at].lane == 0 {
			return
		}
	}
	t.n--
	c.n--
	// What is behind, and would not be found beyond an empty place, moves there.
	for next := t.after(at); t.slots[next].lane != 0; next = t.after(next) {
		if t.way(c.place(t, &t.slots[next].key), next) >= t.way(at, next) {
			t.slots[at] = t.slots[next]
			at = next
		}
	}
	t.slots[at] = claim{}
}

// count returns the number of claims.
func (c *claims) count() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}
