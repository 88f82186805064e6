package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

// Against is what a source has, held against the output.
type Against struct {
	Lanes []LaneAgainst `json:"lanes"`
	// Unread and NeverRead count the positions that were not read yet, and those that were never read and are gone.
	Unread    int64 `json:"unread"`
	NeverRead int64 `json:"never_read"`
}

// LaneAgainst is what a source has of a lane.
type LaneAgainst struct {
	Stream    string `json:"stream"`
	Partition int32  `json:"partition"`
	// First and End bound what the source has now, End exclusive; -1 where it cannot tell.
	First    int64     `json:"first"`
	End      int64     `json:"end"`
	Findings []Finding `json:"findings"`
}

// Finding is a [pipeline.Finding].
type Finding struct {
	Kind    pipeline.FindingKind `json:"kind"`
	First   int64                `json:"first"`
	Next    int64                `json:"next"`
	Message string               `json:"message"`
}

// Text says what was found.
func (f Finding) Text() string {
	if f.First == pipeline.Unknown {
		return f.Message
	}
	return fmt.Sprintf("%d to %d: %s", f.First, f.Next, f.Message)
}

// Known returns what the output at root has of each lane, in the form in which a source is asked about it.
func (r *Report) Known(root store.Objects) []pipeline.Known {
	known := make([]pipeline.Known, 0, len(r.Lanes))
	for _, l := range r.Lanes {
		_, session, _ := commit.CutLane(l.Lane)
		known = append(known, pipeline.Known{
			Lane:  pipeline.LaneID{Stream: l.Stream, Partition: l.Partition, Session: session},
			Start: l.Start, Mark: pipeline.Mark{Next: l.Next, Of: l.Of},
			History: func(ctx context.Context, each func(pipeline.Mark) error) (err error) {
				_, failed := commit.ReadHistory(ctx, root, l.Lane, func(r *commit.Record) {
					if err == nil {
						err = each(pipeline.Mark{Next: r.Next, Of: r.Of})
					}
				})
				return errors.Join(err, failed)
			},
		})
	}
	return known
}

// Hold adds what a source has said about the output.
func (r *Report) Hold(standings []pipeline.Standing) {
	r.Against = &Against{Lanes: []LaneAgainst{}}
	for _, s := range standings {
		lane := LaneAgainst{Stream: s.Lane.Stream, Partition: s.Lane.Partition, First: s.First, End: s.End, Findings: []Finding{}}
		for _, f := range s.Findings {
			lane.Findings = append(lane.Findings, Finding(f))
			switch f.Kind {
			case pipeline.Unread:
				r.Against.Unread += f.Next - f.First
			case pipeline.NeverRead:
				r.Against.NeverRead += f.Next - f.First
			}
			if f.Kind.Problem() {
				r.Problems = append(r.Problems, commit.Problem{Kind: commit.Kind(f.Kind), Lane: s.Lane.String(), Position: f.First, Message: Finding(f).Text()})
			}
		}
		r.Against.Lanes = append(r.Against.Lanes, lane)
	}
	r.sortProblems()
}
