package filesink

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
)

// memStream is a stream of lines.
type memStream struct {
	mu              sync.Mutex
	out             []string
	flushed, closed bool
	start, write    error
}

func (s *memStream) Start(context.Context, *arrow.Schema) error { return s.start }
func (s *memStream) Write(_ context.Context, r arrow.Record) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out = append(s.out, r.Column(0).String())
	return 5, s.write
}
func (s *memStream) Commit() error { s.flushed = true; return nil }
func (s *memStream) Close() error  { s.closed = true; return nil }

func TestStream(t *testing.T) {
	out := &memStream{}
	s := newSink(t, &text{}, "", nil, out)
	w := s.start(t, pipeline.LaneID{Stream: "-"})
	for _, err := range []error{
		w.Write(t.Context(), pipeline.Rows, number(1), pipeline.Span{First: 0, Next: 2}),
		w.Write(t.Context(), pipeline.DeadLetters, letter("a"), pipeline.Span{First: 0, Next: 2}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := w.Size(); got != (pipeline.Size{Rows: 2, Bytes: 7}) {
		t.Errorf("size %+v", got)
	}
	if next, err := w.Commit(t.Context()); next != 2 || err != nil || !out.flushed {
		t.Errorf("commit gave %d, %v", next, err)
	}
	if got := w.Size(); got != (pipeline.Size{}) {
		t.Errorf("size after the commit %+v", got)
	}
	out.write = syscall.EPIPE
	if err := w.Write(t.Context(), pipeline.Rows, number(2), pipeline.Span{First: 2, Next: 3}); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v", err)
	}
	if err := w.Abandon(); err != nil {
		t.Error(err)
	}
	s.close(t)
	if !out.closed || !slices.Equal(out.out, []string{"[1]", "[2]"}) {
		t.Errorf("got %v, closed %t", out.out, out.closed)
	}
	if got := contents(t, s.dead); len(got) != 1 {
		t.Errorf("dead letters %q", got)
	}
}

// TestDeadLetterStream has the rows in files, exactly once, and the dead letters in a stream, which has them before the
// rows are committed.
func TestDeadLetterStream(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rows")
	out := &memStream{}
	s := New(Options{Path: dir, Files: Files{DeadLetterStream: out}, Format: &text{}, Log: slog.New(slog.DiscardHandler)})
	if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); err != nil {
		t.Fatal(err)
	}
	id := pipeline.LaneID{Stream: "clicks"}
	w, _, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	span := pipeline.Span{First: 0, Next: 2}
	if err := errors.Join(
		w.Write(t.Context(), pipeline.DeadLetters, letter("a"), span),
		w.Write(t.Context(), pipeline.Rows, number(1), span),
	); err != nil {
		t.Fatal(err)
	}
	if len(out.out) != 1 || len(contents(t, dir)) != 0 {
		t.Errorf("before the commit: %q in the stream, %q in files", out.out, contents(t, dir))
	}
	if next, err := w.Commit(t.Context()); next != 2 || err != nil {
		t.Errorf("commit gave %d, %v", next, err)
	}
	out.write = syscall.EPIPE
	if err := w.Write(t.Context(), pipeline.DeadLetters, letter("b"), pipeline.Span{First: 2, Next: 3}); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v", err)
	}
	if err := w.Abandon(); err != nil {
		t.Error(err)
	}
	if _, next, err := s.Open(t.Context(), id); next != 2 || err != nil {
		t.Errorf("opened at %d, %v", next, err)
	}
	if err := s.Close(); err != nil || !out.closed || len(contents(t, dir)) != 1 {
		t.Errorf("%v, closed %t, files %q", err, out.closed, contents(t, dir))
	}
	both := Options{Path: dir, Files: Files{DeadLetters: dir + ".dead", DeadLetterStream: out}, Format: &text{}}
	if err := both.Validate(); err == nil || !strings.Contains(err.Error(), "dead_letters: names a directory") {
		t.Errorf("both: %v", err)
	}
}

func TestStreamThatCannotStart(t *testing.T) {
	s := newSink(t, &text{}, "", nil, &memStream{start: syscall.EBADF})
	if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); !errors.Is(err, syscall.EBADF) {
		t.Errorf("got %v", err)
	}
	s.close(t)
}
