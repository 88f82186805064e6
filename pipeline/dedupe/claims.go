package dedupe

import (
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

// claim says that a lane has a row with a key that is not committed.
type claim struct {
	lane   uint64
	bucket int64
}

// claims are the keys of rows that are not committed, each claimed by the lane that had it first.
type claims struct {
	near int64 // buckets so far apart are within the window

	mu   sync.Mutex
	held map[Key]claim
	more map[Key][]claim // of the same key, outside of each other's window
	n    int64
}

func newClaims(near int64) *claims {
	return &claims{near: near, held: make(map[Key]claim), more: make(map[Key][]claim)}
}

func (c *claims) isNear(a, b int64) bool { return max(a-b, b-a) <= c.near }

// take claims the keys of entries for lane, and notes in duplicate those that somebody has already. Where skip is true
// nothing is done.
func (c *claims) take(lane uint64, entries []entry, skip, duplicate []bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, e := range entries {
		if !skip[i] {
			duplicate[i] = !c.takeOne(lane, e)
		}
	}
}

func (c *claims) takeOne(lane uint64, e entry) bool {
	first, ok := c.held[e.key]
	if !ok {
		c.held[e.key] = claim{lane, e.bucket}
		c.n++
		return true
	}
	if c.isNear(first.bucket, e.bucket) {
		return false
	}
	for _, other := range c.more[e.key] {
		if c.isNear(other.bucket, e.bucket) {
			return false
		}
	}
	c.more[e.key] = append(c.more[e.key], claim{lane, e.bucket})
	c.n++
	return true
}

// release gives claims of lane up.
func (c *claims) release(lane uint64, entries []entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		c.releaseOne(e.key, claim{lane, e.bucket})
	}
	if c.n == 0 && len(entries) > 1<<12 {
		c.held = make(map[Key]claim) // a map keeps the room that it has had
	}
}

func (c *claims) releaseOne(key Key, gone claim) {
	others := c.more[key]
	if c.held[key] == gone {
		c.n--
		if len(others) == 0 {
			delete(c.held, key)
			return
		}
		c.held[key] = others[0]
		others = others[1:]
	} else {
		for i, other := range others {
			if other == gone {
				c.n--
				others = append(others[:i], others[i+1:]...)
				break
			}
		}
	}
	if len(others) == 0 {
		delete(c.more, key)
		return
	}
	c.more[key] = others
}

// count returns the number of claims.
func (c *claims) count() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}
