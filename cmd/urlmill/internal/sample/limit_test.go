package sample

import (
	"context"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/pipelinetest"
)

// movingSource has a lane that can be told to end alone.
type movingSource struct{ pipelinetest.Source }

type movingLane struct {
	pipeline.Lane
	pipeline.Waiter
	ending chan struct{}
}

func (l movingLane) Ending() <-chan struct{} { return l.ending }

func (s *movingSource) Run(ctx context.Context, drain <-chan struct{}, each func(context.Context, pipeline.Lane) error) error {
	return s.Source.Run(ctx, drain, func(ctx context.Context, l pipeline.Lane) error {
		return each(ctx, movingLane{l, l.(pipeline.Waiter), make(chan struct{})})
	})
}

// TestLimitedLaneIsWhole finds behind a limit what the lane of the source has.
func TestLimitedLaneIsWhole(t *testing.T) {
	source := &movingSource{pipelinetest.Source{Lanes: []*pipelinetest.Lane{{Name: pipeline.LaneID{Stream: "clicks"}}}}}
	lanes := 0
	err := NewLimit(source, 1).Run(t.Context(), nil, func(_ context.Context, l pipeline.Lane) error {
		lanes++
		if _, ok := pipeline.As[pipeline.Waiter](l); !ok {
			t.Error("it waits with a batch")
		}
		if _, ok := pipeline.As[pipeline.Ender](l); !ok {
			t.Error("what delays it does not learn that it is to end")
		}
		return nil
	})
	if err != nil || lanes != 1 {
		t.Error(lanes, err)
	}
}
