package commit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
)

// Problem is something about an output that is not as the chain promises.
type Problem struct {
	Kind Kind   `json:"kind"`
	Lane string `json:"lane,omitempty"`
	// Position is where in the lane it is, -1 where that has no meaning.
	Position int64 `json:"position"`
	// File is the object or data file that it is about, relative to the place of the records.
	File    string `json:"file,omitempty"`
	Message string `json:"message"`
}

// Kind is a kind of [Problem]. Its text is stable.
type Kind string

// What can be wrong with the records of a lane.
const (
	// Gap is a range of positions that no record tells of, with records behind it.
	Gap Kind = "gap"
	// Overlap is a record that begins within another one.
	Overlap Kind = "overlap"
	// DamagedRecord is a record, checkpoint or start that cannot be what was written there.
	DamagedRecord Kind = "damaged_record"
	// LateRecord is what a process left that woke up when its position had long been committed. It counts for
	// nothing, and repairing removes it.
	LateRecord Kind = "late_record"
)

// History is what the records of a lane tell, from the first to the last.
type History struct {
	Lane        string // directory below [Dir]
	Stream      string
	Partition   int32
	Start, Next int64 // [pipeline.Unknown] for a lane that has not begun
	Records     int   // successive ones, in checkpoints or not
	Checkpoints int
	Problems    []Problem
}

// ReadHistory reads all records of a lane, in their order, and calls each with every one. It may be used while others
// commit to the lane: it then ends at a head that the lane has had since it was called. An error means that
// something could not be read; what was read and is wrong is in Problems, and reading goes on behind it.
func ReadHistory(ctx context.Context, s store.Objects, lane string, each func(*Record)) (*History, error) {
	w := &walk{ctx: ctx, store: s, dir: path.Join(Dir, lane), each: each}
	w.h = &History{Lane: lane, Start: pipeline.Unknown, Next: pipeline.Unknown}
	if err := w.list(); err != nil {
		return nil, err
	}
	if err := w.begin(); err != nil || w.h.Start == pipeline.Unknown {
		return w.h, err
	}
	if err := w.run(); err != nil {
		return nil, err
	}
	return w.h, w.rest()
}

// Head returns the position after the last commit of a lane, given by its directory below [Dir]; [pipeline.Unknown] if
// there is none.
func Head(ctx context.Context, s store.Objects, lane string) (int64, error) {
	h, err := readHead(ctx, s, lane)
	return h.next, err
}

// walk goes over the records of a lane.
type walk struct {
	ctx   context.Context
	store store.Objects
	dir   string
	each  func(*Record)
	h     *History

	records, checkpoints []int64 // positions of those that were there at the beginning, ascending
	covered              int64   // position after the last checkpoint
	// seen has the positions of records that were read, and of checkpoints as complements (^position): the two may begin at
	// the same position.
	seen map[int64]bool
}

// list notes which records and checkpoints there are. What is made or removed meanwhile is found by reading on.
func (w *walk) list() error {
	w.seen = map[int64]bool{}
	for _, l := range []struct {
		dir, suffix string
		to          *[]int64
	}{{w.dir, ".json", &w.records}, {path.Join(w.dir, checkpointsDir), ".jsonl", &w.checkpoints}} {
		entries, err := w.store.List(w.ctx, l.dir, "")
		if err != nil {
			return err
		}
		for _, e := range entries {
			if first, ok := position(e.Name, l.suffix); ok {
				*l.to = append(*l.to, first)
			}
		}
	}
	return nil
}

func (w *walk) problem(kind Kind, at int64, key, format string, args ...any) {
	w.h.Problems = append(w.h.Problems, Problem{
		Kind: kind, Lane: w.h.Lane, Position: at, File: key, Message: fmt.Sprintf(format, args...),
	})
}

// begin reads the start. Where it is missing or damaged, the lane is taken to begin at its first record.
func (w *walk) begin() error {
	at := path.Join(w.dir, startName)
	content, err := w.store.Read(w.ctx, at)
	first := slices.Concat(w.checkpoints, w.records)
	slices.Sort(first)
	if errors.Is(err, fs.ErrNotExist) {
		if len(first) == 0 {
			return nil
		}
		w.problem(DamagedRecord, first[0], at, "the start of the lane is missing")
	} else if err != nil {
		return err
	} else if s, err := decodeStart(at, w.h.Lane, content); err == nil {
		w.h.Stream, w.h.Partition = s.Stream, s.Partition
		first = []int64{s.Start}
	} else {
		w.problem(DamagedRecord, -1, at, "%v", err)
	}
	if len(first) > 0 {
		w.h.Start, w.h.Next, w.covered = first[0], first[0], first[0]
	}
	return nil
}

