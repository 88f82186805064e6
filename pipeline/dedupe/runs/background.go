package runs

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
)

// fanIn is how many runs of about one size are merged to one. A key is written once for each power of it by which the set is larger
// than a table.
const fanIn = 8

// background fills the filters, and then merges runs when there are enough of a size.
func (s *Set) background() {
	err := s.fill()
	for err == nil {
		s.mu.Lock()
		s.filling = false
		s.changed.Broadcast()
		some := s.mergeable()
		for some == nil && s.err == nil {
			s.changed.Wait()
			some = s.mergeable()
		}
		err = s.err
		s.mu.Unlock()
		if err == nil {
			err = s.mergeRuns()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(err)
}

// mergeRuns merges some runs, if there are enough of a size.
func (s *Set) mergeRuns() error {
	s.merging.Lock()
	defer s.merging.Unlock()
	s.mu.RLock()
	some := s.mergeable() // which may be others by now
	s.mu.RUnlock()
	if some == nil {
		return nil
	}
	r, err := s.rewrite(some, nil)
	if err != nil {
		return err
	}
	return s.install(r, some, nil)
}

// mergeable returns runs that should be merged, the smallest for which that is so. s.mu is held.
func (s *Set) mergeable() []*fileRun {
	levels := make(map[int][]*fileRun)
	least := math.MaxInt
	for _, r := range s.runs {
		l := 0
		for most := int64(s.limit) * fanIn / 2; r.info.Keys >= most; most *= fanIn {
			l++
		}
		if levels[l] = append(levels[l], r); len(levels[l]) >= fanIn {
			least = min(least, l)
		}
	}
	return levels[least]
}

// flush writes the frozen table.
func (s *Set) flush() {
	s.mu.RLock()
	t := s.frozen
	s.mu.RUnlock()
	var r *fileRun
	var err error
	if t.keys > 0 {
		s.mu.Lock()
		filter := s.newFilter(int64(t.keys), len(s.runs) == 0)
		s.mu.Unlock()
		r, err = s.write(t.sources(), filter, nil)
	}
	if err == nil {
		err = s.install(r, nil, t)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(err)
}

// rewrite merges runs to one, which is nil if it had no keys.
func (s *Set) rewrite(some []*fileRun, keep func(uint64) bool) (*fileRun, error) {
	var sources []source
	keys, unfiltered := int64(0), 0
	for _, r := range some {
		sources = append(sources, r.scan(s.ctx, 0))
		keys += r.info.Keys
	}
	s.mu.Lock()
	for _, r := range s.runs {
		if r.filter == nil && !slices.Contains(some, r) {
			unfiltered++
		}
	}
	filter := s.newFilter(keys, unfiltered == 0)
	s.mu.Unlock()
	return s.write(sources, filter, keep)
}

// newFilter returns the filter of a run: none where it is the only one without one, or where there is no memory for one. s.mu is held.
func (s *Set) newFilter(keys int64, only bool) *Filter {
	size := min(keys, s.spare) // eight bits a key
	if only || size < keys/4 {
		return nil
	}
	s.spare -= size
	return NewFilter(size)
}

// write writes a run.
func (s *Set) write(sources []source, filter *Filter, keep func(uint64) bool) (*fileRun, error) {
	name := s.opts.Name()
	out, err := s.opts.Files.Create(name)
	if err != nil {
		return nil, err
	}
	w := NewWriter(out)
	err = merge(sources, func(e *entry) error {
		if keep != nil && !keep(e.value) {
			return nil
		}
		if filter != nil {
			filter.add(e.number)
		}
		return w.add(e)
	})
	if err != nil {
		if s.ctx.Err() != nil { // the set is being closed, and nothing is wrong with the file
			err = errors.Join(err, out.Finish(), s.opts.Files.Remove(name))
		}
		return nil, err
	}
	info, err := w.Finish()
	if err := errors.Join(err, out.Finish()); err != nil {
		return nil, err
	}
	if info.Keys == 0 {
		s.drop(filter)
		return nil, s.opts.Files.Remove(name)
	}
	r, err := s.open(File{name, info})
	if err == nil {
		r.filter = filter
		r.filtered.Store(math.MaxUint64)
	}
	return r, err
}

// drop gives back the memory of a filter.
func (s *Set) drop(f *Filter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spare += f.size()
}

// install puts a run, if it is not nil, in the place of others, and of the frozen table if that was written.
func (s *Set) install(r *fileRun, gone []*fileRun, written *table) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	var c Change
	var all []*fileRun
	for _, old := range s.runs {
		if !slices.Contains(gone, old) {
			all = append(all, old)
		}
	}
	if r != nil {
		all = append(all, r)
	}
	for _, r := range all {
		c.Runs = append(c.Runs, File{r.name, r.info})
	}
	if written != nil {
		c.Added = written.names
	}
	if err := s.opts.Commit(c); err != nil {
		return err
	}
	s.mu.Lock()
	s.runs = all
	if written != nil {
		s.frozen = nil
	}
	s.changed.Broadcast()
	s.mu.Unlock()
	for _, old := range gone {
		s.drop(old.filter)
		if err := errors.Join(old.file.Close(), s.opts.Files.Remove(old.name)); err != nil {
			return err
		}
	}
	return nil
}

// Delete removes the keys with values of which gone says so, and returns how many there were. A part of it may be done when it fails or
// ctx ends.
func (s *Set) Delete(ctx context.Context, gone func(value uint64) bool) (n int64, err error) {
	if err := s.Flush(); err != nil {
		return 0, err
	}
	s.merging.Lock()
	defer s.merging.Unlock()
	s.mu.RLock()
	all := slices.Clone(s.runs)
	s.mu.RUnlock()
	for _, old := range all {
		has, err := old.hasValue(ctx, gone)
		if err != nil {
			return n, err
		}
		if !has {
			continue
		}
		r, err := s.rewrite([]*fileRun{old}, func(v uint64) bool { return !gone(v) })
		if err != nil {
			return n, err
		}
		n += old.info.Keys
		if r != nil {
			n -= r.info.Keys
		}
		if err := s.install(r, []*fileRun{old}, nil); err != nil {
			return n, err
		}
	}
	s.mu.Lock() // no call looks for keys
	defer s.mu.Unlock()
	s.hot.clear()
	return n, nil
}

// hasValue reports whether there is a key with a value of which is returns true.
func (r *Run) hasValue(ctx context.Context, is func(uint64) bool) (bool, error) {
	for s := r.scan(ctx, 0); ; {
		entries, err := s.next()
		if err != nil || entries == nil {
			return false, err
		}
		if slices.ContainsFunc(entries, func(e entry) bool { return is(e.value) }) {
			return true, nil
		}
	}
}

// addFilters gives runs that were opened their filters, all but the largest.
func (s *Set) addFilters() {
	sorted := slices.SortedFunc(slices.Values(s.runs), func(a, b *fileRun) int { return cmp.Compare(a.info.Keys, b.info.Keys) })
	for i, r := range sorted {
		r.filter = s.newFilter(r.info.Keys, i == len(sorted)-1)
	}
}

// fillParts is in how many parts of the keys filters are filled.
const fillParts = 1 << 10

// fill adds the keys of the runs that were there at the start to the filters, all runs side by side in the order of keys.
func (s *Set) fill() error {
	if s.filled.Load() == math.MaxUint64 {
		return nil
	}
	s.merging.Lock() // and so the files stay
	defer s.merging.Unlock()
	s.mu.RLock()
	var cursors []*scan
	for _, r := range s.runs {
		if r.filtered.Load() != math.MaxUint64 {
			cursors = append(cursors, r.scan(s.ctx, 0))
		}
	}
	s.mu.RUnlock()
	left := make([][]entry, len(cursors))
	for i := range uint64(fillParts) {
		bound := uint64(math.MaxUint64)
		if i < fillParts-1 {
			bound = (i + 1) * (1 << 64 / fillParts)
		}
		for c, cursor := range cursors {
			var err error
			if left[c], err = s.fillFrom(cursor, left[c], bound); err != nil {
				return err
			}
			cursor.run.filtered.Store(bound)
		}
		s.filled.Store(bound)
	}
	return nil
}

// fillFrom adds the keys before bound to the filters, and returns what is left of the entries that the cursor has returned.
func (s *Set) fillFrom(cursor *scan, left []entry, bound uint64) (_ []entry, err error) {
	for {
		if len(left) == 0 {
			if left, err = cursor.next(); err != nil || left == nil {
				return nil, err
			}
		}
		for i := range left {
			if left[i].hi >= bound && bound != math.MaxUint64 {
				return left[i:], nil
			}
			s.all.add(left[i].number)
			if f := cursor.run.filter; f != nil {
				f.add(left[i].number)
			}
		}
		left = nil
	}
}
