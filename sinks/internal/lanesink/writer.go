package lanesink

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
)

// table is one of the two outputs of a lane.
type table interface {
	write(r arrow.Record) error
	size() int64
	// finish makes durable what was written, and publish makes it visible. Both do nothing when nothing
	// was written.
	finish(lane pipeline.LaneID, span pipeline.Span) error
	publish(lane pipeline.LaneID, span pipeline.Span) error
	// committed forgets what was published, revert takes it back.
	committed()
	revert() error
}

// writer implements [pipeline.Writer].
type writer struct {
	lane   pipeline.LaneID
	tables [pipeline.NumTables]table // nil for a table that gets no rows

	span  pipeline.Span // of what is uncommitted, valid if dirty
	dirty bool
	rows  int64
	next  int64 // of the last commit
	err   error // a failed Write or Commit: whatever is uncommitted can only be abandoned
}

// Write implements [pipeline.Writer]. r may be nil: the span then holds no rows.
func (w *writer) Write(ctx context.Context, t pipeline.Table, r arrow.Record, span pipeline.Span) error {
	if w.err != nil {
		return w.err
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if !w.dirty {
		w.dirty, w.span = true, span
	}
	w.span.Next = max(w.span.Next, span.Next)
	if r == nil || r.NumRows() == 0 {
		return nil
	}
	if w.tables[t] == nil {
		return w.fail(fmt.Errorf("rows for the table %s, which has no schema", t))
	}
	if err := w.tables[t].write(r); err != nil {
		return w.fail(err)
	}
	w.rows += r.NumRows()
	return nil
}

func (w *writer) fail(err error) error {
	w.err = err
	return err
}

// Size implements [pipeline.Writer].
func (w *writer) Size() pipeline.Size {
	s := pipeline.Size{Rows: w.rows}
	for _, t := range w.tables {
		if t != nil {
			s.Bytes += t.size()
		}
	}
	return s
}

// commitOrder has the dead letters first: should the process die in between, they are written twice rather
// than not at all.
var commitOrder = [...]pipeline.Table{pipeline.DeadLetters, pipeline.Rows}

// Commit implements [pipeline.Writer]. It returns the position after the last span, also when that held no
// rows, and [pipeline.Unknown] when there never was a span.
func (w *writer) Commit(ctx context.Context) (int64, error) {
	if w.err != nil {
		return 0, w.err
	}
	if !w.dirty {
		return w.next, nil
	}
	if err := w.commit(ctx); err != nil {
		return 0, w.fail(errors.Join(err, w.revert()))
	}
	for _, t := range w.tables {
		if t != nil {
			t.committed()
		}
	}
	w.next, w.dirty, w.rows = w.span.Next, false, 0
	return w.next, nil
}

// commit makes everything durable before anything becomes visible.
func (w *writer) commit(ctx context.Context) error {
	for _, t := range commitOrder {
		if w.tables[t] == nil {
			continue
		}
		if err := w.tables[t].finish(w.lane, w.span); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, t := range commitOrder {
		if w.tables[t] == nil {
			continue
		}
		if err := w.tables[t].publish(w.lane, w.span); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) revert() error {
	var errs []error
	for _, t := range w.tables {
		if t != nil {
			errs = append(errs, t.revert())
		}
	}
	return errors.Join(errs...)
}

// Abandon implements [pipeline.Writer].
func (w *writer) Abandon() error { return w.revert() }
