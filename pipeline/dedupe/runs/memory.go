package runs

import "slices"

// table is the keys in memory that are in no run yet. A table does not change: with makes another one.
type table struct {
	batches []batch  // each less than half as large as the one before
	values  []uint64 // which batches name by their places here
	names   []uint64 // of what was added, see [Set.Add]
	keys    int
}

// batch is keys in order, with the places of their values, and no places where all keys have the value of the first place that is given.
type batch struct {
	keys   []number
	places []uint32
	place  uint32
}

// tableBytes is what a key of a table takes at most, but while batches are merged.
const tableBytes = 16 + 4

func (b *batch) at(i int) uint32 {
	if b.places == nil {
		return b.place
	}
	return b.places[i]
}

// with returns a table that has more keys, which are in order and are kept, with a value.
func (t *table) with(keys []number, value, name uint64) *table {
	more := &table{batches: slices.Clone(t.batches), values: t.values, names: append(t.names, name), keys: t.keys + len(keys)}
	if len(keys) == 0 {
		return more
	}
	// What is appended behind the end of an older table is not seen there.
	more.values = append(more.values, value)
	b := batch{keys: keys, place: uint32(len(more.values) - 1)}
	for n := len(more.batches); n > 0 && len(more.batches[n-1].keys) < 2*len(b.keys); n-- {
		b = joined(&more.batches[n-1], &b)
		more.batches = more.batches[:n-1]
	}
	more.batches = append(more.batches, b)
	return more
}

// joined merges two batches.
func joined(a, b *batch) batch {
	n := len(a.keys) + len(b.keys)
	all := batch{keys: make([]number, 0, n), places: make([]uint32, 0, n)}
	i, j := 0, 0
	for i < len(a.keys) && j < len(b.keys) {
		if b.keys[j].less(a.keys[i]) {
			all.keys, all.places = append(all.keys, b.keys[j]), append(all.places, b.at(j))
			j++
		} else {
			all.keys, all.places = append(all.keys, a.keys[i]), append(all.places, a.at(i))
			i++
		}
	}
	for ; i < len(a.keys); i++ {
		all.keys, all.places = append(all.keys, a.keys[i]), append(all.places, a.at(i))
	}
	for ; j < len(b.keys); j++ {
		all.keys, all.places = append(all.keys, b.keys[j]), append(all.places, b.at(j))
	}
	return all
}

// Memory is what a set has in memory, in bytes.
type Memory struct {
	Filter     int64 // of all keys
	RunFilters int64
	Hot        int64
	Indexes    int64
	Tables     int64 // keys that are in no run
}

// Sum returns all of it.
func (m Memory) Sum() int64 { return m.Filter + m.RunFilters + m.Hot + m.Indexes + m.Tables }

// Memory returns what the set has in memory now, but for what merging takes.
func (s *Set) Memory() (m Memory) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	m.Filter, m.Hot = s.all.size(), int64(len(s.hot.sets))*64
	for _, r := range s.runs {
		m.RunFilters += r.filter.size()
		m.Indexes += int64(cap(r.firsts))*16 + int64(cap(r.ends))*8
	}
	for _, t := range []*table{s.table, s.frozen} {
		if t == nil {
			continue
		}
		for _, b := range t.batches {
			m.Tables += int64(cap(b.keys))*16 + int64(cap(b.places))*4
		}
	}
	return m
}

func (t *table) has(n number) bool {
	for i := range t.batches {
		keys := t.batches[i].keys
		if at := lastNotAfter(keys, n); at >= 0 && keys[at] == n {
			return true
		}
	}
	return false
}

// sources returns the entries of each batch.
func (t *table) sources() (all []source) {
	for i := range t.batches {
		all = append(all, &tableSource{table: t, batch: &t.batches[i]})
	}
	return all
}

type tableSource struct {
	table   *table
	batch   *batch
	done    int
	entries []entry
}

func (s *tableSource) next() ([]entry, error) {
	s.entries = s.entries[:0]
	for ; s.done < len(s.batch.keys) && len(s.entries) < blockKeys; s.done++ {
		s.entries = append(s.entries, entry{s.batch.keys[s.done], s.table.values[s.batch.at(s.done)]})
	}
	return s.entries, nil
}
