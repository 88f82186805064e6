package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

const (
	every     = 5 * time.Second
	maxPoints = int(time.Hour / every)
	// The page shows so many of each, those that want attention first.
	shownLanes   = 200
	shownDomains = 20
)

// Point is what happened in an interval that ended at At.
type Point struct {
	At     time.Time `json:"at"`
	Rows   float64   `json:"rows"`   // a second
	Errors float64   `json:"errors"` // a second
	Lag    int64     `json:"lag"`    // records
	Oldest float64   `json:"oldest"` // seconds
}

// Record watches lanes and problems every second, and takes a point of the charts every five, until ctx ends.
func (m *Monitor) Record(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			m.watchLanes(now)
			m.tell(now)
			if now.Sub(m.lastAt) >= every-time.Second/2 {
				m.takePoint(now)
			}
		}
	}
}

func (m *Monitor) takePoint(now time.Time) {
	t := m.opts.Stats.Totals()
	lag := m.counts().Input.Behind()
	oldest := m.oldest(now)
	m.mu.Lock()
	defer m.mu.Unlock()
	seconds := now.Sub(m.lastAt).Seconds()
	if seconds <= 0 {
		return
	}
	m.history.add(Point{
		At: now, Rows: float64(t.Rows-m.last.Rows) / seconds, Errors: float64(t.Invalid-m.last.Invalid) / seconds,
		Lag: lag, Oldest: oldest.Seconds(),
	})
	if rows := t.Rows - m.last.Rows; rows > 0 && t.Invalid-m.last.Invalid == rows {
		m.spoiled += rows
	} else if rows > 0 {
		m.spoiled = 0
	}
	m.last, m.lastAt = t, now
}

// Lane is a lane as the page shows it.
type Lane struct {
	Name      string  `json:"name"`
	Rows      int64   `json:"rows"`
	Written   int64   `json:"written"`
	Committed int64   `json:"committed"`
	Behind    *int64  `json:"behind"`   // nil: not known
	Oldest    float64 `json:"oldest"`   // seconds
	Standing  float64 `json:"standing"` // seconds without a row while there are some to read
	Stuck     bool    `json:"stuck"`
}

// Status is what the status page shows.
type Status struct {
	Name     string    `json:"name"`
	Now      time.Time `json:"now"`
	Began    time.Time `json:"began"`
	Problems []Problem `json:"problems"`
	// Notices are reloads that were refused: what is wrong, and keeps nothing from running.
	Notices   []Problem        `json:"notices,omitempty"`
	Rows      int64            `json:"rows"`
	Bytes     int64            `json:"bytes"`
	Invalid   int64            `json:"invalid"`
	Dropped   int64            `json:"dropped"`
	Dead      int64            `json:"dead_letters"`
	Committed int64            `json:"committed"`
	Commits   int64            `json:"commits"`
	Files     int64            `json:"files"`
	FileBytes int64            `json:"file_bytes"`
	Memory    uint64           `json:"memory"`
	MemoryMax int64            `json:"memory_limit"`
	HasLag    bool             `json:"has_lag"`
	Lag       int64            `json:"lag"`
	Nulled    int64            `json:"nulled"`
	Errors    map[string]int64 `json:"errors"`
	// Kinds are those of the codes in Errors.
	Kinds     map[string]pipeline.Kind `json:"kinds"`
	LaneCount int                      `json:"lane_count"`
	Lanes     []Lane                   `json:"lanes"`
	History   []Point                  `json:"history"`
	Domains   []Share                  `json:"domains"`
	// Channels are shares of the rows that have a channel, Bots of all rows; nil where nothing was counted.
	Channels []Share   `json:"channels,omitempty"`
	Bots     []Share   `json:"bots,omitempty"`
	Bad      []BadRow  `json:"bad"`
	Messages []Message `json:"messages"`
	Build    Build     `json:"build"`
	Config   []Setting `json:"config"`
}

// Status returns what is known at now. The result is the caller's.
func (m *Monitor) Status(now time.Time) Status {
	t := m.opts.Stats.Totals()
	c := m.counts()
	s := Status{
		Name: m.opts.Name, Now: now, Began: m.began, Problems: m.Problems(now), Rows: t.Rows, Bytes: t.Bytes, Invalid: t.Invalid,
		Dropped: t.Dropped, Dead: t.DeadLetters, Committed: t.Committed, Commits: t.Commits, Memory: memoryUsed(),
		MemoryMax: m.opts.MemoryLimit, HasLag: c.Input != nil, Lag: c.Input.Behind(), Errors: maps.Clone(t.Errors),
		Nulled: t.Nulled, Kinds: make(map[string]pipeline.Kind, len(t.Errors)), Build: m.build(),
	}
	for code := range s.Errors {
		s.Kinds[code] = pipeline.KindOf(code)
	}
	if m.opts.Config != nil {
		s.Config = m.opts.Config()
	}
	if f := c.Files; f != nil {
		s.Files, s.FileBytes = f.Files, f.Bytes
	}
	s.Lanes, s.LaneCount = m.shownLanes(now)
	m.mu.Lock()
	defer m.mu.Unlock()
	s.History, s.Bad, s.Messages, s.Domains = m.history.list(), m.bad.list(), m.messages.list(), m.domains.top(shownDomains)
	for _, what := range slices.Sorted(maps.Keys(m.refused)) {
		s.Notices = append(s.Notices, m.refused[what])
	}
	s.Channels, s.Bots = m.channels.shares(m.channels.total()), m.bots.shares(t.Rows)
	return s
}

// shownLanes returns lanes as the page shows them, those that are stuck and those with the oldest rows first where there are
// too many, and how many there are.
func (m *Monitor) shownLanes(now time.Time) (shown []Lane, count int) {
	behind := m.behind()
	stuck := make(map[pipeline.LaneID]bool)
	for _, s := range m.stuck(now) {
		stuck[s.lane.ID] = true
	}
	all := m.opts.Stats.Lanes()
	count = len(all)
	for _, l := range mostWanted(all, stuck) {
		lane := Lane{
			Name: clip(l.ID.String(), maxText), Rows: l.Rows, Written: l.Written, Committed: l.Committed,
			Standing: m.standing(l.ID, now).Seconds(), Stuck: stuck[l.ID],
		}
		if !l.Oldest.IsZero() {
			lane.Oldest = now.Sub(l.Oldest).Seconds()
		}
		if n, ok := behind[l.ID]; ok {
			lane.Behind = &n
		}
		shown = append(shown, lane)
	}
	return shown, count
}

// status answers with the status. With since=TIME, the history has the points after that time only: a page that polls
// knows the others.
func (s *Server) status(w http.ResponseWriter, r *http.Request) {
	out := s.monitor.Status(time.Now())
	if since, err := time.Parse(time.RFC3339Nano, r.URL.Query().Get("since")); err == nil {
		out.History = slices.DeleteFunc(out.History, func(p Point) bool { return !p.At.After(since) })
	}
	writeJSON(w, out)
}

// writeJSON answers with v.
func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v) // who is gone needs no answer
}

// mostWanted returns at most shownLanes lanes: the first ones, or where there are more, those that are stuck and those with
// the oldest rows.
func mostWanted(all []pipeline.LaneStats, stuck map[pipeline.LaneID]bool) []pipeline.LaneStats {
	if len(all) <= shownLanes {
		return all
	}
	rank := func(l pipeline.LaneStats) int {
		switch {
		case stuck[l.ID]:
			return 0
		case !l.Oldest.IsZero():
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b pipeline.LaneStats) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Oldest.Compare(b.Oldest))
	})
	return all[:shownLanes]
}
