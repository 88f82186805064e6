package commit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/urlmill/urlmill/sinks/store"
)

// Live is a data file that counts: one of a commit, or one that a compaction has put in the place of others.
type Live struct {
	File
	Positions []Stretch
	Time      time.Time // of the commit, or of the compaction
	// Compacted is the number of the compaction, 0 for a file of a commit.
	Compacted int64
	// order tells files of the same positions apart, in the order in which their rows came.
	order int
}

// Snapshot is the state of an output at one moment.
type Snapshot struct {
	// Files are ordered by lane and position, those of a commit as they were written. Their names could be seen at that
	// moment.
	Files       []Live
	Compactions *Compactions
}

// ReadSnapshot returns which files hold the rows of an output, each once: also while files are being published, replaced
// or removed. Commits whose files cannot all be seen yet are left out. Nothing is changed. place is as in [Options].
func ReadSnapshot(ctx context.Context, root store.Objects, place func(context.Context, string) (store.Store, error)) (*Snapshot, error) {
	const tries = 20
	for range tries {
		before, err := ReadCompactions(ctx, root)
		if err != nil {
			return nil, err
		}
		s, err := snapshot(ctx, root, place, before)
		if err != nil {
			return nil, err
		}
		// The snapshot may name a file that a compaction has removed meanwhile. Then it is taken again.
		if same, err := before.unchanged(ctx, root); same || err != nil {
			return s, err
		}
	}
	return nil, errors.New("compactions follow each other faster than they can be read; try again")
}

// Settled finishes the last compaction, and returns the state from which the next one can begin, with what that has to say is
// undone. [ErrOutrun] says that another process has just begun one.
func (c *Chain) Settled(ctx context.Context) (s *Snapshot, undone []string, err error) {
	if undone, err = c.FinishCompaction(ctx); err != nil {
		return nil, nil, err
	}
	if s, err = ReadSnapshot(ctx, c.root, c.place); err != nil {
		return nil, nil, err
	}
	if s.Compactions.Done {
		return s, nil, nil
	}
	if undone == nil {
		return nil, nil, ErrOutrun
	}
	return s, undone, nil
}

func snapshot(ctx context.Context, root store.Objects, place func(context.Context, string) (store.Store, error), c *Compactions) (*Snapshot, error) {
	s := &Snapshot{Compactions: c}
	b := &builder{files: map[string]Live{}, place: place}
	lanes, err := Lanes(ctx, root)
	if err != nil {
		return nil, err
	}
	for _, lane := range lanes {
		if err := b.commits(ctx, root, lane); err != nil {
			return nil, fmt.Errorf("%s: %w", lane, err)
		}
	}
	if err := b.dropUnpublished(ctx, c); err != nil {
		return nil, err
	}
	for i, r := range c.All {
		pending := i == len(c.All)-1 && !c.Done
		if r.Replacement {
			if is, _ := c.Taken(r); is {
				for _, g := range r.Groups {
					b.replace(r, g)
				}
			}
			continue
		}
		for _, g := range r.Groups {
			if c.Undone(i, g.File) {
				continue
			}
			if pending {
				there, err := b.visible(ctx, g.File)
				if err != nil {
					return nil, err
				}
				if !there {
					continue
				}
			}
			b.replace(r, g)
		}
	}
	for _, f := range b.files {
		s.Files = append(s.Files, f)
	}
	slices.SortFunc(s.Files, compareLive)
	return s, nil
}

func compareLive(a, b Live) int {
	return cmp.Or(cmp.Compare(a.Positions[0].Lane, b.Positions[0].Lane), cmp.Compare(a.Positions[0].First, b.Positions[0].First),
		cmp.Compare(a.order, b.order), cmp.Compare(a.Path(), b.Path()))
}

// builder puts a snapshot together.
type builder struct {
	files map[string]Live // by path
	place func(context.Context, string) (store.Store, error)
	heads []*Record // the last record of each lane
}

// commits takes the files of all commits of a lane.
func (b *builder) commits(ctx context.Context, root store.Objects, lane string) error {
	var last *Record
	h, err := ReadHistory(ctx, root, lane, func(r *Record) {
		last = r
		where := Stretch{Lane: r.Lane, Stream: r.Stream, Partition: r.Partition, First: r.First, Next: r.Next}
		for i, f := range r.Files {
			b.files[f.Path()] = Live{File: f, Positions: []Stretch{where}, Time: r.Time, order: i}
		}
	})
	if err != nil {
		return err
	}
	for _, p := range h.Problems {
		if p.Kind != LateRecord {
			return &DamagedError{cmp.Or(p.File, path.Join(Dir, lane)), p.Message}
		}
	}
	if last != nil {
		b.heads = append(b.heads, last)
	}
	return nil
}

// dropUnpublished leaves out the last commit of each lane if its files cannot all be seen, and no compaction has taken them.
func (b *builder) dropUnpublished(ctx context.Context, c *Compactions) error {
	replaced := c.replaced()
	for _, r := range b.heads {
		for _, f := range r.Files {
			if replaced[f.Path()] {
				break // it was there, and so were the others
			}
			waiting, gone, err := b.look(ctx, f)
			if err != nil {
				return err
			}
			if gone { // moved away
				delete(b.files, f.Path())
			}
			if waiting {
				for _, f := range r.Files {
					delete(b.files, f.Path())
				}
				break
			}
		}
	}
	return nil
}

// look reports whether a file is waiting to be published, or gone. Both are false for one that can be seen.
func (b *builder) look(ctx context.Context, f File) (waiting, gone bool, err error) {
	s, err := b.place(ctx, f.Place)
	var foreign *ForeignPlaceError
	if errors.As(err, &foreign) { // the records alone tell of what is published there
		waiting, err = foreign.Waiting(ctx, f)
		return waiting, false, err
	}
	if err != nil {
		return false, false, err
	}
	there, err := Visible(ctx, s, f.Name)
	if there || err != nil {
		return false, false, err
	}
	var none *store.GoneError
	err = s.Settle(ctx, []store.Pending{f.Pending()})
	if err == nil || !errors.As(err, &none) {
		return err == nil, false, err
	}
	there, err = Visible(ctx, s, f.Name) // it may have been published between the two
	return false, !there, err
}

func (b *builder) visible(ctx context.Context, f File) (bool, error) {
	s, err := b.place(ctx, f.Place)
	if err != nil {
		return false, err
	}
	return Visible(ctx, s, f.Name)
}

func (b *builder) replace(r *Compaction, g Group) {
	order := 0
	if len(g.Replaces) > 0 {
		order = b.files[g.path(g.Replaces[0])].order
	}
	for _, old := range g.Old() {
		delete(b.files, old)
	}
	b.files[g.File.Path()] = Live{File: g.File, Positions: g.Positions, Time: r.Time, Compacted: r.Number, order: order}
}
