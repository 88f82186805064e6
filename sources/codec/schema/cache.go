package schema

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlmill/urlmill/internal/schemaregistry"
)

// unknownFor is how long a schema that the registry does not know, or that is of no use, is not asked for again: it may be
// registered after its first record.
const unknownFor = 30 * time.Second

// maxEntries is how many numbers are kept before those that are no schemas are forgotten: damaged records may name any.
const maxEntries = 1 << 14

// maxUnknown is how many schemas are found not to be there within unknownFor before no other is asked for in that time: what
// damaged records name must not cost a request each.
const maxUnknown = 1000

// maxCompiled and maxText bound the schemas that are kept, and the bytes of their texts: a registry may have one for every number
// that records name. Beyond them those that were asked for least recently are forgotten, and asked for again when they are needed.
const (
	maxCompiled = 1000
	maxText     = 4 << 20
)

// cache keeps the schemas of a registry by their numbers, compiled, for all lanes. A schema never changes.
type cache struct {
	client  func() (*schemaregistry.Client, error) // made when it is asked for first
	compile func(schemaregistry.Schema) (Compiled, error)

	mu      sync.RWMutex
	entries map[uint32]*entry
	unknown int       // schemas that were not there
	since   time.Time // when the first of them was asked for

	compiled int          // entries that have a schema
	text     int          // bytes of their texts
	clock    atomic.Int64 // counts what was asked for
}

// entry is a schema that was asked for.
type entry struct {
	compiled Compiled      // nil while it is not known, and where there is none
	failed   time.Time     // when it was found that there is none
	busy     chan struct{} // holds a token while somebody asks
	text     int           // bytes of the schema
	used     atomic.Int64  // the clock when it was asked for last
}

func newCache(o schemaregistry.Options, compile func(schemaregistry.Schema) (Compiled, error)) *cache {
	client := sync.OnceValues(func() (*schemaregistry.Client, error) { return schemaregistry.New(o) })
	return &cache{client: client, compile: compile, entries: map[uint32]*entry{}}
}

// get returns the schema, nil for one that there is none of, and whether that is known.
func (c *cache) get(id uint32) (compiled Compiled, known bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e := c.entries[id]
	flooded := c.unknown >= maxUnknown && time.Since(c.since) < unknownFor
	if e == nil {
		return nil, flooded
	}
	e.used.Store(c.clock.Add(1))
	return e.compiled, e.compiled != nil || !e.failed.IsZero() && (flooded || time.Since(e.failed) < unknownFor)
}

// resolve asks for the schema unless it is known, and returns it, nil for one that there is none of. Of several at the same time
// one asks.
func (c *cache) resolve(ctx context.Context, id uint32) (Compiled, error) {
	c.mu.Lock()
	e := c.entries[id]
	if time.Since(c.since) >= unknownFor {
		c.unknown = 0
	}
	if (e == nil || !e.failed.IsZero()) && c.unknown >= maxUnknown {
		c.mu.Unlock()
		return nil, nil // its record is one without a schema
	}
	if e == nil {
		if len(c.entries) >= maxEntries {
			maps.DeleteFunc(c.entries, func(_ uint32, e *entry) bool { return !e.failed.IsZero() })
		}
		e = &entry{busy: make(chan struct{}, 1)}
		c.entries[id] = e
	}
	c.mu.Unlock()
	select {
	case e.busy <- struct{}{}:
		defer func() { <-e.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if compiled, known := c.get(id); known {
		return compiled, nil
	}
	client, err := c.client()
	if err != nil {
		return nil, err
	}
	s, err := client.Schema(ctx, id)
	var unknown *schemaregistry.NotFoundError
	if err != nil && !errors.As(err, &unknown) {
		return nil, err
	}
	var compiled Compiled
	if err == nil {
		compiled, err = c.compile(s)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		e.failed = time.Now()
		if c.unknown++; c.unknown == 1 {
			c.since = e.failed
		}
		return nil, nil
	}
	c.keep(id, e, compiled, s)
	return compiled, nil
}

// keep keeps a schema that was asked for, and forgets others where there are too many.
func (c *cache) keep(id uint32, e *entry, compiled Compiled, s schemaregistry.Schema) {
	if other := c.entries[id]; other != nil && other.compiled != nil {
		return // it was forgotten while it was asked for, and asked for once more
	}
	e.compiled, e.failed = compiled, time.Time{}
	e.text = len(s.Text)
	for _, ref := range s.References {
		e.text += len(ref.Text)
	}
	e.used.Store(c.clock.Add(1))
	c.entries[id] = e
	c.compiled++
	c.text += e.text
	for c.compiled > 1 && (c.compiled > maxCompiled || c.text > maxText) {
		var oldest uint32
		var least *entry
		for id, e := range c.entries {
			if e.compiled != nil && (least == nil || e.used.Load() < least.used.Load()) {
				oldest, least = id, e
			}
		}
		delete(c.entries, oldest)
		c.compiled--
		c.text -= least.text
	}
}
