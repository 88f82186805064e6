// Package rowsink has the writer of sinks that look at rows and keep nothing that a start could go on from.
package rowsink

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
)

// Open returns what [pipeline.Sink.Open] does: the writer of a lane that begins anywhere. It passes records to add, and calls
// flush at every commit.
func Open(add func(arrow.Record) error, flush func() error) (pipeline.Writer, int64, error) {
	return &writer{add: add, flush: flush, next: pipeline.Unknown}, pipeline.Unknown, nil
}

type writer struct {
	add   func(arrow.Record) error
	flush func() error
	size  pipeline.Size
	next  int64
}

// Write implements [pipeline.Writer].
func (w *writer) Write(_ context.Context, _ pipeline.Table, r arrow.Record, span pipeline.Span) error {
	w.next = span.Next
	w.size.Rows += r.NumRows()
	return w.add(r)
}

// Size implements [pipeline.Writer].
func (w *writer) Size() pipeline.Size { return w.size }

// Commit implements [pipeline.Writer].
func (w *writer) Commit(context.Context) (int64, error) {
	w.size = pipeline.Size{}
	return w.next, w.flush()
}

// Abandon implements [pipeline.Writer]. What add has done cannot be taken back.
func (w *writer) Abandon() error { return nil }
