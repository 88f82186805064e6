package verify

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

// Compactions are what was made of the files of commits since.
type Compactions struct {
	Records int `json:"records"`
	// Replacements is how many of them are of files that have other rows.
	Replacements int `json:"replacements,omitempty"`
	// Replaced is how many files are not there any more because Files others hold their rows, of Bytes bytes. Files that
	// were replaced again count among the first alone.
	Replaced int   `json:"replaced"`
	Files    int   `json:"files"`
	Bytes    int64 `json:"bytes"`
}

// readCompactions reads the records of compactions. That comes before those of commits are read: what compactions have
// replaced is in these then.
func (v *verifier) readCompactions(ctx context.Context) error {
	all, err := v.latest(ctx)
	var damaged *commit.DamagedError
	if errors.As(err, &damaged) {
		v.report.Problems = append(v.report.Problems, commit.Problem{
			Kind: commit.DamagedRecord, Position: -1, File: damaged.Key, Message: err.Error() + "; which files were replaced cannot be told",
		})
		err = nil
	}
	v.compacted = all
	return err
}

// latest returns the compactions that there are now, none if they are damaged.
func (v *verifier) latest(ctx context.Context) (*commit.Compactions, error) {
	all, err := commit.ReadCompactions(ctx, v.Root)
	if err != nil {
		return &commit.Compactions{}, err
	}
	return all, nil
}

// since returns those that there are now; damaged ones have been told of.
func (v *verifier) since(ctx context.Context) (*commit.Compactions, error) {
	all, err := v.latest(ctx)
	var damaged *commit.DamagedError
	if errors.As(err, &damaged) {
		err = nil
	}
	return all, err
}

// compactions holds the records of compactions against those of commits, and has the files that count checked, and no
// others.
func (v *verifier) compactions(ctx context.Context) error {
	all := v.compacted
	if len(all.All) == 0 {
		return nil
	}
	v.live = map[string]named{}
	for _, n := range v.files {
		v.live[n.path()] = n
	}
	v.report.Compacted = &Compactions{Records: len(all.All)}
	for i, r := range all.All {
		if r.Replacement {
			if err := v.replacement(ctx, r, i == len(all.All)-1 && !all.Done); err != nil {
				return err
			}
			continue
		}
		for _, g := range r.Groups {
			switch {
			case all.Undone(i, g.File):
				v.named[g.File.Path()] = true
			case i == len(all.All)-1 && !all.Done:
				if err := v.unfinished(ctx, r, g); err != nil {
					return err
				}
			default:
				v.replace(r, g)
			}
		}
	}
	v.takeLive()
	return nil
}

// replace puts a file in the place of those that it replaces, and checks that it holds the same.
func (v *verifier) replace(r *commit.Compaction, g commit.Group) {
	n := named{File: g.File, first: g.Positions[0].First, next: g.Positions[0].Next, compaction: r.Number, stretches: g.Positions}
	if len(g.Positions) == 1 {
		n.lane = g.Positions[0].Lane
	}
	if v.named[n.path()] {
		v.problem(NamedTwice, n, "the compaction %d has the name of a file that was there before", r.Number)
	}
	v.named[n.path()] = true
	rows := int64(0)
	for _, old := range g.Replaces {
		was, ok := v.live[path.Join(g.File.Place, old.Name)]
		switch {
		case !ok:
			v.problem(WrongCompaction, n, "it has replaced %s, which no commit has, or which was replaced before", old.Name)
			continue
		case was.Rows != old.Rows || was.Bytes != old.Bytes || was.Checksum != old.Checksum || was.Table != g.File.Table || path.Dir(old.Name) != path.Dir(g.File.Name):
			v.problem(WrongCompaction, n, "it has replaced %s, which was another file by its commit", old.Name)
		case !r.Replacement && !covered(was, g.Positions):
			v.problem(WrongCompaction, n, "it has replaced %s, whose positions it does not have", old.Name)
		}
		rows += was.Rows
		delete(v.live, was.path())
		v.replaced[was.path()] = n.path()
		v.report.Compacted.Replaced++
	}
	if !r.Replacement && rows != g.File.Rows {
		v.problem(WrongRows, n, "it has %d rows, and those that it has replaced had %d", g.File.Rows, rows)
	}
	v.live[n.path()] = n
}

