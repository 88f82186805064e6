package commit

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"

	"github.com/urlmill/urlmill/sinks/store"
)

// replacementVersion is the version of the records of replacements: a urlmill that does not know them must not take one for a
// compaction, whose files count one by one.
const replacementVersion = 2

// outcomeExt is the suffix of the object that says what has become of a replacement.
const outcomeExt = ".outcome"

// outcome is what has become of a replacement, for all of its files at once.
type outcome string

const (
	open   outcome = ""       // not decided: the old files count
	taken  outcome = "taken"  // the new files count: all of them could be seen
	undone outcome = "undone" // the old files count for good: a new one was lost before it could be seen
)

func outcomeKey(number int64) string { return path.Join(CompactionsDir, key(number)+outcomeExt) }

func outcomeContent(o outcome) []byte {
	return encode(struct {
		Version int     `json:"version"`
		Outcome outcome `json:"outcome"`
	}{formatVersion, o})
}

// Replace puts files in the place of others that need not have the same rows, all of them at one moment. The record is the next
// compaction, and what [Chain.Compact] says of errors holds, but that the new files stay where they are until the record is there.
//
// Compactions may replace group by group, since the rows are the same. Here, first all new files get their names, while the
// old ones count. Then one object is created, the outcome: from that moment on the new files count. Only then are the old ones
// removed. The outcome is created exclusively, so that of two processes that finish a replacement none removes old files while
// the other takes the new ones back.
func (c *Chain) Replace(ctx context.Context, number int64, undone []string, groups []Group) error {
	return c.compact(ctx, &Compaction{Version: replacementVersion, Replacement: true, Number: number, Undone: undone, Groups: groups})
}

// doReplacement is do for a replacement. It returns the files that were lost when the replacement is undone, which is done then.
func (c *Chain) doReplacement(ctx context.Context, r *Compaction) (lost []string, err error) {
	o, err := readOutcome(ctx, c.root, r.Number)
	if err != nil {
		return nil, err
	}
	if o == open {
		if lost, err = c.publishAll(ctx, r); err != nil {
			return nil, err
		}
		want := taken
		if len(lost) > 0 {
			want = undone
		}
		if o, err = c.decide(ctx, r.Number, want); err != nil {
			return nil, err
		}
	}
	// Another process may have died before it made the outcome durable, and what follows cannot be taken back.
	if err := c.root.Sync(ctx, CompactionsDir); err != nil {
		return nil, err
	}
	if o == taken {
		lost, err = nil, c.eachGroup(ctx, r, func(s store.Store, g Group) error { return c.removeOld(ctx, s, g) })
	} else {
		err = c.takeBack(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	return lost, c.markDone(ctx, r)
}

func (c *Chain) eachGroup(ctx context.Context, r *Compaction, f func(store.Store, Group) error) error {
	for _, g := range r.Groups {
		s, err := c.place(ctx, g.File.Place)
		if err == nil {
			err = f(s, g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// publishAll gives all new files their names, and returns the paths of those that are gone.
func (c *Chain) publishAll(ctx context.Context, r *Compaction) (lost []string, err error) {
	err = c.eachGroup(ctx, r, func(s store.Store, g Group) error {
		err := s.Publish(ctx, []store.Pending{g.File.Pending()})
		var gone *store.GoneError
		if !errors.As(err, &gone) {
			return err
		}
		lost = append(lost, g.File.Path())
		return c.outrun(ctx, r.Number) // a newer compaction may have replaced it
	})
	return lost, err
}

// takeBack removes the new files of a replacement that is undone. What is unfinished goes first: nobody publishes it any more then.
func (c *Chain) takeBack(ctx context.Context, r *Compaction) error {
	return c.eachGroup(ctx, r, func(s store.Store, g Group) error {
		err := s.Discard(ctx, []store.Pending{g.File.Pending()})
		if err == nil {
			err = s.Delete(ctx, g.File.Name)
		}
		if err == nil {
			err = s.Sync(ctx, path.Dir(g.File.Name))
		}
		return err
	})
}

// decide creates the outcome of a replacement, and returns the one that there is.
func (c *Chain) decide(ctx context.Context, number int64, want outcome) (outcome, error) {
	err := c.root.Create(ctx, outcomeKey(number), outcomeContent(want))
	if errors.Is(err, fs.ErrExist) {
		return readOutcome(ctx, c.root, number)
	}
	return want, err
}

func readOutcome(ctx context.Context, s store.Objects, number int64) (outcome, error) {
	at := outcomeKey(number)
	content, err := s.Read(ctx, at)
	if errors.Is(err, fs.ErrNotExist) {
		return open, nil
	}
	if err != nil {
		return open, err
	}
	for _, o := range []outcome{taken, undone} {
		if bytes.Equal(content, outcomeContent(o)) {
			return o, nil
		}
	}
	return open, &DamagedError{at, "it has no outcome that this urlmill knows"}
}

// readOutcomes reads the outcomes of all replacements.
func (c *Compactions) readOutcomes(ctx context.Context, s store.Objects) error {
	for i, r := range c.All {
		if !r.Replacement {
			continue
		}
		o, err := readOutcome(ctx, s, r.Number)
		if err != nil {
			return err
		}
		if o == open && (i+1 < len(c.All) || c.Done) {
			return &DamagedError{outcomeKey(r.Number), "it is missing, though the replacement was done"}
		}
		c.outcomes[r.Number] = o
	}
	return nil
}

// Taken reports whether the files of a replacement count, and decided whether that can still change.
func (c *Compactions) Taken(r *Compaction) (is, decided bool) {
	o := c.outcomes[r.Number]
	return o == taken, o != open
}

// unchanged reports whether the compactions are still those that were read.
func (c *Compactions) unchanged(ctx context.Context, s store.Objects) (bool, error) {
	last, done, err := numbersOf(ctx, s)
	if err != nil || int(last) != len(c.All) || done != c.Done || last == 0 || !c.All[last-1].Replacement {
		return err == nil && int(last) == len(c.All) && done == c.Done, err
	}
	o, err := readOutcome(ctx, s, last)
	return o == c.outcomes[last], err
}