// run goes from record to record, through the checkpoints as far as there are any, up to the head. What is broken is
// noted, and left behind for the next record that there is.
func (w *walk) run() error {
	for {
		moved, err := w.checkpoint()
		if err == nil && !moved {
			moved, err = w.record()
		}
		if err != nil {
			return err
		}
		if moved {
			continue
		}
		// A checkpoint that was made meanwhile may have taken the records away.
		if moved, err = w.checkpoint(); err != nil {
			return err
		}
		if !moved && !w.skip() {
			return nil
		}
	}
}

// checkpoint goes on over the checkpoint that begins where the last one ended. It returns false if there is none.
func (w *walk) checkpoint() (bool, error) {
	c, err := readCheckpoint(w.ctx, w.store, w.h.Lane, w.covered)
	var damaged *DamagedError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.As(err, &damaged):
		if w.seen[^w.covered] {
			return false, nil
		}
		w.seen[^w.covered] = true // positions of checkpoints are kept as complements
		w.problem(DamagedRecord, w.covered, damaged.Key, "%v", err)
		return false, nil
	case err != nil:
		return false, err
	}
	w.seen[^w.covered] = true
	w.h.Checkpoints++
	w.covered = c.Next
	for _, r := range c.Records {
		if r.First < w.h.Next {
			continue // was a record of its own a moment ago
		}
		if err := w.compare(r); err != nil {
			return false, err
		}
		w.take(r)
	}
	return true, nil
}

// compare looks whether the record that a checkpoint has is there on its own and differs.
func (w *walk) compare(r *Record) error {
	if _, listed := slices.BinarySearch(w.records, r.First); !listed {
		return nil
	}
	at := recordKey(w.dir, r.First)
	content, err := w.store.Read(w.ctx, at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	// A newer version may have written fields that this one does not know.
	own, err := decodeRecord(at, w.h.Lane, r.First, content)
	if err != nil || !bytes.Equal(encode(own), encode(r)) {
		w.problem(LateRecord, r.First, at, "it came after a checkpoint had the position with another commit, and counts for nothing")
	}
	return nil
}

// record goes on over the record at the current position. It returns false if there is none that can be read.
func (w *walk) record() (bool, error) {
	at := recordKey(w.dir, w.h.Next)
	content, err := w.store.Read(w.ctx, at)
	if errors.Is(err, fs.ErrNotExist) || w.seen[w.h.Next] {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r, err := decodeRecord(at, w.h.Lane, w.h.Next, content)
	if err != nil {
		w.seen[w.h.Next] = true
		w.problem(DamagedRecord, w.h.Next, at, "%v", err)
		return false, nil
	}
	w.take(r)
	return true, nil
}

func (w *walk) take(r *Record) {
	w.seen[r.First] = true
	w.h.Next, w.h.Stream, w.h.Partition = r.Next, r.Stream, r.Partition
	w.h.Records++
	w.each(r)
}

// skip goes on at the next record or checkpoint that there is. It returns false if there is none.
func (w *walk) skip() bool {
	next := int64(-1)
	for _, first := range w.records {
		if first > w.h.Next {
			next = first
			break
		}
	}
	for _, first := range w.checkpoints {
		// Of a record and a checkpoint at the same position, the checkpoint counts: the record may have come too late.
		if first > w.h.Next && (next < 0 || first <= next) {
			next = first
			break
		}
	}
	if next < 0 {
		return false
	}
	if w.seen[w.h.Next] { // it is there and damaged, so that it is not known where it ends
		w.problem(Gap, w.h.Next, "", "what became of the positions %d to %d cannot be told", w.h.Next, next)
	} else {
		w.problem(Gap, w.h.Next, "", "no record tells of the positions %d to %d", w.h.Next, next)
	}
	w.h.Next = next
	if _, ok := slices.BinarySearch(w.checkpoints, next); ok {
		w.covered = next
	}
	return true
}

// rest notes a problem for each record and checkpoint that the walk has not come by.
func (w *walk) rest() error {
	for _, first := range w.checkpoints {
		if !w.seen[^first] {
			w.problem(Overlap, first, checkpointKey(w.dir, first), "the checkpoint begins within another one")
		}
	}
	for _, first := range w.records {
		switch at := recordKey(w.dir, first); {
		case w.seen[first]:
		case first < w.covered:
			w.problem(LateRecord, first, at, "it came after a checkpoint had the position, and counts for nothing")
		default:
			w.problem(Overlap, first, at, "the record begins within another one")
		}
	}
	return nil
}

// RemoveLate removes a record that is a [LateRecord].
func RemoveLate(ctx context.Context, s store.Objects, p Problem) error {
	if p.Kind != LateRecord || path.Dir(p.File) != path.Join(Dir, p.Lane) {
		return fmt.Errorf("%s: it is no late record", p.File)
	}
	return s.Delete(ctx, p.File)
}
