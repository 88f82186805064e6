package tracing

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/urlmill/urlmill/pipeline"
)

// batch is a sampled batch on its way.
type batch struct {
	ctx  context.Context // with its span
	span trace.Span
}

// laneAttributes name a lane.
func laneAttributes(id pipeline.LaneID) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("urlmill.stream", id.Stream), attribute.Int("urlmill.partition", int(id.Partition)),
	}
}

// Transforms returns transforms like those of next that begin the traces of batches.
func (t *Tracer) Transforms(next func() pipeline.Transform) func() pipeline.Transform {
	if t == nil {
		return next
	}
	return func() pipeline.Transform { return &transform{next(), t} }
}

type transform struct {
	pipeline.Transform
	tracer *Tracer
}

// Unwrap returns the transform that parses.
func (x *transform) Unwrap() pipeline.Transform { return x.Transform }

// Apply implements [pipeline.Transform].
func (x *transform) Apply(b *pipeline.Batch) (pipeline.Output, error) {
	ctx, span := x.tracer.tracer.Start(context.Background(), "batch", trace.WithSpanKind(trace.SpanKindConsumer))
	if !span.IsRecording() {
		return x.Transform.Apply(b)
	}
	span.SetAttributes(laneAttributes(b.Lane)...)
	span.SetAttributes(attribute.Int64("urlmill.first", b.First), attribute.Int64("urlmill.next", b.Next),
		attribute.Int("messaging.batch.message_count", b.Len()))
	for _, link := range links(b) {
		span.AddLink(link)
	}
	_, parsing := x.tracer.tracer.Start(ctx, "parse")
	out, err := x.Transform.Apply(b)
	parsing.SetAttributes(attribute.Int64("urlmill.invalid", out.Invalid))
	fail(parsing, err)
	parsing.End()
	x.tracer.keep(place{b.Lane, b.First}, &batch{ctx, span})
	return out, err
}

// keep remembers a batch until it is written. One that nobody writes, because its lane was lost, is forgotten when there
// are too many.
func (t *Tracer) keep(at place, b *batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.pending) >= maxPending {
		clear(t.pending)
	}
	t.pending[at] = b
}

// take returns the batch that begins at a place, nil for one that is not sampled.
func (t *Tracer) take(at place) *batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.pending[at]
	delete(t.pending, at)
	return b
}

// fail notes an error, and that a span did not succeed. A row that stops the pipeline is named without its text.
func fail(span trace.Span, err error) {
	if err == nil {
		return
	}
	text := err.Error()
	if row := (*pipeline.RowError)(nil); errors.As(err, &row) {
		text = row.Code
	}
	span.SetStatus(codes.Error, text)
}

// links returns the trace contexts of the first records that have any, each once.
func links(b *pipeline.Batch) []trace.Link {
	var found []trace.Link
	for row := 0; row < len(b.Headers.Ends) && row < maxLinks; row++ {
		ctx := propagation.TraceContext{}.Extract(context.Background(), &headers{b, row})
		sc := trace.SpanContextFromContext(ctx)
		known := slices.ContainsFunc(found, func(l trace.Link) bool {
			return l.SpanContext.TraceID() == sc.TraceID() && l.SpanContext.SpanID() == sc.SpanID()
		})
		if sc.IsValid() && !known {
			found = append(found, trace.Link{SpanContext: sc})
		}
	}
	return found
}

// headers are those of a record, for reading alone.
type headers struct {
	b   *pipeline.Batch
	row int
}

// Get implements [propagation.TextMapCarrier]. Of several headers of a name, the last one counts, as in Kafka's clients.
func (h *headers) Get(name string) string {
	start := int32(0)
	if h.row > 0 {
		start = h.b.Headers.Ends[h.row-1]
	}
	for e := h.b.Headers.Ends[h.row] - 1; e >= start; e-- {
		if string(h.b.Headers.Keys.At(int(e))) == name && h.b.Headers.Values.Valid[e] {
			return string(h.b.Headers.Values.At(int(e)))
		}
	}
	return ""
}

// Set implements [propagation.TextMapCarrier] and does nothing.
func (h *headers) Set(string, string) {}

// Keys implements [propagation.TextMapCarrier]; nobody who extracts asks for them.
func (h *headers) Keys() []string { return nil }

// Sink returns a sink like next that ends the traces of batches, and has commits in them.
func (t *Tracer) Sink(next pipeline.Sink) pipeline.Sink {
	if t == nil {
		return next
	}
	return &sink{next, t}
}

type sink struct {
	pipeline.Sink
	tracer *Tracer
}

// Unwrap returns the sink that it writes to.
func (s *sink) Unwrap() pipeline.Sink { return s.Sink }

// Open implements [pipeline.Sink].
func (s *sink) Open(ctx context.Context, id pipeline.LaneID) (pipeline.Writer, int64, error) {
	w, next, err := s.Sink.Open(ctx, id)
	if err != nil {
		return w, next, err
	}
	return &writer{Writer: w, lane: id, tracer: s.tracer}, next, nil
}

// writer is a writer that ends the traces of batches.
type writer struct {
	pipeline.Writer
	lane    pipeline.LaneID
	tracer  *Tracer
	current *batch     // whose dead letters were written, and whose rows follow
	writing trace.Span // of current
	written []*batch   // since the last commit
}

// Unwrap returns the writer that it writes to.
func (w *writer) Unwrap() pipeline.Writer { return w.Writer }

// Write implements [pipeline.Writer].
func (w *writer) Write(ctx context.Context, t pipeline.Table, r arrow.Record, span pipeline.Span) error {
	if w.current == nil {
		if w.current = w.tracer.take(place{w.lane, span.First}); w.current != nil {
			_, w.writing = w.tracer.tracer.Start(w.current.ctx, "write")
		}
	}
	err := w.Writer.Write(ctx, t, r, span)
	b := w.current
	if b == nil || err == nil && t == pipeline.DeadLetters {
		return err
	}
	fail(w.writing, err)
	fail(b.span, err)
	w.writing.End()
	b.span.End()
	if w.current = nil; len(w.written) < maxBatches {
		w.written = append(w.written, b)
	}
	return err
}

// Commit implements [pipeline.Writer]. Its span is in the trace of the first batch.
func (w *writer) Commit(ctx context.Context) (next int64, err error) {
	if len(w.written) == 0 {
		return w.Writer.Commit(ctx)
	}
	size := w.Size()
	_, span := w.tracer.tracer.Start(w.written[0].ctx, "commit", trace.WithAttributes(laneAttributes(w.lane)...))
	for _, b := range w.written[1:] {
		span.AddLink(trace.Link{SpanContext: b.span.SpanContext()})
	}
	next, err = w.Writer.Commit(ctx)
	span.SetAttributes(attribute.Int64("urlmill.rows", size.Rows), attribute.Int64("urlmill.bytes", size.Bytes),
		attribute.Int64("urlmill.next", next))
	fail(span, err)
	span.End()
	clear(w.written)
	w.written = w.written[:0]
	return next, err
}
