package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
)

const (
	// recordsPerCheckpoint keeps what has to be read at the start small, and checkpoints as well.
	recordsPerCheckpoint = 256
	// bytesPerCheckpoint does so where records name thousands of files, those of partitions.
	bytesPerCheckpoint = 4 << 20
	// keepRecords is for how long a record stays after a checkpoint has it. A process that was stopped for a
	// shorter time finds its position taken; one that was stopped for longer finds the checkpoint.
	keepRecords = time.Hour
)

// Options are what a chain needs.
type Options struct {
	// Root has the records. It is prepared.
	Root store.Store
	// Place returns the store of a directory that data files are in, relative to Root; "" is Root itself. It may
	// be asked for places that only older records name, and gives a [*ForeignPlaceError] for those that it does not follow.
	Place func(ctx context.Context, dir string) (store.Store, error)
	// Provenance goes into the records.
	Provenance Provenance
	Log        *slog.Logger

	// For tests; zero stands for the constants above.
	every int
	most  int
	keep  time.Duration
	old   *time.Duration
}

// Chain commits to the chains of all lanes of an output. Its methods may be called from several goroutines.
type Chain struct {
	root   store.Store
	place  func(context.Context, string) (store.Store, error)
	origin Origin
	log    *slog.Logger
	every  int // records of a checkpoint
	most   int // bytes after which it ends earlier
	keep   time.Duration
	old    time.Duration
	files  atomic.Uint64 // kept, of this process
}

// New returns a chain, without looking at the store yet.
func New(o Options) *Chain {
	c := &Chain{
		root: o.Root, place: o.Place, log: o.Log, every: o.every, most: o.most, keep: o.keep, old: oldEnough,
		origin: Origin{Run: o.Root.Run(), Provenance: o.Provenance},
	}
	if o.old != nil {
		c.old = *o.old
	}
	if c.most == 0 {
		c.most = bytesPerCheckpoint
	}
	if c.every == 0 {
		c.every, c.keep = recordsPerCheckpoint, keepRecords
	}
	return c
}

func (c *Chain) newOrigin() Origin {
	o := c.origin
	o.Provenance = o.Provenance.Now()
	o.Time = time.Now().UTC().Truncate(time.Millisecond)
	return o
}

// Probe finds out whether the store creates objects exclusively, without which nothing here holds.
func (c *Chain) Probe(ctx context.Context) error {
	at := path.Join("_tmp", c.root.Run(), "probe.new") // where a later start sweeps it, should this process die here
	err := c.root.Create(ctx, at, nil)
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%s cannot create a file that must not be there yet, "+
			"so that exactly-once delivery is not possible there: give another path, or set delivery: at_least_once: %w", c.root.Location(), err)
	}
	if err != nil {
		return err
	}
	again := c.root.Create(ctx, at, nil)
	if err := c.root.Delete(ctx, at); err != nil {
		return err
	}
	if !errors.Is(again, fs.ErrExist) {
		return fmt.Errorf("%s lets two processes create the same file (the second try gave %v), "+
			"so that exactly-once delivery is not possible there: give another path, or set delivery: at_least_once", c.root.Location(), again)
	}
	return nil
}

// Open opens the chain of a lane: it finishes a commit whose process died before it had published all files, and
// knows then from which position to go on.
func (c *Chain) Open(ctx context.Context, id pipeline.LaneID) (*Lane, error) {
	l := &Lane{chain: c, id: id, name: laneName(id)}
	l.dir = path.Join(Dir, l.name)
	h, err := c.recover(ctx, l.name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	l.take(h)
	return l, nil
}

// Position returns how far the lane has come, and changes nothing.
func (c *Chain) Position(ctx context.Context, id pipeline.LaneID) (pipeline.Mark, error) {
	h, err := readHead(ctx, c.root, laneName(id))
	if err != nil {
		return pipeline.Mark{}, fmt.Errorf("%s: %w", id, err)
	}
	return pipeline.Mark{Next: h.next, Of: h.of}, nil
}

// History calls each with the position after each commit of a lane, and what the positions are of, in their order. A chain that is
// damaged is an error: what its source would take for unread, others have read.
func (c *Chain) History(ctx context.Context, id pipeline.LaneID, each func(pipeline.Mark) error) error {
	var failed error
	h, err := ReadHistory(ctx, c.root, laneName(id), func(r *Record) {
		if failed == nil {
			failed = each(pipeline.Mark{Next: r.Next, Of: r.Of})
		}
	})
	if failed != nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	for _, p := range h.Problems {
		if p.Kind != LateRecord {
			return fmt.Errorf("%s: its commit records are damaged, so that it is not known what was read (%s); see urlmill verify %s",
				id, p.Message, c.root.Location())
		}
	}
	return nil
}

// Lanes returns the lanes with a session that have a directory: their names tell, but for those that were too long.
func (c *Chain) Lanes(ctx context.Context) ([]pipeline.LaneID, error) {
	entries, err := c.root.List(ctx, Dir, "")
	if err != nil {
		return nil, err
	}
	var lanes []pipeline.LaneID
	for _, e := range entries {
		stream, session, ok := CutLane(e.Name)
		if !e.Dir || !ok {
			continue
		}
		name := path.Join(e.Name, "0") // files, whose lanes have sessions, have no partitions
		if strings.Contains(stream, "~") {
			s, err := readStart(ctx, c.root, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			stream = s.Stream
		} else if stream, err = url.PathUnescape(stream); err != nil {
			continue // no name of ours
		}
		id := pipeline.LaneID{Stream: stream, Session: session}
		if laneName(id) == name { // not so for a long name that is no UTF-8, of which the start has replaced something
			lanes = append(lanes, id)
		}
	}
	return lanes, nil
}

// each calls f with the files of every place.
func (c *Chain) each(ctx context.Context, files []File, f func(store.Store, []store.Pending) error) error {
	var errs []error
	for i, file := range files {
		if slices.ContainsFunc(files[:i], file.samePlace) {
			continue // has had its turn
		}
		var here []store.Pending
		for _, other := range files[i:] {
			if file.samePlace(other) {
				here = append(here, other.Pending())
			}
		}
		s, err := c.place(ctx, file.Place)
		if err == nil {
			err = f(s, here)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (f File) samePlace(other File) bool { return f.Place == other.Place }
