package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/pipelinetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var errBroken = errors.New("broken")

func records(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%05d", prefix, i)
	}
	return out
}

func lane(n int) *pipelinetest.Lane {
	return &pipelinetest.Lane{Name: pipeline.LaneID{Stream: "t"}, Records: records("r", n), Base: 100}
}

func options(t *pipelinetest.Transform) pipeline.Options {
	return pipeline.Options{
		Schemas:      pipelinetest.Schemas,
		NewTransform: func() pipeline.Transform { return t },
		BatchRows:    16,
		Roll:         pipeline.Roll{Rows: 64, Every: -1},
	}
}

func TestAllLanesArriveInOrder(t *testing.T) {
	src := &pipelinetest.Source{}
	for p := range int32(5) {
		src.Lanes = append(src.Lanes, &pipelinetest.Lane{
			Name:    pipeline.LaneID{Stream: "t", Partition: p},
			Records: records(fmt.Sprintf("p%d-", p), 1000*int(p)),
		})
	}
	var sink pipelinetest.Sink
	opts := options(&pipelinetest.Transform{})
	opts.Stats = new(pipeline.Stats)
	if err := pipeline.Run(t.Context(), nil, src, &sink, opts); err != nil {
		t.Fatal(err)
	}
	for _, l := range src.Lanes {
		got := sink.Committed(l.Name, pipeline.Rows)
		if !slices.Equal(got, l.Records) {
			t.Errorf("%s: got %d rows, want %d in order", l.Name, len(got), len(l.Records))
		}
		if acked := l.Acked(); len(l.Records) > 0 && acked[len(acked)-1] != int64(len(l.Records)) {
			t.Errorf("%s: acknowledged up to %v, want %d", l.Name, acked, len(l.Records))
		}
	}
	totals := opts.Stats.Totals()
	if totals.Rows != 10000 || totals.Committed != 10000 || totals.Lanes != 0 || totals.Bytes != 10000*8 {
		t.Errorf("totals: %+v", totals)
	}
	if sink.Calls(pipelinetest.StepClose) != 1 {
		t.Error("the sink was not closed")
	}
}

func TestErrorPolicies(t *testing.T) {
	input := []string{"a", "bad1", "b", "bad2", "c"}
	for policy, want := range map[pipeline.OnError][2][]string{
		pipeline.Keep:          {input, nil},
		pipeline.Drop:          {{"a", "b", "c"}, nil},
		pipeline.ToDeadLetters: {{"a", "b", "c"}, {"bad1", "bad2"}},
		pipeline.Fail:          {{"a"}, nil},
	} {
		l := &pipelinetest.Lane{Name: pipeline.LaneID{Stream: "t"}, Records: input, Base: 7}
		var sink pipelinetest.Sink
		err := pipeline.Run(t.Context(), nil, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{l}}, &sink,
			options(&pipelinetest.Transform{OnError: policy}))
		for table, rows := range want {
			if diff := cmp.Diff(rows, sink.Committed(l.Name, pipeline.Table(table))); diff != "" {
				t.Errorf("policy %d, %s: %s", policy, pipeline.Table(table), diff)
			}
		}
		next := int64(12)
		var rowErr *pipeline.RowError
		if policy == pipeline.Fail {
			next = 8 // the offending row stays unread for whoever starts again
			if !errors.As(err, &rowErr) || rowErr.Offset != 8 || !strings.Contains(err.Error(), "dead_letter") {
				t.Errorf("fail: got error %v", err)
			}
		} else if err != nil {
			t.Errorf("policy %d: %v", policy, err)
		}
		if diff := cmp.Diff([]int64{next}, l.Acked()); diff != "" {
			t.Errorf("policy %d: acknowledged: %s", policy, diff)
		}
	}
}

// gappy leaves out positions.
type gappy struct {
	*pipelinetest.Lane
	behind, skips int64
}

func (l *gappy) Next(ctx context.Context, b *pipeline.Batch) error {
	err := l.Lane.Next(ctx, b)
	if b.First >= l.behind {
		b.First, b.Next = b.First+l.skips, b.Next+l.skips
	}
	return err
}

// lanes hands out lanes of any kind.
type lanes []pipeline.Lane

