package lanesink

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
)

// table is one of the two outputs of a lane.
type table interface {
	// write adds rows that begin at the position first of a lane, or later.
	write(ctx context.Context, r arrow.Record, lane pipeline.LaneID, first int64) error
	size() int64
	// finish completes what was written and returns its file, which is not published yet; nil if there is none.
	finish(lane pipeline.LaneID, span pipeline.Span) (*commit.File, error)
	// revert drops what was written and not finished.
	revert() error
}

// committer commits the positions of a lane together with the files that hold their rows, and publishes the files,
// which are its own from then on.
type committer interface {
	Commit(ctx context.Context, span pipeline.Span, files []commit.File) error
	// Discard removes files that are not going to be committed.
	Discard(ctx context.Context, files []commit.File) error
}

// writer implements [pipeline.Writer].
type writer struct {
	lane   pipeline.LaneID
	tables [pipeline.NumTables]table // nil for a table that gets no rows
	commit committer
	sum    *written

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
	if err := w.tables[t].write(ctx, r, w.lane, w.span.First); err != nil {
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

// commitOrder has the dead letters first: without exactly-once delivery, should the process die in between, they are
// written twice rather than not at all.
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
	files, err := w.finish()
	if err != nil {
		return 0, w.fail(errors.Join(err, w.commit.Discard(ctx, files), w.Abandon()))
	}
	if err := w.commit.Commit(ctx, w.span, files); err != nil {
		return 0, w.fail(err)
	}
	for _, f := range files {
		w.sum.files.Add(1)
		w.sum.bytes.Add(f.Bytes)
	}
	w.next, w.dirty, w.rows = w.span.Next, false, 0
	return w.next, nil
}

// finish completes the files of all tables. With an error it returns those that it has completed.
func (w *writer) finish() ([]commit.File, error) {
	var files []commit.File
	for _, t := range commitOrder {
		if w.tables[t] == nil {
			continue
		}
		f, err := w.tables[t].finish(w.lane, w.span)
		if err != nil {
			return files, err
		}
		if f != nil {
			files = append(files, *f)
		}
	}
	return files, nil
}

// Abandon implements [pipeline.Writer].
func (w *writer) Abandon() error {
	var errs []error
	for _, t := range w.tables {
		if t != nil {
			errs = append(errs, t.revert())
		}
	}
	return errors.Join(errs...)
}
