package pipeline

import (
	"maps"
	"sync"
	"time"
)

// Stats counts what a running pipeline does. Its zero value is ready, and it is safe for concurrent use.
type Stats struct {
	mu sync.Mutex
	t  Totals
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

func (s *Stats) laneStarted(LaneID) {
	s.mu.Lock()
	s.t.Lanes++
	s.mu.Unlock()
}

func (s *Stats) laneEnded(LaneID) {
	s.mu.Lock()
	s.t.Lanes--
	s.mu.Unlock()
}

func (s *Stats) parsed(took time.Duration) {
	s.mu.Lock()
	s.t.ParseTime += took
	s.mu.Unlock()
}

// written counts a slot whose output has been written.
func (s *Stats) written(sl *slot, took time.Duration) {
	out := &sl.output
	s.mu.Lock()
	defer s.mu.Unlock()
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

func (s *Stats) committed(size Size, took time.Duration) {
	s.mu.Lock()
	s.t.Commits++
	s.t.Committed += size.Rows
	s.t.CommitTime += took
	s.mu.Unlock()
}