func (s lanes) Run(ctx context.Context, _ <-chan struct{}, each func(context.Context, pipeline.Lane) error) (err error) {
	for _, l := range s {
		err = errors.Join(err, each(ctx, l))
	}
	return err
}

// A commit ends where positions are left out, so that each covers what was read and nothing else.
func TestCommitBeforeGap(t *testing.T) {
	l := &gappy{lane(48), 132, 1000}
	var sink pipelinetest.Sink
	opts := options(&pipelinetest.Transform{})
	opts.Roll.Rows = 0
	if err := pipeline.Run(t.Context(), nil, lanes{l}, &sink, opts); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{132, 1148}, l.Acked()); diff != "" {
		t.Errorf("acknowledged: %s", diff)
	}
}

// What a source read before it failed is committed; the other lanes go on.
func TestSourceErrorKeepsWhatWasRead(t *testing.T) {
	broken, whole := lane(100), lane(100)
	broken.FailAt, broken.Err = 48, errBroken
	whole.Name.Partition = 1
	var sink pipelinetest.Sink
	err := pipeline.Run(t.Context(), nil, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{broken, whole}}, &sink,
		options(&pipelinetest.Transform{}))
	if !errors.Is(err, errBroken) {
		t.Errorf("got error %v", err)
	}
	if got := len(sink.Committed(broken.Name, pipeline.Rows)); got != 48 {
		t.Errorf("broken lane: %d rows", got)
	}
	if got := len(sink.Committed(whole.Name, pipeline.Rows)); got != 100 {
		t.Errorf("whole lane: %d rows", got)
	}
}

// Whatever step of the sink fails, nothing is acknowledged that is not committed, the error is returned, and
// the other lanes drain.
func TestSinkFaults(t *testing.T) {
	for _, step := range []pipelinetest.Step{
		pipelinetest.StepStart, pipelinetest.StepOpen, pipelinetest.StepWrite, pipelinetest.StepCommit, pipelinetest.StepClose,
	} {
		for _, at := range []int{1, 3} {
			a, b := lane(1000), lane(1000)
			b.Name.Partition, b.Endless = 1, true
			sink := pipelinetest.Sink{Fail: func(s pipelinetest.Step, n int) error {
				if s == step && n == at {
					return errBroken
				}
				return nil
			}}
			drain := make(chan struct{})
			if step == pipelinetest.StepClose || at == 3 && step != pipelinetest.StepWrite && step != pipelinetest.StepCommit {
				close(drain)
			}
			err := pipeline.Run(t.Context(), drain, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{a, b}}, &sink,
				options(&pipelinetest.Transform{}))
			if happened := sink.Calls(step) >= at; happened != errors.Is(err, errBroken) {
				t.Errorf("%s %d: error %v", step, at, err)
			}
			for _, l := range []*pipelinetest.Lane{a, b} {
				checkAcked(t, l, &sink)
			}
		}
	}
}

// checkAcked fails the test when a lane was told that something is durable that is not.
func checkAcked(t *testing.T, l *pipelinetest.Lane, sink *pipelinetest.Sink) {
	t.Helper()
	acked := l.Acked()
	if len(acked) == 0 {
		return
	}
	n := int(acked[len(acked)-1] - l.Base)
	got := sink.Committed(l.Name, pipeline.Rows)
	if len(got) < n || !slices.Equal(got[:n], l.Records[:n]) {
		t.Errorf("%s: acknowledged %d records, committed %d", l.Name, n, len(got))
	}
}

func TestTransformErrorStops(t *testing.T) {
	l := lane(100)
	var sink pipelinetest.Sink
	err := pipeline.Run(t.Context(), nil, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{l}}, &sink,
		options(&pipelinetest.Transform{Err: errBroken}))
	if !errors.Is(err, errBroken) || len(l.Acked()) != 0 || sink.Abandoned() != 1 {
		t.Errorf("error %v, acknowledged %v, abandoned %d", err, l.Acked(), sink.Abandoned())
	}
}

func TestAcknowledgeError(t *testing.T) {
	l := lane(100)
	l.AckErr = errBroken
	var sink pipelinetest.Sink
	err := pipeline.Run(t.Context(), nil, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{l}}, &sink,
		options(&pipelinetest.Transform{}))
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "durable") {
		t.Errorf("got error %v", err)
	}
}

