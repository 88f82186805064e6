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

// Name returns the directory below [Dir] that has the records of the lane, as in [Lanes] and [Record].
func (l *Lane) Name() string { return l.name }

// Published finishes the commits of all lanes, and returns up to where the files of each have their names, by the name of the
// lane. It is no more than that: a process that lives may have written the next record of a lane, and not come to publishing.
func (c *Chain) Published(ctx context.Context) (map[string]int64, error) {
	lanes, err := Lanes(ctx, c.root)
	if err != nil {
		return nil, err
	}
	published := make(map[string]int64, len(lanes))
	for _, lane := range lanes {
		h, err := c.recover(ctx, lane)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", lane, err)
		}
		published[lane] = h.next
	}
	return published, nil
}

// Since calls each with the records of a lane from the position from on that begin before the position before, in their
// order. from is where a record begins, or [pipeline.Unknown] for the first one. Of the files that the records name,
// those of the last record of the lane may not have been published yet.
//
// It returns the position after the last record. An error of each ends it.
func Since(ctx context.Context, s store.Objects, lane string, from, before int64, each func(*Record) error) (int64, error) {
	if from == pipeline.Unknown {
		begin, err := readStart(ctx, s, lane)
		if errors.Is(err, fs.ErrNotExist) {
			return from, nil
		}
		if err != nil {
			return from, err
		}
		from = begin.Start
	}
	var records []*Record
	for range 10 {
		// Whatever is in a checkpoint counts before records that lie about, as these may have come too late; a checkpoint
		// that was made while we read may have replaced what we have.
		first, err := checkpointOf(ctx, s, lane, from)
		if err != nil {
			return from, err
		}
		found, next, err := since(ctx, s, lane, from, before, first)
		if err != nil {
			return from, err
		}
		if again, err := checkpointOf(ctx, s, lane, next); err != nil {
			return from, err
		} else if again > first && len(found) > 0 && again <= found[len(found)-1].First {
			continue
		}
		records = found
		for _, r := range records {
			if err := each(r); err != nil {
				return from, err
			}
			from = r.Next
		}
		return from, nil
	}
	return from, fmt.Errorf("%s: %w", lane, errMoved)
}

// checkpointOf returns the position at which the last checkpoint begins that begins at or before a position, -1 if there is
// none.
func checkpointOf(ctx context.Context, s store.Objects, lane string, at int64) (int64, error) {
	entries, err := s.List(ctx, path.Join(Dir, lane, checkpointsDir), "")
	if err != nil {
		return 0, err
	}
	last := int64(-1)
	for _, e := range entries {
		if first, ok := position(e.Name, ".jsonl"); ok && first <= at {
			last = first
		}
	}
	return last, nil
}

// since collects records, through the checkpoints that begin with the one given as far as they go.
func since(ctx context.Context, s store.Objects, lane string, from, before, checkpoint int64) ([]*Record, int64, error) {
	var records []*Record
	next := from
	take := func(r *Record) bool {
		if r.First >= before || r.First != next {
			return false
		}
		records, next = append(records, r), r.Next
		return true
	}
	for checkpoint >= 0 && next < before {
		c, err := readCheckpoint(ctx, s, lane, checkpoint)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		for _, r := range c.Records {
			if r.First >= next && !take(r) && r.First < before {
				return nil, 0, fmt.Errorf("%s: no commit begins at position %d: the records are those of another output, "+
					"or some are gone; \"urlmill verify\" tells more", lane, next)
			}
		}
		checkpoint = c.Next
	}
	for next < before {
		r, err := readRecord(ctx, s, lane, next)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, 0, err
		}
		take(r)
	}
	return records, next, nil
}