// covered reports whether stretches have all positions of a file.
func covered(n named, by []commit.Stretch) bool {
	own := n.stretches
	if own == nil {
		own = []commit.Stretch{{Lane: n.lane, First: n.first, Next: n.next}}
	}
	for _, s := range own {
		found := false
		for _, b := range by {
			found = found || b.Lane == s.Lane && b.First <= s.First && b.Next >= s.Next
		}
		if !found {
			return false
		}
	}
	return true
}

// unfinished deals with a group of a compaction that goes on, or whose process has died: the old files count until the new
// one can be seen. It is given the time to end.
func (v *verifier) unfinished(ctx context.Context, r *commit.Compaction, g commit.Group) error {
	s, err := v.place(ctx, g.File.Place)
	if err != nil {
		return err
	}
	if s == nil {
		v.named[g.File.Path()] = true
		return nil
	}
	there, err := commit.Visible(ctx, s, g.File.Name)
	if err != nil {
		return err
	}
	n := named{File: g.File, first: g.Positions[0].First, compaction: r.Number}
	if !there {
		v.named[n.path()] = true
		if s.Settle(ctx, []store.Pending{g.File.Pending()}) == nil {
			v.pending = append(v.pending, n)
		}
		return nil
	}
	v.replace(r, g)
	for _, old := range g.Replaces {
		if there, err := commit.Visible(ctx, s, old.Name); err != nil {
			return err
		} else if there {
			v.pending = append(v.pending, n)
			break
		}
	}
	return nil
}

// replacement deals with one whose files count together: from when all of them could be seen, unless one was lost before.
func (v *verifier) replacement(ctx context.Context, r *commit.Compaction, unfinished bool) error {
	taken, decided := v.compacted.Taken(r)
	if taken {
		v.report.Compacted.Replacements++
	}
	for _, g := range r.Groups {
		n := named{File: g.File, first: g.Positions[0].First, compaction: r.Number}
		if unfinished && !taken {
			v.named[n.path()] = true // may be there for a moment
		}
		if taken {
			v.replace(r, g)
		}
		if !unfinished {
			continue
		}
		left := !decided
		s, err := v.place(ctx, g.File.Place)
		if err != nil {
			return err
		}
		if s == nil {
			continue
		}
		names := []string{g.File.Name} // of an undone one
		if taken {
			names = nil
			for _, old := range g.Replaces {
				names = append(names, old.Name)
			}
		}
		for _, name := range names {
			there, err := commit.Visible(ctx, s, name)
			if err != nil {
				return err
			}
			left = left || there
		}
		if left {
			v.pending = append(v.pending, n)
		}
	}
	return nil
}

// settleCompaction finds out whether what was unfinished a while ago still is.
func (v *verifier) settleCompaction(ctx context.Context) error {
	if len(v.pending) == 0 {
		return nil
	}
	select {
	case <-time.After(publishing):
	case <-ctx.Done():
		return ctx.Err()
	}
	now, err := v.since(ctx)
	if err != nil {
		return err
	}
	if now.Done || now.Next() != v.compacted.Next() {
		return nil // it goes on
	}
	n := v.pending[0]
	v.problem(UnfinishedCompaction, n, "the compaction %d has not been done to its end, because its process has died or still is at it: "+
		"readers of the directory may see %d of its files beside those that they replace until the next start, the next compaction or --repair ends it",
		n.compaction, len(v.pending))
	return nil
}

// takeLive has the files checked that count now.
func (v *verifier) takeLive() {
	v.files = v.files[:0]
	for _, n := range v.live {
		v.files = append(v.files, n)
		if n.compaction > 0 {
			v.report.Compacted.Files++
			v.report.Compacted.Bytes += n.Bytes
		}
	}
}

// compactedSince reports whether a file is missing because a compaction has replaced it since its records were read.
func (v *verifier) compactedSince(ctx context.Context, n named) (bool, error) {
	now, err := v.since(ctx)
	if err != nil {
		return false, err
	}
	for _, r := range now.All {
		if r.Number < v.compacted.Next()-1 { // the last one may have been unfinished
			continue
		}
		for _, g := range r.Groups {
			for _, old := range g.Old() {
				if old == n.path() {
					return true, nil
				}
			}
		}
	}
	return false, nil
}
