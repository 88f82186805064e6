package admin

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

// laneWatch is what is remembered of a lane from one second to the next.
type laneWatch struct {
	written  int64     // position
	standing time.Time // since when that is the same while there are records to read; zero while it moves, or has nothing to do
	told     time.Time // when the log was told that the lane is stuck; zero if it was not
}

// stuckLane is a lane that gets nowhere.
type stuckLane struct {
	lane        pipeline.LaneStats
	age         time.Duration
	uncommitted bool  // rows were read and are not committed; otherwise, none are read
	behind      int64 // records that could be read
}

func (s stuckLane) problem() Problem {
	age := s.age.Round(time.Second)
	if s.uncommitted {
		return Problem{"stuck", fmt.Sprintf("%s: a row behind %s is uncommitted for %v", s.lane.ID, place(s.lane.Committed), age), s.advice()}
	}
	return Problem{"stuck", fmt.Sprintf("%s: nothing was read behind %s for %v, and %d records are there", s.lane.ID, place(s.lane.Written), age, s.behind), s.advice()}
}

// place names a position.
func place(position int64) string {
	if position == pipeline.Unknown {
		return "the start"
	}
	return fmt.Sprintf("position %d", position)
}

func (s stuckLane) advice() string {
	if s.uncommitted {
		return "The sink does not take or does not commit its rows: look at its disk or server, and at warnings of it in the log. " +
			"See docs/troubleshooting.md, A lane is stuck."
	}
	return "The source hands out no records: look at the leader of the partition and at the network to it. " +
		"See docs/troubleshooting.md, A lane is stuck."
}

// watchLanes remembers which lanes move. It is called every second.
func (m *Monitor) watchLanes(now time.Time) {
	behind := m.behind()
	all := m.opts.Stats.Lanes()
	m.mu.Lock()
	defer m.mu.Unlock()
	lanes := make(map[pipeline.LaneID]*laneWatch, len(all))
	for _, l := range all {
		w := m.lanes[l.ID]
		if w == nil {
			w = &laneWatch{written: l.Written}
		}
		switch {
		case w.written != l.Written || behind[l.ID] == 0:
			w.written, w.standing = l.Written, time.Time{}
		case w.standing.IsZero():
			w.standing = now
		}
		lanes[l.ID] = w
	}
	m.lanes = lanes
}

// behind returns how far partitions are behind, as far as that is known.
func (m *Monitor) behind() map[pipeline.LaneID]int64 {
	behind := make(map[pipeline.LaneID]int64)
	if in := m.counts().Input; in != nil {
		for _, l := range in.Lags {
			behind[l.Lane] = l.Behind
		}
	}
	return behind
}

// standing returns for how long a lane has not moved while there were records to read.
func (m *Monitor) standing(id pipeline.LaneID, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.lanes[id]; w != nil && !w.standing.IsZero() {
		return now.Sub(w.standing)
	}
	return 0
}

// longestStanding returns the longest of these times over all lanes.
func (m *Monitor) longestStanding(now time.Time) (longest time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.lanes {
		if !w.standing.IsZero() {
			longest = max(longest, now.Sub(w.standing))
		}
	}
	return longest
}

// stuck returns the lanes that have got nowhere for StuckAfter, the worst first: those whose oldest uncommitted row is as old
// as that, and those that have read nothing for so long although there is something to read.
func (m *Monitor) stuck(now time.Time) []stuckLane {
	if m.opts.StuckAfter <= 0 {
		return nil
	}
	var out []stuckLane
	var behind map[pipeline.LaneID]int64
	for _, l := range m.opts.Stats.Lanes() {
		if age := now.Sub(l.Oldest); !l.Oldest.IsZero() && age >= m.opts.StuckAfter {
			out = append(out, stuckLane{lane: l, age: age, uncommitted: true})
		} else if age := m.standing(l.ID, now); age >= m.opts.StuckAfter {
			if behind == nil {
				behind = m.behind()
			}
			out = append(out, stuckLane{lane: l, age: age, behind: behind[l.ID]})
		}
	}
	slices.SortStableFunc(out, func(a, b stuckLane) int { return cmp.Compare(b.age, a.age) })
	return out
}

// maxTold bounds how many lanes the log is told of at a time: when all are stuck, one is like the other.
const maxTold = 10

// tellLanes tells the log which lanes are stuck, once, and which of them move again.
func (m *Monitor) tellLanes(now time.Time) {
	stuck := m.stuck(now)
	var begun []stuckLane
	ended := make(map[pipeline.LaneID]time.Duration)
	m.mu.Lock()
	for id, w := range m.lanes {
		i := slices.IndexFunc(stuck, func(s stuckLane) bool { return s.lane.ID == id })
		switch {
		case i >= 0 && w.told.IsZero():
			w.told = now.Add(-stuck[i].age)
			begun = append(begun, stuck[i])
		case i < 0 && !w.told.IsZero():
			ended[id] = now.Sub(w.told)
			w.told = time.Time{}
		}
	}
	m.mu.Unlock()
	slices.SortStableFunc(begun, func(a, b stuckLane) int { return cmp.Compare(b.age, a.age) })
	for i, s := range begun {
		if i == maxTold {
			m.opts.Log.Warn("more lanes are stuck", "lanes", len(begun)-maxTold)
			break
		}
		p := s.problem()
		m.opts.Log.Warn("a lane is stuck", "lane", s.lane.ID.String(), "age", s.age.Round(time.Second), "committed", s.lane.Committed,
			"written", s.lane.Written, "behind", s.behind, "detail", p.Detail, "advice", p.Advice)
	}
	for id, after := range ended {
		m.opts.Log.Info("a lane moves again", "lane", id.String(), "after", after.Round(time.Second))
	}
}
