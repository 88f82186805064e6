package itest

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
)

// copyOf copies a record into memory of its own.
func copyOf(r arrow.Record) arrow.Record {
	cols := make([]arrow.Array, r.NumCols())
	for i, c := range r.Columns() {
		copied, err := array.Concatenate([]arrow.Array{c}, memory.NewGoAllocator())
		if err != nil {
			panic(err)
		}
		cols[i] = copied
	}
	return array.NewRecord(r.Schema(), cols, r.NumRows())
}

// overwriting overwrites the memory of records as soon as a sink has taken them, as the owners of records do.
type overwriting struct{ pipeline.Sink }

func (s overwriting) Open(ctx context.Context, id pipeline.LaneID) (pipeline.Writer, int64, error) {
	w, next, err := s.Sink.Open(ctx, id)
	return overwritingWriter{w}, next, err
}

type overwritingWriter struct{ pipeline.Writer }

func (w overwritingWriter) Write(ctx context.Context, t pipeline.Table, r arrow.Record, span pipeline.Span) error {
	err := w.Writer.Write(ctx, t, r, span)
	for _, c := range r.Columns() {
		overwrite(c.Data())
	}
	return err
}

func overwrite(d arrow.ArrayData) {
	buffers := d.Buffers()
	for _, b := range buffers[len(buffers)-1:] {
		if b != nil && len(d.Children()) == 0 {
			for i := range b.Bytes() {
				b.Bytes()[i] = 'z'
			}
		}
	}
	for _, c := range d.Children() {
		overwrite(c)
	}
}