func TestDrainCommitsWhatWasRead(t *testing.T) {
	l := lane(1000)
	l.Endless = true
	var sink pipelinetest.Sink
	opts := options(&pipelinetest.Transform{})
	opts.Roll.Rows = 0
	opts.Stats = new(pipeline.Stats)
	drain := make(chan struct{})
	done := make(chan error)
	go func() {
		done <- pipeline.Run(t.Context(), drain, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{l}}, &sink, opts)
	}()
	for opts.Stats.Totals().Rows < 1000 {
		time.Sleep(time.Millisecond)
	}
	if n := len(l.Acked()); n != 0 {
		t.Fatalf("acknowledged %d times before any limit was reached", n)
	}
	close(drain)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := sink.Committed(l.Name, pipeline.Rows); !slices.Equal(got, l.Records) {
		t.Errorf("%d rows after the drain", len(got))
	}
	if diff := cmp.Diff([]int64{1100}, l.Acked()); diff != "" {
		t.Error(diff)
	}
}

func TestDrainDeadline(t *testing.T) {
	l := lane(100)
	l.Endless = true
	sink := pipelinetest.Sink{Gate: make(chan struct{})} // commits hang
	opts := options(&pipelinetest.Transform{})
	opts.DrainTimeout = 10 * time.Millisecond
	opts.Stats = new(pipeline.Stats)
	drain := make(chan struct{})
	go func() {
		for opts.Stats.Totals().Rows < 64 {
			time.Sleep(time.Millisecond)
		}
		close(drain)
	}()
	err := pipeline.Run(t.Context(), drain, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{l}}, &sink, opts)
	if !errors.Is(err, pipeline.ErrDrainTimeout) {
		t.Errorf("got %v", err)
	}
	if len(l.Acked()) != 0 || len(sink.Committed(l.Name, pipeline.Rows)) != 0 || sink.Abandoned() != 1 {
		t.Error("something was committed or acknowledged")
	}
}

func TestCancelStopsAtOnce(t *testing.T) {
	l := lane(1000)
	l.Endless = true
	var sink pipelinetest.Sink
	opts := options(&pipelinetest.Transform{})
	opts.Roll.Rows = 0
	opts.Stats = new(pipeline.Stats)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for opts.Stats.Totals().Rows < 1000 {
			time.Sleep(time.Millisecond)
		}
		cancel(errBroken)
	}()
	err := pipeline.Run(ctx, nil, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{l}}, &sink, opts)
	if !errors.Is(err, errBroken) {
		t.Errorf("got error %v, want the cause of the cancellation", err)
	}
	if len(l.Acked()) != 0 || sink.Abandoned() != 1 {
		t.Errorf("acknowledged %v, abandoned %d", l.Acked(), sink.Abandoned())
	}
}

func TestLostLaneIsAbandonedWithoutError(t *testing.T) {
	l := lane(1000)
	l.Endless = true
	var sink pipelinetest.Sink
	opts := options(&pipelinetest.Transform{})
	opts.Roll.Rows = 0
	opts.Stats = new(pipeline.Stats)
	lose := make(chan struct{})
	go func() {
		for opts.Stats.Totals().Rows < 1000 {
			time.Sleep(time.Millisecond)
		}
		close(lose)
	}()
	err := pipeline.Run(t.Context(), nil, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{l}, Lose: lose}, &sink, opts)
	if err != nil || sink.Abandoned() != 1 || len(l.Acked()) != 0 {
		t.Errorf("error %v, abandoned %d, acknowledged %v", err, sink.Abandoned(), l.Acked())
	}
}

// A sink may still be looking for where a lane goes on, or be restoring what it has of it, when the lane is lost.
func TestLaneLostWhileOpened(t *testing.T) {
	for _, fault := range []error{context.Canceled, errBroken} {
		lose := make(chan struct{})
		src := &pipelinetest.Source{Lanes: []*pipelinetest.Lane{lane(10)}, Lose: lose}
		sink := &opening{begun: func() { close(lose) }, fault: fault}
		if err := pipeline.Run(t.Context(), nil, src, sink, options(&pipelinetest.Transform{})); err != nil {
			t.Errorf("after a loss, %v of the sink ended everything: %v", fault, err)
		}
	}
	sink := &pipelinetest.Sink{Fail: func(step pipelinetest.Step, _ int) error {
		if step == pipelinetest.StepOpen {
			return errBroken
		}
		return nil
	}}
	err := pipeline.Run(t.Context(), nil, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{lane(10)}}, sink, options(&pipelinetest.Transform{}))
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "t/0: sink: ") {
		t.Errorf("of a lane that nobody has taken away, got %v", err)
	}
}

