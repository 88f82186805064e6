package pipeline_test

import (
	"context"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/pipelinetest"
)

// keeper is a sink that keeps positions, and around is one around another.
type keeper struct {
	pipeline.Sink
	next int64
}

func (k *keeper) Position(context.Context, pipeline.LaneID) (pipeline.Mark, error) {
	return pipeline.Mark{Next: k.next}, nil
}

type around struct{ pipeline.Sink }

func (a around) Unwrap() pipeline.Sink { return a.Sink }

func TestAs(t *testing.T) {
	inner := &keeper{next: 7}
	for _, s := range []pipeline.Sink{inner, around{inner}, around{around{inner}}, around{&keeper{Sink: inner, next: 7}}} {
		p, ok := pipeline.As[pipeline.Positions](s)
		if !ok {
			t.Fatalf("%T: no positions", s)
		}
		if m, err := p.Position(t.Context(), pipeline.LaneID{}); err != nil || m.Next != 7 {
			t.Errorf("%T: %+v, %v", s, m, err)
		}
	}
	for _, s := range []pipeline.Sink{nil, around{}, around{around{}}} {
		if _, ok := pipeline.As[pipeline.Positions](s); ok {
			t.Errorf("%T has positions", s)
		}
	}
}

func TestSpanExtend(t *testing.T) {
	s := pipeline.Span{First: 3, Next: 5, Of: "a"}
	s.Extend(pipeline.Span{First: 5, Next: 9})
	if s != (pipeline.Span{First: 3, Next: 9, Of: "a"}) {
		t.Error(s)
	}
	s.Extend(pipeline.Span{First: 9, Next: 12, Of: "b"})
	if s != (pipeline.Span{First: 3, Next: 12, Of: "b"}) {
		t.Error(s)
	}
}

// resuming is a source that asks for the position of its lane.
type resuming struct {
	pipelinetest.Source
	asked pipeline.Mark
}

func (r *resuming) Resume(p pipeline.Positions) {
	r.asked, _ = p.Position(context.Background(), pipeline.LaneID{})
}

func TestResume(t *testing.T) {
	src := &resuming{Source: pipelinetest.Source{Lanes: []*pipelinetest.Lane{lane(10)}}}
	sink := &keeper{Sink: new(pipelinetest.Sink), next: 7}
	if err := pipeline.Run(t.Context(), nil, src, around{sink}, options(&pipelinetest.Transform{})); err != nil {
		t.Fatal(err)
	}
	if src.asked.Next != 7 {
		t.Errorf("the source was told %+v", src.asked)
	}
}
