package filesink

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// failing is the system with a fault in the calls with the given name on paths with the given part.
func failing(op, part string, err error) store.FS {
	return storetest.Wrap(store.System, func(c storetest.Call) error {
		if c.Op == op && strings.Contains(c.Path, part) {
			return err
		}
		return nil
	})
}

// TestFaults has every step of a commit fail. Nothing may be visible then, unless it is committed, and nothing
// acknowledged.
func TestFaults(t *testing.T) { deliveries(t, testFaults) }

func testFaults(t *testing.T, d commit.Delivery) {
	tests := map[string]struct {
		format *text
		sys    store.FS
		want   error
		// published says that the commit has been made already, and stays, where there is a record of it.
		published bool
	}{
		"disk full":      {&text{}, failing("write", ".txt", syscall.ENOSPC), syscall.ENOSPC, false},
		"new encoder":    {&text{new: syscall.EIO}, nil, syscall.EIO, false},
		"encoder write":  {&text{write: syscall.EIO}, nil, syscall.EIO, false},
		"encoder finish": {&text{finish: syscall.EIO}, nil, syscall.EIO, false},
		"sync of a file": {&text{}, failing("sync", ".txt", syscall.EIO), syscall.EIO, false},
		"rename dead":    {&text{}, failing("rename", "dead/clicks", syscall.EIO), syscall.EIO, true},
		"rename rows":    {&text{}, failing("rename", "rows/clicks", syscall.EIO), syscall.EIO, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSink(t, tc.format, d, tc.sys, nil)
			ctx := t.Context()
			w := s.start(t, pipeline.LaneID{Stream: "clicks"})
			err := w.Write(ctx, pipeline.DeadLetters, letter("a"), pipeline.Span{First: 0, Next: 2})
			if err == nil {
				err = w.Write(ctx, pipeline.Rows, number(1), pipeline.Span{First: 0, Next: 2})
			}
			if err == nil {
				_, err = w.Commit(ctx)
			}
			if !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
			if _, again := w.Commit(ctx); !errors.Is(again, tc.want) {
				t.Errorf("the commit after it gave %v", again)
			}
			if again := w.Write(ctx, pipeline.Rows, number(1), pipeline.Span{First: 2, Next: 3}); !errors.Is(again, tc.want) {
				t.Errorf("the write after it gave %v", again)
			}
			if err := w.Abandon(); err != nil {
				t.Error(err)
			}
			if d == commit.ExactlyOnce && tc.published {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				s.recovers(t)
				return
			}
			s.close(t)
			if got := append(contents(t, s.rows), contents(t, s.dead)...); got != nil {
				t.Errorf("visible: %q", got)
			}
		})
	}
}

// recovers starts the sink again, without its faults: what was committed is published then, and nothing is left.
func (s setup) recovers(t *testing.T) {
	t.Helper()
	s.opts.Stores = store.Open
	s.Sink = New(s.opts)
	if err := s.Start(t.Context(), pipeline.Schemas{numbers, letters}); err != nil {
		t.Fatal(err)
	}
	if _, next, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks"}); next != 2 || err != nil {
		t.Errorf("opened at %d, %v", next, err)
	}
	s.close(t)
	if rows, dead := contents(t, s.rows), contents(t, s.dead); len(rows) != 1 || len(dead) != 1 {
		t.Errorf("visible: %q, %q", rows, dead)
	}
}

func TestCancelled(t *testing.T) { deliveries(t, testCancelled) }

func testCancelled(t *testing.T, d commit.Delivery) {
	s := newSink(t, &text{}, d, nil, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	w := s.start(t, pipeline.LaneID{Stream: "clicks"})
	if err := w.Write(ctx, pipeline.Rows, number(1), pipeline.Span{First: 0, Next: 1}); err != nil {
		t.Fatal(err)
	}
	cancel(pipeline.ErrLaneLost)
	if err := w.Write(ctx, pipeline.Rows, number(1), pipeline.Span{First: 1, Next: 2}); !errors.Is(err, pipeline.ErrLaneLost) {
		t.Errorf("write gave %v", err)
	}
	if _, err := w.Commit(ctx); !errors.Is(err, pipeline.ErrLaneLost) {
		t.Errorf("commit gave %v", err)
	}
	if err := w.Abandon(); err != nil {
		t.Error(err)
	}
	s.close(t)
	if got := contents(t, s.rows); got != nil {
		t.Errorf("visible: %q", got)
	}
}
