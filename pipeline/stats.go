package pipeline

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// Stats counts what a running pipeline does. Its zero value is ready, and it is safe for concurrent use.
type Stats struct {
	// Observer, if not nil, is told what happens. It is set before the pipeline runs.
	Observer Observer
	// Positions, if not nil, gets how far the output has each lane that was read, as each of them begins and commits. It is set
	// before the pipeline runs, and may be read when it has ended.
	Positions map[LaneID]int64

	mu    sync.Mutex
	t     Totals
	lanes map[LaneID]*LaneStats
}

// Observer is told what a running pipeline does. Its methods are called by many goroutines at a time, on the way of
// the rows: they return soon.
type Observer interface {
	// Wrote says that a batch of a lane, of rows records with bytes bytes, was parsed and then written to the sink. out
	// is valid until Wrote returns.
	Wrote(id LaneID, out *Output, rows, bytes int64, parse, write time.Duration)
	// Committed says that a lane has committed size.
	Committed(id LaneID, size Size, took time.Duration)
	// Failed tells the fault with which the pipeline is going to end.
	Failed(err error)
}

// LaneStats is the state of a lane that runs.
type LaneStats struct {
	ID      LaneID
	Started time.Time
	Rows    int64 // records written since then
	// Written is the position up to which rows were handed to the sink, and Committed that up to which they are
	// durable: [Unknown] where nothing was yet.
	Written, Committed int64
	// Oldest is when the oldest row that is read and not committed was read, zero when there is none.
	Oldest time.Time
}

// Totals is a snapshot of [Stats].
type Totals struct {
	Rows        int64            // records read
	Bytes       int64            // bytes of those records
	Invalid     int64            // rows with an error, whatever became of them
	Dropped     int64            // rows that were left out under [Drop]
	DeadLetters int64            // rows that went to the table [DeadLetters]
	Errors      map[string]int64 // invalid rows by code
	Commits     int64
	Committed   int64         // rows in both tables that are durable
	ParseTime   time.Duration // spent in Transform.Apply, over all lanes
	WriteTime   time.Duration // spent in Writer.Write, over all lanes
	CommitTime  time.Duration // spent in Writer.Commit, over all lanes
	Lanes       int           // running now
}

// Totals returns a snapshot that the caller may keep.
func (s *Stats) Totals() Totals {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.t
	t.Errors = maps.Clone(s.t.Errors)
	return t
}

// Lanes returns the lanes that run, by stream and partition. The slice is the caller's.
func (s *Stats) Lanes() []LaneStats {
	s.mu.Lock()
	lanes := make([]LaneStats, 0, len(s.lanes))
	for _, l := range s.lanes {
		lanes = append(lanes, *l)
	}
	s.mu.Unlock()
	slices.SortFunc(lanes, func(a, b LaneStats) int {
		return cmp.Or(cmp.Compare(a.ID.Stream, b.ID.Stream), cmp.Compare(a.ID.Partition, b.ID.Partition),
			cmp.Compare(a.ID.Session, b.ID.Session))
	})
	return lanes
}

func (s *Stats) laneStarted(id LaneID, next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t.Lanes++
	if s.lanes == nil {
		s.lanes = make(map[LaneID]*LaneStats)
	}
	s.lanes[id] = &LaneStats{ID: id, Started: time.Now(), Written: next, Committed: next}
	s.position(id, next)
}

// position notes how far the output has a lane. It is called with s.mu locked.
func (s *Stats) position(id LaneID, next int64) {
	if s.Positions != nil && next != Unknown {
		s.Positions[id] = next
	}
}

func (s *Stats) laneEnded(id LaneID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t.Lanes--
	delete(s.lanes, id)
}

// read notes that rows of a lane were read.
func (s *Stats) read(id LaneID, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.lanes[id]; l != nil && l.Oldest.IsZero() {
		l.Oldest = at
	}
}

func (s *Stats) failed(err error) {
	if s.Observer != nil {
		s.Observer.Failed(err)
	}
}

func (s *Stats) parsed(took time.Duration) {
	s.mu.Lock()
	s.t.ParseTime += took
	s.mu.Unlock()
}

// written counts a slot whose output has been written.
func (s *Stats) written(sl *slot, took time.Duration) {
	s.countWritten(sl, took)
	if s.Observer != nil {
		s.Observer.Wrote(sl.batch.Lane, &sl.output, sl.rows, sl.bytes, sl.parsing, took)
	}
}

func (s *Stats) countWritten(sl *slot, took time.Duration) {
	out := &sl.output
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.lanes[sl.batch.Lane]; l != nil {
		l.Rows += sl.rows
		l.Written = sl.batch.Next
	}
	s.t.WriteTime += took
	s.t.Rows += sl.rows
	s.t.Bytes += sl.bytes
	s.t.Invalid += out.Invalid
	s.t.Dropped += out.Dropped
	if dead := out.Records[DeadLetters]; dead != nil {
		s.t.DeadLetters += dead.NumRows()
	}
	for _, e := range out.Errors {
		if s.t.Errors == nil {
			s.t.Errors = make(map[string]int64)
		}
		s.t.Errors[e.Code] += e.Rows
	}
}

// committed counts a commit of a lane up to next. oldest is when the first row behind it was read, zero for none.
func (s *Stats) committed(id LaneID, size Size, next int64, oldest time.Time, took time.Duration) {
	s.mu.Lock()
	s.t.Commits++
	s.t.Committed += size.Rows
	s.t.CommitTime += took
	if l := s.lanes[id]; l != nil {
		l.Committed, l.Oldest = next, oldest
	}
	s.position(id, next)
	s.mu.Unlock()
	if s.Observer != nil {
		s.Observer.Committed(id, size, took)
	}
}