// opening is a sink whose lanes are being opened until their contexts are cancelled.
type opening struct {
	pipelinetest.Sink
	begun func()
	fault error
}

func (s *opening) Open(ctx context.Context, _ pipeline.LaneID) (pipeline.Writer, int64, error) {
	s.begun()
	<-ctx.Done()
	return nil, 0, fmt.Errorf("restoring: %w", s.fault)
}

// A lane that the sink says is somebody else's goes back to the source, and is no fault of the pipeline's.
func TestLaneLostBySink(t *testing.T) {
	fenced := fmt.Errorf("somebody was faster: %w", pipeline.ErrLaneLost)
	sink := pipelinetest.Sink{Fail: func(step pipelinetest.Step, _ int) error {
		if step == pipelinetest.StepCommit {
			return fenced
		}
		return nil
	}}
	l := lane(100)
	err := pipeline.Run(t.Context(), nil, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{l}}, &sink, options(&pipelinetest.Transform{}))
	if !errors.Is(err, fenced) {
		t.Errorf("the source got %v", err)
	}
	if len(l.Acked()) != 0 {
		t.Errorf("acknowledged %v", l.Acked())
	}
}

func TestRollByTimeWithoutNewRecords(t *testing.T) {
	l := lane(10)
	l.Endless = true
	var sink pipelinetest.Sink
	opts := options(&pipelinetest.Transform{})
	opts.Roll = pipeline.Roll{Every: 5 * time.Millisecond}
	drain := make(chan struct{})
	go func() {
		for len(l.Acked()) == 0 {
			time.Sleep(time.Millisecond)
		}
		close(drain)
	}()
	if err := pipeline.Run(t.Context(), drain, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{l}}, &sink, opts); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{110}, l.Acked()); diff != "" {
		t.Error(diff)
	}
}

func TestRollByBytes(t *testing.T) {
	l := lane(1000) // 6 bytes each
	var sink pipelinetest.Sink
	opts := options(&pipelinetest.Transform{})
	opts.Roll = pipeline.Roll{Bytes: 6 * 160}
	if err := pipeline.Run(t.Context(), nil, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{l}}, &sink, opts); err != nil {
		t.Fatal(err)
	}
	if got := sink.Calls(pipelinetest.StepCommit); got != 7 {
		t.Errorf("%d commits, want 6 full ones and the rest", got)
	}
}

// Restarted after random faults until it gets through, a pipeline over a sink that keeps no positions loses
// nothing, and one over a sink that keeps them also duplicates nothing.
func TestRestartsLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "records")
		l := lane(n)
		l.PerBatch = rapid.IntRange(1, 50).Draw(t, "per batch")
		faults := rapid.SliceOfN(rapid.IntRange(1, 12), 0, 5).Draw(t, "faults")
		step := rapid.SampledFrom([]pipelinetest.Step{pipelinetest.StepWrite, pipelinetest.StepCommit}).Draw(t, "step")
		sink := &pipelinetest.Sink{KeepPositions: rapid.Bool().Draw(t, "keep positions")}
		opts := options(&pipelinetest.Transform{})
		opts.Roll.Rows = int64(rapid.IntRange(1, 100).Draw(t, "roll"))
		for {
			left := -1
			if len(faults) > 0 {
				left, faults = faults[0], faults[1:]
			}
			sink.Fail = func(s pipelinetest.Step, _ int) error {
				if s == step {
					if left--; left == 0 {
						return errBroken
					}
				}
				return nil
			}
			if err := pipeline.Run(context.Background(), nil, &pipelinetest.Source{Lanes: []*pipelinetest.Lane{l}}, sink, opts); err == nil {
				break
			}
		}
		got := sink.Committed(l.Name, pipeline.Rows)
		if !sink.KeepPositions {
			slices.Sort(got)
			got = slices.Compact(got)
		}
		if !slices.Equal(got, l.Records) {
			t.Fatalf("%d rows of %d", len(got), n)
		}
	})
}
