package commit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
)

// head is how far a chain goes.
type head struct {
	start   *start  // nil for a lane without commits
	next    int64   // position after the last record, [pipeline.Unknown] without start
	covered int64   // position after the last checkpoint
	since   int     // records after it
	last    *Record // the last of those, nil if there are none
	of      string  // of the last commit
	kept    *Kept   // by the last commit
}

// readHead finds the head of a lane, without changing anything. It takes few calls, however long the chain is: start, the list
// of checkpoints and the last of them, and the list of records behind it. Others may commit meanwhile; the head is one that
// the lane has had since the call.
func readHead(ctx context.Context, s store.Objects, lane string) (head, error) {
	const tries = 10
	for range tries {
		h, err := tryReadHead(ctx, s, lane)
		if !errors.Is(err, errMoved) {
			return h, err
		}
	}
	return head{}, fmt.Errorf("%s: the head of the commit chain cannot be read: %w", lane, errMoved)
}

// errMoved says that a record was removed between the call that found it and the one that was to read it.
var errMoved = errors.New("records change faster than they can be read")

func tryReadHead(ctx context.Context, s store.Objects, lane string) (head, error) {
	dir := path.Join(Dir, lane)
	h := head{next: pipeline.Unknown}
	var err error
	if h.start, err = readStart(ctx, s, lane); errors.Is(err, fs.ErrNotExist) {
		return h, nil
	} else if err != nil {
		return h, err
	}
	h.of = h.start.Of
	if err := h.cover(ctx, s, lane); err != nil {
		return h, err
	}
	h.next = h.covered
	// Below covered there may be records of processes that woke up too late. They count for nothing.
	entries, err := s.List(ctx, dir, key(h.covered))
	if err != nil {
		return h, err
	}
	for _, e := range entries {
		if first, ok := position(e.Name, ".json"); ok {
			h.next, h.since = first, h.since+1
		}
	}
	if err := h.follow(ctx, s, lane, h.since > 0); err != nil {
		return h, err
	}
	// What was found may be the record of a process that woke up too late, at a position from which the true one
	// has been removed. A checkpoint has that one then, and it is looked for last: looked for before the records, it could
	// have been made in between.
	if _, err := readCheckpoint(ctx, s, lane, h.covered); err == nil {
		return h, errMoved
	} else if !errors.Is(err, fs.ErrNotExist) {
		return h, err
	}
	return h, nil
}

// cover goes to the end of the last checkpoint.
func (h *head) cover(ctx context.Context, s store.Objects, lane string) error {
	entries, err := s.List(ctx, path.Join(Dir, lane, checkpointsDir), "")
	if err != nil {
		return err
	}
	last := int64(-1)
	for _, e := range entries {
		if first, ok := position(e.Name, ".jsonl"); ok {
			last = first
		}
	}
	if h.covered = h.start.Start; last < 0 {
		return nil
	}
	c, err := readCheckpoint(ctx, s, lane, last)
	if err != nil {
		return err
	}
	h.covered = c.Next
	for _, r := range c.Records {
		h.identify(r)
	}
	return nil
}

// identify takes over what the positions of a record are of, and what it names beside its files.
func (h *head) identify(r *Record) {
	h.kept = r.Kept
	if r.Of != "" {
		h.of = r.Of
	}
}

// follow goes from the record at h.next to the last one. there says that a list has shown the first one: if it is gone now, a
// checkpoint has taken it, and the error is errMoved.
func (h *head) follow(ctx context.Context, s store.Objects, lane string, there bool) error {
	for {
		r, err := readRecord(ctx, s, lane, h.next)
		if errors.Is(err, fs.ErrNotExist) {
			if there {
				return errMoved
			}
			return nil
		}
		if err != nil {
			return err
		}
		if !there {
			h.since++
		}
		h.last, h.next, there = r, r.Next, false
		h.identify(r)
	}
}
