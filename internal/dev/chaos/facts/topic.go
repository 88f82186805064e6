package facts

import (
	"slices"
	"sync"
)

// Topic is what its producer knows of a topic. Its fields are set before the first record.
type Topic struct {
	Name string
	// JSON has records be objects, with fields to carry along.
	JSON bool
	// Valid leaves URLs out that are none.
	Valid bool
	// Partitions is how many there are. More may come, but not with Pages.
	Partitions int
	// Pages has every record of an odd number repeat the page of one with an even number, in any partition.
	Pages bool
	// Own has that page in the same partition.
	Own bool
	// Keys, unless it is 0, is how many keys there are, of which every record has one.
	Keys int
	// Late has one record of so many be of the days before; 0 is none.
	Late int
	// Session tells topics of one name apart: which of them it is.
	Session int
	// Step is the time between records of a partition, in milliseconds. Default 1.
	Step int64
	// From is the time of the first record of a partition, in milliseconds since 1970. Default [Epoch]. A broker that starts
	// forgets producers whose last record is a day old by its own time, and takes batches again that they send twice: where
	// brokers die while records are produced, it has to be today.
	From int64

	mu   sync.Mutex
	runs [][]run // by partition
}

// run is a stretch of records whose offsets follow each other.
type run struct{ first, offset, count int64 }

// Acknowledged notes where the broker has put the next record of a partition.
func (t *Topic) Acknowledged(p int, offset int64) { t.AcknowledgedRun(p, offset, 1) }

// AcknowledgedRun notes where it has put the next ones.
func (t *Topic) AcknowledgedRun(p int, offset, count int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.runs) <= p {
		t.runs = append(t.runs, nil)
	}
	runs := t.runs[p]
	if len(runs) == 0 {
		t.runs[p] = append(runs, run{0, offset, count})
		return
	}
	last := &runs[len(runs)-1]
	if last.offset+last.count == offset {
		last.count += count
		return
	}
	t.runs[p] = append(runs, run{last.first + last.count, offset, count})
}

// Count returns how many records of a partition are acknowledged.
func (t *Topic) Count(p int) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p >= len(t.runs) || len(t.runs[p]) == 0 {
		return 0
	}
	last := t.runs[p][len(t.runs[p])-1]
	return last.first + last.count
}

// Number returns which record of a partition is at an offset, and false when the broker has acknowledged none there. It is
// called when nothing is produced any more.
func (t *Topic) Number(p int, offset int64) (i int64, ok bool) {
	if p < 0 || p >= len(t.runs) {
		return 0, false
	}
	runs := t.runs[p]
	at, found := slices.BinarySearchFunc(runs, offset, func(r run, o int64) int { return int(min(1, max(-1, r.offset-o))) })
	if !found {
		at--
	}
	if at < 0 || offset >= runs[at].offset+runs[at].count {
		return 0, false
	}
	return runs[at].first + offset - runs[at].offset, true
}

// Offset returns where the broker has put record i of a partition, which it has acknowledged.
func (t *Topic) Offset(p int, i int64) int64 {
	runs := t.runs[p]
	at, found := slices.BinarySearchFunc(runs, i, func(r run, i int64) int { return int(min(1, max(-1, r.first-i))) })
	if !found {
		at--
	}
	return runs[at].offset + i - runs[at].first
}

// Page returns the record whose page record i of partition p is: itself, or with Pages another one.
func (t *Topic) Page(p int, i int64) (int, int64) {
	if !t.Pages || i%2 == 0 {
		return p, i
	}
	h := scramble(uint64(p)<<48 | uint64(i))
	if !t.Own {
		p = int(h>>40) % t.Partitions
	}
	return p, int64(scramble(h)%uint64(i/2+1)) * 2
}

// IsPage reports whether a record of this number has a page of its own.
func (t *Topic) IsPage(i int64) bool { return !t.Pages || i%2 == 0 }

// Rows returns how many rows there have to be: one for each record, or page.
func (t *Topic) Rows() (n int64) {
	for p := range t.Partitions {
		if count := t.Count(p); t.Pages {
			n += (count + 1) / 2
		} else {
			n += count
		}
	}
	return n
}
