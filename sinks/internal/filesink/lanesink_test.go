package filesink

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
)

func TestCommits(t *testing.T) { deliveries(t, testCommits) }

func testCommits(t *testing.T, d commit.Delivery) {
	s := newSink(t, &text{}, d, nil, nil)
	ctx, id := t.Context(), pipeline.LaneID{Stream: "clicks", Partition: 7}
	w := s.start(t, id)
	if next, err := w.Commit(ctx); next != pipeline.Unknown || err != nil {
		t.Errorf("an empty commit gave %d, %v", next, err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Write(ctx, pipeline.DeadLetters, letter("a"), pipeline.Span{First: 10, Next: 13}))
	must(w.Write(ctx, pipeline.Rows, number(1, 2), pipeline.Span{First: 10, Next: 13}))
	must(w.Write(ctx, pipeline.Rows, number(3), pipeline.Span{First: 13, Next: 14}))
	must(w.Write(ctx, pipeline.Rows, nil, pipeline.Span{First: 14, Next: 20}))
	if got := w.Size(); got != (pipeline.Size{Rows: 4, Bytes: 8}) {
		t.Errorf("size %+v", got)
	}
	if got := append(contents(t, s.rows), contents(t, s.dead)...); got != nil {
		t.Errorf("visible before the commit: %q", got)
	}
	if next, err := w.Commit(ctx); next != 20 || err != nil {
		t.Fatalf("commit gave %d, %v", next, err)
	}
	if got := w.Size(); got != (pipeline.Size{}) {
		t.Errorf("size after the commit %+v", got)
	}
	// A span without rows moves the position and makes no file.
	must(w.Write(ctx, pipeline.Rows, nil, pipeline.Span{First: 20, Next: 25}))
	if next, err := w.Commit(ctx); next != 25 || err != nil {
		t.Errorf("commit gave %d, %v", next, err)
	}
	must(w.Write(ctx, pipeline.Rows, number(4), pipeline.Span{First: 25, Next: 26}))
	if next, err := w.Commit(ctx); next != 26 || err != nil {
		t.Errorf("commit gave %d, %v", next, err)
	}
	must(w.Abandon())
	s.close(t)
	if c := pipeline.CountsOf(nil, s).Files; c.Files != 3 || c.Bytes != 33+28+38 {
		t.Errorf("written: %+v", c)
	}
	if got, want := contents(t, s.rows), []string{"1\n2\n3\nrows clicks/7 10:20 3 rows\n", "4\nrows clicks/7 25:26 1 rows\n"}; !slices.Equal(got, want) {
		t.Errorf("rows %q", got)
	}
	if got, want := contents(t, s.dead), []string{"a\ndead_letters clicks/7 10:20 1 rows\n"}; !slices.Equal(got, want) {
		t.Errorf("dead letters %q", got)
	}
}

func TestAbandon(t *testing.T) { deliveries(t, testAbandon) }

func testAbandon(t *testing.T, d commit.Delivery) {
	s := newSink(t, &text{}, d, nil, nil)
	w := s.start(t, pipeline.LaneID{Stream: "clicks"})
	for _, err := range []error{
		w.Write(t.Context(), pipeline.Rows, number(1), pipeline.Span{First: 0, Next: 1}),
		w.Write(t.Context(), pipeline.DeadLetters, letter("a"), pipeline.Span{First: 0, Next: 1}),
		w.Abandon(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.close(t)
	if got := append(contents(t, s.rows), contents(t, s.dead)...); got != nil {
		t.Errorf("visible: %q", got)
	}
}

func TestRefusals(t *testing.T) {
	s := newSink(t, &text{check: errors.New("cannot hold that")}, "", nil, nil)
	if err := s.Start(t.Context(), pipeline.Schemas{numbers}); err == nil || !strings.Contains(err.Error(), "rows: cannot hold that") {
		t.Errorf("got %v", err)
	}
	s = newSink(t, &text{}, "", nil, nil)
	s.opts.DeadLetters = ""
	if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); err == nil || !strings.Contains(err.Error(), "set dead_letters") {
		t.Errorf("got %v", err)
	}
	s = newSink(t, &text{}, "", nil, nil)
	s.opts.DeadLetters = "/nonexistent/urlmill/dead"
	if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); err == nil || !strings.Contains(err.Error(), "mkdir -p") {
		t.Errorf("got %v", err)
	}
	s.close(t)

	s = newSink(t, &text{}, "", nil, nil)
	w := s.start(t, pipeline.LaneID{Stream: "clicks"})
	if err := w.Write(t.Context(), pipeline.Rows, letter("a"), pipeline.Span{}); !errors.Is(err, errSchema) {
		t.Errorf("got %v", err)
	}
	s.close(t)

	for want, o := range map[string]Options{
		"path: missing":                    {},
		"stdout: cannot be given together": {Path: "x", Stream: &memStream{}},
		"dead_letters: lies in path":       {Path: "x", Files: Files{DeadLetters: "./x/"}},
		`delivery: "twice" is not known; use exactly_once or at_least_once`: {Path: "x", Files: Files{Delivery: "twice"}},
		"delivery: what went to standard output":                            {Stream: &memStream{}, Files: Files{Delivery: commit.ExactlyOnce}},
	} {
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A sink goes on where the last one stopped, and leaves what that one had not committed.
func TestGoesOn(t *testing.T) {
	s := newSink(t, &text{}, commit.ExactlyOnce, nil, nil)
	id := pipeline.LaneID{Stream: "clicks", Partition: 7}
	w := s.start(t, id)
	if err := w.Write(t.Context(), pipeline.Rows, number(1), pipeline.Span{First: 10, Next: 11}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), pipeline.Rows, number(2), pipeline.Span{First: 11, Next: 12}); err != nil {
		t.Fatal(err)
	}
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	s.close(t)
	for lane, want := range map[pipeline.LaneID]int64{id: 11, {Stream: "clicks"}: pipeline.Unknown} {
		s.Sink = New(s.opts)
		if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); err != nil {
			t.Fatal(err)
		}
		if _, next, err := s.Open(t.Context(), lane); next != want || err != nil {
			t.Errorf("%s: opened at %d, %v", lane, next, err)
		}
		s.close(t)
	}
}

// Of two writers of a lane, the one that commits second has lost it.
func TestFenced(t *testing.T) {
	s := newSink(t, &text{}, commit.ExactlyOnce, nil, nil)
	id := pipeline.LaneID{Stream: "clicks"}
	first := s.start(t, id)
	second, _, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []pipeline.Writer{first, second} {
		if err := w.Write(t.Context(), pipeline.Rows, number(1), pipeline.Span{First: 0, Next: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := first.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Commit(t.Context()); !errors.Is(err, pipeline.ErrLaneLost) {
		t.Errorf("got %v", err)
	}
	if err := second.Abandon(); err != nil {
		t.Error(err)
	}
	s.close(t)
	if got := contents(t, s.rows); len(got) != 1 {
		t.Errorf("rows %q", got)
	}
}

// The two kinds of delivery do not go into one directory.
func TestDeliveriesDoNotMix(t *testing.T) {
	for first, second := range map[commit.Delivery]commit.Delivery{commit.ExactlyOnce: commit.AtLeastOnce, commit.AtLeastOnce: commit.ExactlyOnce} {
		s := newSink(t, &text{}, first, nil, nil)
		w := s.start(t, pipeline.LaneID{Stream: "clicks"})
		if err := w.Write(t.Context(), pipeline.Rows, number(1), pipeline.Span{First: 0, Next: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.close(t)
		s.opts.Delivery = second
		s.Sink = New(s.opts)
		if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); err == nil || !strings.Contains(err.Error(), "give another directory") {
			t.Errorf("%s after %s: %v", second, first, err)
		}
		s.close(t)
	}
}
