package rowview

import (
	"context"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
)

// Preview is a sink around another one that also shows the first rows as a table.
type Preview struct {
	inner pipeline.Sink
	shown *Sink

	mu   sync.Mutex
	left int64
}

// NewPreview returns a sink that passes everything on to inner, and the first rows to shown as well. inner's methods
// are called as ever; shown prints when [Preview.Show] is called.
func NewPreview(inner pipeline.Sink, shown *Sink, rows int64) *Preview {
	return &Preview{inner: inner, shown: shown, left: rows}
}

// Show prints the rows that were collected, and returns the error of the output.
func (p *Preview) Show() error { return p.shown.Close() }

// Start implements [pipeline.Sink].
func (p *Preview) Start(ctx context.Context, schemas pipeline.Schemas) error {
	if err := p.shown.Start(ctx, pipeline.Schemas{pipeline.Rows: schemas[pipeline.Rows]}); err != nil {
		return err
	}
	return p.inner.Start(ctx, schemas)
}

// Unwrap returns the sink that everything is passed on to.
func (p *Preview) Unwrap() pipeline.Sink { return p.inner }

// Open implements [pipeline.Sink].
func (p *Preview) Open(ctx context.Context, id pipeline.LaneID) (pipeline.Writer, int64, error) {
	w, next, err := p.inner.Open(ctx, id)
	if err != nil {
		return nil, next, err
	}
	return &previewWriter{w, p}, next, nil
}

// Close implements [pipeline.Sink].
func (p *Preview) Close() error { return p.inner.Close() }

type previewWriter struct {
	pipeline.Writer
	preview *Preview
}

// Unwrap returns the writer that it writes to.
func (w *previewWriter) Unwrap() pipeline.Writer { return w.Writer }

// Write implements [pipeline.Writer].
func (w *previewWriter) Write(ctx context.Context, t pipeline.Table, r arrow.Record, span pipeline.Span) error {
	if t == pipeline.Rows {
		if err := w.preview.take(r); err != nil {
			return err
		}
	}
	return w.Writer.Write(ctx, t, r, span)
}

// take keeps the first rows of r, as far as there are too few.
func (p *Preview) take(r arrow.Record) error {
	p.mu.Lock()
	n := min(p.left, r.NumRows())
	p.left -= n
	p.mu.Unlock()
	if n == 0 {
		return nil
	}
	first := r.NewSlice(0, n)
	defer first.Release()
	return p.shown.add(first)
}
