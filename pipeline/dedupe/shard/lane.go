package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// Lane is the state of a lane, as far as the chain of its commits went when it was opened, and as this process has gone on with it. It
// is used by one goroutine at a time.
type Lane struct {
	states *States
	name   string
	keeper pipeline.Keeper
	files  pipeline.KeptFiles
	at     *pipeline.Kept // what the last commit names, nil for none

	runs   []*run // the largest first
	filter filter
	staged *staged // by Stage
	merge  *merge  // in the background; nil for none
	swept  bool

	replaced []gone // files that no list names any more

	keys, count atomic.Int64 // of keys and runs, for those who watch
}

// staged are the keys of a commit that is being made.
type staged struct {
	kept  pipeline.Kept
	run   *run // nil without new keys
	keys  []runs.Key
	merge *merge // which the list takes in; nil for none
}

// gone is a file that is to be removed.
type gone struct {
	name  string
	since time.Time
}

// Lane opens the state of a lane, which k has just been opened for. next is the lane's position. name is unlike that of any other lane.
//
// An error that is [fs.ErrNotExist] says that a file of the list is gone: another process may have gone on with the lane.
func (s *States) Lane(ctx context.Context, name string, k pipeline.Keeper, next int64) (*Lane, error) {
	at := k.Kept()
	s.mu.Lock()
	l := s.idle[name]
	delete(s.idle, name)
	s.mu.Unlock()
	switch {
	case l == nil:
	case l.at == nil || at == nil || l.at.Name != at.Name:
		_ = l.close() // another process has gone on with the lane
		l = nil
	}
	var err error
	if l == nil {
		l = &Lane{states: s, name: name, filter: filter{pool: s.pool}}
		l.files = k.KeptFiles()
		begun := time.Now()
		if err = l.restore(ctx, at); err == nil && at != nil {
			took := time.Since(begun)
			s.restores.Add(1)
			s.nanos.Add(int64(took))
			s.opts.Log.Info("restored the keys of a lane", "lane", name, "keys", l.keys.Load(), "runs", len(l.runs), "took", took.Round(time.Millisecond))
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the keys of %s: %w", name, err), l.close())
	}
	l.keeper, l.files, l.at, l.swept = k, k.KeptFiles(), at, false
	if known := l.known(); known < next {
		s.opts.Log.Warn("rows of this lane were committed without their keys: their pages are new once more", "lane", name, "from", max(known, 0), "to", next)
	}
	s.mu.Lock()
	s.open[l] = true
	s.mu.Unlock()
	return l, nil
}

// known returns the position up to which keys are known.
func (l *Lane) known() int64 {
	if l.at == nil {
		return 0
	}
	return l.at.Next
}

// restore opens all runs of the list that the last commit names.
func (l *Lane) restore(ctx context.Context, at *pipeline.Kept) error {
	if at == nil {
		return nil
	}
	in, err := l.files.Open(ctx, at.Name)
	if err != nil {
		return err
	}
	if in.Size() != at.Bytes {
		return errors.Join(fmt.Errorf("%w: %s has %d bytes, and had %d when it was committed", errDamaged, at.Name, in.Size(), at.Bytes), in.Close())
	}
	found, length, err := readList(in, at.Bytes)
	if err = errors.Join(err, in.Close()); err != nil {
		return fmt.Errorf("%s: %w", at.Name, err)
	}
	if found.Identity != l.states.opts.Identity {
		return fmt.Errorf("they were made with %q, and this is %q: give back the old settings, or deliver to another folder", found.Identity, l.states.opts.Identity)
	}
	all := append(found.Runs, Listed{Name: at.Name, Offset: length, Bytes: at.Bytes, Keys: found.Keys, Checksum: at.Checksum})
	total := int64(0)
	for _, r := range all {
		total += r.Keys
	}
	l.makeRoom(total)
	l.filter.expect(total + total/2)
	done, said := int64(0), time.Now()
	for _, r := range all {
		if r.Keys == 0 {
			continue
		}
		if err := l.load(ctx, r); err != nil {
			return err
		}
		if done += r.Keys; time.Since(said) > 10*time.Second {
			said = time.Now()
			l.states.opts.Log.Info("restoring the keys of a lane", "lane", l.name, "keys", done, "of", total)
		}
	}
	return nil
}

// makeRoom closes lanes that are idle where their filters leave too little for so many keys.
func (l *Lane) makeRoom(keys int64) {
	s := l.states
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, idle := range s.idle {
		s.pool.mu.Lock()
		enough := s.pool.free/2 >= keys*bitsPerKey/8
		s.pool.mu.Unlock()
		if enough {
			return
		}
		delete(s.idle, name)
		_ = idle.close()
	}
}

// load opens a run, and puts its keys into the filter. A copy that is damaged is made anew.
func (l *Lane) load(ctx context.Context, listed Listed) error {
	for anew := false; ; anew = true {
		r, err := l.states.copies.open(ctx, l.files, listed, anew)
		if err == nil {
			if err = r.Each(ctx, func(keys []runs.Key, _ []uint64) error { l.filter.add(keys); return nil }); err == nil {
				if r.copy != "" {
					_ = os.Chtimes(r.copy, time.Time{}, time.Now()) // it is needed
				}
				l.add(r)
				return nil
			}
			err = errors.Join(err, r.close(false))
		}
		if !errors.Is(err, runs.ErrDamaged) || anew || l.states.copies.dir == "" {
			return fmt.Errorf("%s: %w", listed.Name, err)
		}
	}
}

// add adds a run, whose keys the filter has.
func (l *Lane) add(r *run) {
	i, _ := slices.BinarySearchFunc(l.runs, r, func(a, b *run) int { return cmp.Compare(b.Keys, a.Keys) })
	l.runs = slices.Insert(l.runs, i, r)
	l.keys.Add(r.Keys)
	l.count.Add(1)
}

func (l *Lane) remove(gone []*run) {
	l.runs = slices.DeleteFunc(l.runs, func(r *run) bool { return slices.Contains(gone, r) })
	for _, r := range gone {
		l.keys.Add(-r.Keys)
		l.count.Add(-1)
	}
}

// Find sets found for the keys of committed rows. keys are in order; those for which found is set are not looked for.
func (l *Lane) Find(keys []runs.Key, found []bool) error {
	var asked []runs.Key
	var places []int
	for i := range keys {
		if !found[i] && l.filter.has(&keys[i]) {
			asked, places = append(asked, keys[i]), append(places, i)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	there := make([]bool, len(asked))
	for _, r := range l.runs { // the largest first, which has most of them
		if err := r.Find(asked, there); err != nil {
			return fmt.Errorf("the keys of %s: %s: %w", l.name, r.Name, err)
		}
	}
	for i, at := range places {
		found[at] = there[i]
	}
	return nil
}

// Stage makes the keys of a commit durable, which the next commit of the lane names. keys are in order, and new; they are the lane's
// until Committed or Release. next is the position after the rows, and first that of the first one.
func (l *Lane) Stage(ctx context.Context, first, next int64, keys []runs.Key) error {
	s := &staged{keys: keys, merge: l.merged()}
	if len(keys) == 0 && s.merge == nil {
		if l.at != nil {
			s.kept = *l.at
			s.kept.Next = next
			l.keeper.Keep(s.kept)
		}
		l.staged = s
		return nil
	}
	named := list{Version: formatVersion, Identity: l.states.opts.Identity, Keys: int64(len(keys))}
	for _, r := range l.runs {
		if s.merge == nil || !slices.Contains(s.merge.in, r) {
			named.Runs = append(named.Runs, r.Listed)
		}
	}
	if s.merge != nil {
		named.Runs = append(named.Runs, s.merge.out.Listed)
	}
	content, err := named.encode(keys)
	if err != nil {
		return err
	}
	if err := l.states.opts.Step("stage"); err != nil {
		return err
	}
	if s.kept, err = l.files.Create(ctx, first, content); err != nil {
		return err
	}
	s.kept.Next = next
	if len(keys) > 0 {
		if s.run, err = l.own(ctx, s.kept, content, named.Keys); err != nil {
			return err
		}
	}
	l.keeper.Keep(s.kept)
	l.staged = s
	return l.states.opts.Step("staged")
}

// own opens the run that this process has just made.
func (l *Lane) own(ctx context.Context, at pipeline.Kept, content []byte, keys int64) (*run, error) {
	offset := int64(slices.Index(content, '\n') + 1)
	listed := Listed{Name: at.Name, Offset: offset, Bytes: at.Bytes, Keys: keys, Checksum: at.Checksum}
	if c := &l.states.copies; c.dir != "" {
		if err := c.put(listed, content); err != nil {
			return nil, err
		}
	}
	return l.states.copies.open(ctx, l.files, listed, false)
}

// Committed says that the commit was made.
func (l *Lane) Committed(ctx context.Context) {
	s := l.staged
	l.staged = nil
	if s.kept.Name == "" {
		return
	}
	before := l.at
	l.at = &s.kept
	if s.run != nil {
		l.filter.add(s.keys)
		l.add(s.run)
	}
	if s.merge != nil {
		l.replace(s.merge)
	}
	// The file of a list without keys is no run, and counts no more.
	if before != nil && before.Name != s.kept.Name && !slices.ContainsFunc(l.runs, func(r *run) bool { return r.Name == before.Name }) &&
		!slices.ContainsFunc(l.replaced, func(g gone) bool { return g.name == before.Name }) {
		l.replaced = append(l.replaced, gone{before.Name, time.Now()})
	}
	if err := l.sweep(ctx); err != nil {
		l.states.opts.Log.Warn("cannot remove old files of keys; trying again later", "lane", l.name, "error", err)
	}
	l.begin()
}

// replace takes a merged run in the place of what it has merged.
func (l *Lane) replace(m *merge) {
	l.merge = nil
	l.remove(m.in)
	l.add(m.out)
	for _, r := range m.in {
		_ = r.close(true) // a copy that stays is removed when it was not used for long
		l.replaced = append(l.replaced, gone{r.Name, time.Now()})
	}
}

// sweep removes files that no list will name any more. It comes after a commit: of the processes that had the lane before, none can
// commit now, so that files which they have made after a position before this one, and which no list names, never count.
func (l *Lane) sweep(ctx context.Context) error {
	if !l.swept && l.merge == nil {
		if err := l.find(ctx); err != nil {
			return err
		}
		l.swept = true
	}
	var err error
	l.replaced = slices.DeleteFunc(l.replaced, func(g gone) bool {
		if err != nil || time.Since(g.since) < l.states.opts.Grace {
			return false
		}
		err = l.files.Delete(ctx, g.name)
		return err == nil
	})
	return err
}

// find looks for files that processes before this one have left. None of this lane is being merged, as what a merge makes is in no list
// either.
func (l *Lane) find(ctx context.Context) error {
	names, err := l.files.List(ctx)
	if err != nil {
		return err
	}
	for _, n := range names {
		counts := n.Name == l.at.Name || n.Next >= l.at.Next ||
			slices.ContainsFunc(l.runs, func(r *run) bool { return r.Name == n.Name }) ||
			slices.ContainsFunc(l.replaced, func(g gone) bool { return g.name == n.Name })
		if counts {
			continue
		}
		since, err := l.files.Modified(ctx, n.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		l.replaced = append(l.replaced, gone{n.Name, since})
	}
	return nil
}

// Release ends the use of the lane. The state of one whose commits are all known stays in memory, as it may come back after a
// rebalance.
func (l *Lane) Release() error {
	s := l.states
	settled := l.staged == nil && l.at != nil
	l.stopMerge()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open[l] { // closed already
		return nil
	}
	delete(s.open, l)
	if !settled || s.ctx.Err() != nil {
		return l.close()
	}
	s.idle[l.name] = l
	return nil
}

// close closes all runs, and gives the memory back.
func (l *Lane) close() error {
	l.stopMerge()
	var errs []error
	if l.staged != nil && l.staged.run != nil {
		errs = append(errs, l.staged.run.close(false))
	}
	for _, r := range l.runs {
		errs = append(errs, r.close(false))
	}
	l.runs = nil
	l.filter.release()
	return errors.Join(errs...)
}
