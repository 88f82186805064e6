package commit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/urlmill/urlmill/sinks/store"
)

// Checkpoint is a number of successive records in one object: a header and the records as they were, a line each.
// Checkpoints follow each other like records; the first begins where the lane does. One is written only when all
// files of its records have been published, and never removed.
type Checkpoint struct {
	Version int    `json:"version"`
	Lane    string `json:"lane"`
	First   int64  `json:"first"`
	Next    int64  `json:"next"`
	Count   int    `json:"records"`
	// Records are in the lines after the header.
	Records []*Record `json:"-"`
}

// encodeCheckpoint returns the content of a checkpoint of records, which are given as they were written. Two processes
// make the same of the same records.
func encodeCheckpoint(lane string, first, next int64, records [][]byte) []byte {
	content := encode(Checkpoint{Version: formatVersion, Lane: lane, First: first, Next: next, Count: len(records)})
	for _, r := range records {
		content = append(content, r...)
	}
	return content
}

func decodeCheckpoint(at, lane string, first int64, content []byte) (*Checkpoint, error) {
	c := new(Checkpoint)
	lines := bytes.Split(content, []byte("\n"))
	if err := json.Unmarshal(lines[0], c); err != nil {
		return nil, &DamagedError{at, err.Error()}
	}
	if err := checkOwner(at, c.Version, c.Lane, lane); err != nil {
		return nil, err
	}
	// The last line ends with a line break as well.
	if c.First != first || c.Count == 0 || len(lines) != c.Count+2 || len(lines[len(lines)-1]) != 0 {
		return nil, &DamagedError{at, "records are missing"}
	}
	next := first
	for _, line := range lines[1 : len(lines)-1] {
		r, err := decodeRecord(at, lane, next, line)
		if err != nil {
			return nil, err
		}
		c.Records = append(c.Records, r)
		next = r.Next
	}
	if next != c.Next {
		return nil, &DamagedError{at, fmt.Sprintf("its records end at %d instead of %d", next, c.Next)}
	}
	return c, nil
}

// readCheckpoint returns the checkpoint that begins at a position; the error is [fs.ErrNotExist] if there is none.
func readCheckpoint(ctx context.Context, s store.Objects, lane string, first int64) (*Checkpoint, error) {
	at := checkpointKey(path.Join(Dir, lane), first)
	content, err := s.Read(ctx, at)
	if err != nil {
		return nil, err
	}
	return decodeCheckpoint(at, lane, first, content)
}

// maintain writes a checkpoint when there are enough records for one, and removes old ones. Errors are logged: the
// chain is as good without.
func (l *Lane) maintain(ctx context.Context) {
	for l.since >= l.chain.every {
		covered := l.covered
		if err := l.checkpoint(ctx); err != nil {
			l.chain.log.Warn("cannot write a checkpoint of the commit records; trying again later", "lane", l.id.String(), "error", err)
			return
		}
		if l.covered == covered {
			return // the last checkpoint may be another process's that is not durable yet: nothing may be removed
		}
		if err := l.prune(ctx); err != nil {
			l.chain.log.Warn("cannot remove commit records that a checkpoint has", "lane", l.id.String(), "error", err)
		}
	}
}

// checkpoint writes the checkpoint that begins where the last ended.
func (l *Lane) checkpoint(ctx context.Context) error {
	s := l.chain.root
	var records [][]byte
	next, size := l.covered, 0
	full := func() bool { return len(records) >= l.chain.every || size >= l.chain.most }
	for !full() {
		at := recordKey(l.dir, next)
		content, err := s.Read(ctx, at)
		if errors.Is(err, fs.ErrNotExist) {
			break // another process has been at work here; below it turns out
		}
		if err != nil {
			return err
		}
		r, err := decodeRecord(at, l.name, next, content)
		if err != nil {
			return err
		}
		records, next, size = append(records, content), r.Next, size+len(content)
	}
	if full() {
		err := s.Create(ctx, checkpointKey(l.dir, l.covered), encodeCheckpoint(l.name, l.covered, next, records))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	c, err := readCheckpoint(ctx, s, l.name, l.covered)
	if errors.Is(err, fs.ErrNotExist) {
		l.since = len(records) // counted wrong
		return nil
	}
	if err != nil {
		return err
	}
	// No record may be removed because of it before it is durable, also when another process has made it.
	if err := s.Sync(ctx, path.Join(l.dir, checkpointsDir)); err != nil {
		return err
	}
	l.covered, l.since = c.Next, l.since-c.Count
	return nil
}

// prune removes records that a checkpoint has, the oldest first, up to the first that is not old enough. The order keeps
// the records that are left without a gap. Their age is a courtesy to processes that slept for a while, which find their
// position taken; correctness does not rest on it, as superseded finds the checkpoint.
func (l *Lane) prune(ctx context.Context) error {
	entries, err := l.chain.root.List(ctx, l.dir, "")
	if err != nil {
		return err
	}
	for _, e := range entries {
		first, ok := position(e.Name, ".json")
		if !ok || first >= l.covered {
			break
		}
		r, err := readRecord(ctx, l.chain.root, l.name, first)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if time.Since(r.Time) < l.chain.keep {
			break
		}
		if err := l.chain.root.Delete(ctx, recordKey(l.dir, first)); err != nil {
			return err
		}
	}
	return nil
}
