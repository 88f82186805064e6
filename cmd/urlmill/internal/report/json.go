package report

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

// End is why a run has ended. Its text is stable.
type End string

// Why a run has ended.
const (
	AtEnd    End = "end"    // the source has: every record before its end is committed
	AtTime   End = "time"   // the time that it was given is up
	BySignal End = "signal" // it was told to stop
	ByError  End = "error"
)

// document is a summary for programs. Keys are stable: others may be added, and none is taken away.
type document struct {
	Ended        End              `json:"ended"`
	Error        string           `json:"error,omitempty"`
	Rows         int64            `json:"rows"`
	Bytes        int64            `json:"bytes"`
	Committed    int64            `json:"committed"`
	Commits      int64            `json:"commits"`
	Invalid      int64            `json:"invalid"`
	Errors       map[string]int64 `json:"errors"`
	Dropped      int64            `json:"dropped"`
	DeadLetters  int64            `json:"dead_letters"`
	Nulled       int64            `json:"nulled"`
	Late         int64            `json:"late"`
	Duplicates   int64            `json:"duplicates"`
	Files        int64            `json:"files"`
	WrittenBytes int64            `json:"written_bytes"`
	Seconds      float64          `json:"seconds"`
	Started      time.Time        `json:"started"`
	Finished     time.Time        `json:"finished"`
	ExitCode     int              `json:"exit_code"`
	Version      string           `json:"version"`
	Config       string           `json:"config"`
	Positions    []position       `json:"positions"`
}

// position is how far the output has a lane: all before Next.
type position struct {
	Stream    string `json:"stream"`
	Partition int32  `json:"partition"`
	Next      int64  `json:"next"`
}

// Account is what a job did, for programs.
type Account struct {
	// Version is urlmill's, and Config the hash of the configuration, as commit records have them.
	Version, Config string
	Started         time.Time
	Ended           End // "" if the pipeline did not run
	Summary         Summary
	Positions       map[pipeline.LaneID]int64
}

// JSON writes the account as one line. err is what the command ends with, and code its exit code.
func (a Account) JSON(w io.Writer, code int, err error) error {
	s, t := a.Summary, a.Summary.Totals
	d := document{
		Ended: cmp.Or(a.Ended, ByError), Rows: t.Rows, Bytes: t.Bytes, Committed: t.Committed, Commits: t.Commits, Invalid: t.Invalid,
		Errors: t.Errors, Dropped: t.Dropped, DeadLetters: t.DeadLetters, Nulled: t.Nulled, Late: s.Late, Duplicates: s.Duplicates,
		Files: s.Files, WrittenBytes: s.Written, Seconds: s.Elapsed.Seconds(), Started: a.Started.UTC(), Finished: a.Started.Add(s.Elapsed).UTC(),
		ExitCode: code, Version: a.Version, Config: a.Config, Positions: []position{},
	}
	if d.Errors == nil {
		d.Errors = map[string]int64{}
	}
	if err != nil {
		d.Error = err.Error()
	}
	order := func(a, b pipeline.LaneID) int {
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Session, b.Session))
	}
	for _, id := range slices.SortedFunc(maps.Keys(a.Positions), order) {
		d.Positions = append(d.Positions, position{id.Stream, id.Partition, a.Positions[id]})
	}
	return json.NewEncoder(w).Encode(d)
}
