package database

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/internal/footprint"
)

// writer implements [pipeline.Writer]. It holds the rows until they are committed, so that a load can be tried again.
type writer struct {
	sink *Sink
	id   pipeline.LaneID
	lane Lane
	next int64 // of what is loaded

	dirty bool
	span  pipeline.Span // of what is held
	held  [pipeline.NumTables][]arrow.Record
	rows  int64
	good  int64 // those of the rows that are no dead letters
	most  int64 // of them in one record, so far
	bytes int64
	lost  int64 // values that are beyond the limits of the database
	err   error
}

// Write implements [pipeline.Writer].
func (w *writer) Write(ctx context.Context, t pipeline.Table, r arrow.Record, span pipeline.Span) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if w.err != nil {
		return w.err
	}
	if !w.dirty {
		w.dirty, w.span = true, span
	}
	w.span.Extend(span)
	if r == nil || r.NumRows() == 0 {
		return nil
	}
	if w.sink.schemas[t] == nil || !r.Schema().Equal(w.sink.schemas[t]) {
		w.err = fmt.Errorf("%s: rows with another schema than the sink was started with", t)
		return w.err
	}
	columns, err := copyOf(r)
	if err != nil {
		w.err = err
		return err
	}
	w.lost += w.sink.driver.Limits().fit(r.Schema(), columns)
	c, n := array.NewRecord(w.sink.flat[t], columns, r.NumRows()), footprint.Of(columns, (*memory.Buffer).Cap)
	w.held[t] = append(w.held[t], c)
	w.rows += r.NumRows()
	if t == pipeline.Rows {
		w.good += r.NumRows()
		w.most = max(w.most, r.NumRows())
	}
	w.bytes += n
	w.sink.held.Add(n)
	return nil
}

// Size implements [pipeline.Writer].
func (w *writer) Size() pipeline.Size {
	o := w.sink.opts
	return pipeline.Size{
		Rows: w.rows, Bytes: w.bytes,
		Full: w.rows > 0 && (w.bytes >= o.BatchBytes || w.rows >= o.BatchRows || o.Memory > 0 && w.sink.held.Load() >= o.Memory/2 || w.grouped()),
	}
}

// grouped reports whether the rows are as near to a multiple of the database's [Limits.Group] as they get from below, and would
// be full before the next one. They are not cut below the first group: a load of less than one gains nothing by it.
func (w *writer) grouped() bool {
	group := w.sink.driver.Limits().Group
	if group == 0 || w.good <= group {
		return false
	}
	after := func(rows int64) int64 { return (rows + group - 1) / group } // groups of so many rows
	n := after(w.good)
	if after(w.good+w.most) == n {
		return false
	}
	next := float64((n+1)*group) / float64(w.good) // times what there is
	return next*float64(w.rows) > float64(w.sink.opts.BatchRows) || next*float64(w.bytes) > float64(w.sink.opts.BatchBytes)
}

// Commit implements [pipeline.Writer].
func (w *writer) Commit(ctx context.Context) (int64, error) {
	if w.err != nil {
		return 0, w.err
	}
	if !w.dirty {
		return w.next, nil
	}
	l := Load{
		Lane: w.lane, First: w.next, Next: w.span.Next, ID: strings.TrimSpace(fmt.Sprintf("%s-%d %s", w.sink.run, w.sink.seq.Add(1), w.span.Of)), Rows: w.held,
	}
	err := w.sink.retry(ctx, w.id, func() error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return w.sink.driver.Load(ctx, l)
	})
	if errors.Is(err, ErrFenced) {
		err = &commit.FencedError{Lane: w.id, Position: w.next}
	}
	if err != nil {
		w.err = err
		return 0, err
	}
	w.sink.loads.Add(1)
	if w.lost > 0 {
		w.sink.nulled.Add(w.lost)
		w.sink.opts.Log.Warn("the database cannot hold some values: they are null, and url_error of their rows says "+Unfit+" where it says nothing else",
			"lane", w.id.String(), "values", w.lost, "from", l.First, "to", l.Next)
	}
	w.next, w.dirty = w.span.Next, false
	w.drop()
	return w.next, nil
}

// drop lets go of what is held.
func (w *writer) drop() {
	w.sink.held.Add(-w.bytes)
	w.held, w.rows, w.good, w.bytes, w.lost = [pipeline.NumTables][]arrow.Record{}, 0, 0, 0, 0
}

// Abandon implements [pipeline.Writer].
func (w *writer) Abandon() error {
	w.drop()
	return nil
}
