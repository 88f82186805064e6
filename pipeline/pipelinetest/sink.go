package pipelinetest

import (
	"context"
	"fmt"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/pipeline"
)

// Step names a call that a [Sink] makes fail.
type Step string

// The steps of a sink.
const (
	StepStart  Step = "start"
	StepOpen   Step = "open"
	StepWrite  Step = "write"
	StepCommit Step = "commit"
	StepClose  Step = "close"
)

// Sink keeps in memory what was committed, by lane. The first column of every record has to be a string
// column.
type Sink struct {
	// Fail, when not nil, is asked before every step; n counts the calls of that step, from 1.
	Fail func(step Step, n int) error
	// KeepPositions makes Open return the position after the last commit.
	KeepPositions bool
	// Gate, when not nil, has to be received from before a commit goes on.
	Gate <-chan struct{}

	mu        sync.Mutex
	calls     map[Step]int
	committed map[pipeline.LaneID]*[pipeline.NumTables][]string
	next      map[pipeline.LaneID]int64
	abandoned int
}

func (s *Sink) step(step Step) error {
	s.mu.Lock()
	if s.calls == nil {
		s.calls = make(map[Step]int)
	}
	s.calls[step]++
	n := s.calls[step]
	s.mu.Unlock()
	if s.Fail == nil {
		return nil
	}
	return s.Fail(step, n)
}

// Start implements pipeline.Sink.
func (s *Sink) Start(context.Context, pipeline.Schemas) error { return s.step(StepStart) }

// Open implements pipeline.Sink.
func (s *Sink) Open(_ context.Context, id pipeline.LaneID) (pipeline.Writer, int64, error) {
	if err := s.step(StepOpen); err != nil {
		return nil, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next, ok := s.next[id]
	if !ok || !s.KeepPositions {
		next = pipeline.Unknown
	}
	return &writer{sink: s, id: id}, next, nil
}

// Close implements pipeline.Sink.
func (s *Sink) Close() error { return s.step(StepClose) }

// Committed returns what is durable of a lane's table, in the order of commits.
func (s *Sink) Committed(id pipeline.LaneID, t pipeline.Table) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.committed[id]; c != nil {
		return append([]string(nil), c[t]...)
	}
	return nil
}

// Calls returns how often a step was taken.
func (s *Sink) Calls(step Step) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[step]
}

// Abandoned returns how many writers were abandoned.
func (s *Sink) Abandoned() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.abandoned
}

type writer struct {
	sink    *Sink
	id      pipeline.LaneID
	pending [pipeline.NumTables][]string
	bytes   int64
	next    int64
}

func (w *writer) Write(_ context.Context, t pipeline.Table, r arrow.Record, span pipeline.Span) error {
	if err := w.sink.step(StepWrite); err != nil {
		return err
	}
	col, ok := r.Column(0).(*array.String)
	if !ok {
		return fmt.Errorf("pipelinetest: first column is %s, not a string", r.Column(0).DataType())
	}
	for i := range col.Len() {
		w.pending[t] = append(w.pending[t], string([]byte(col.Value(i)))) // r is the caller's again
		w.bytes += int64(len(col.Value(i)))
	}
	w.next = span.Next
	return nil
}

func (w *writer) Size() pipeline.Size {
	return pipeline.Size{Rows: int64(len(w.pending[0]) + len(w.pending[1])), Bytes: w.bytes}
}

func (w *writer) Commit(ctx context.Context) (int64, error) {
	s := w.sink
	if s.Gate != nil {
		select {
		case <-s.Gate:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	if err := s.step(StepCommit); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.committed == nil {
		s.committed = make(map[pipeline.LaneID]*[pipeline.NumTables][]string)
		s.next = make(map[pipeline.LaneID]int64)
	}
	if s.committed[w.id] == nil {
		s.committed[w.id] = new([pipeline.NumTables][]string)
	}
	for t := range w.pending {
		s.committed[w.id][t] = append(s.committed[w.id][t], w.pending[t]...)
		w.pending[t] = nil
	}
	w.bytes = 0
	s.next[w.id] = w.next
	return w.next, nil
}

func (w *writer) Abandon() error {
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	w.sink.abandoned++
	w.pending = [pipeline.NumTables][]string{}
	return nil
}
