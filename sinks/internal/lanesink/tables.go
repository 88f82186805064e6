package lanesink

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

var errSchema = errors.New("rows with another schema than the sink was started with")

// place is where the files of a table go.
type place struct {
	store store.Store
	name  string // in commit records
}

// fileTable writes one file per commit.
type fileTable struct {
	sink   *Sink
	table  pipeline.Table
	place  *place
	schema *arrow.Schema

	file store.File // nil before the first row
	enc  Encoder    // nil before the first row, and after finish
	rows int64
}

func (t *fileTable) write(ctx context.Context, r arrow.Record, lane pipeline.LaneID, first int64) error {
	if !r.Schema().Equal(t.schema) {
		return fmt.Errorf("%s: %w", t.table, errSchema)
	}
	if t.file == nil {
		if err := t.open(ctx, lane, first); err != nil {
			return err
		}
	}
	t.rows += r.NumRows()
	// The file's own error says more than what an encoder makes of it, and encoders may lose it.
	err := t.enc.Write(r)
	if t.file.Err() != nil {
		return t.file.Err()
	}
	return err
}

func (t *fileTable) open(ctx context.Context, lane pipeline.LaneID, first int64) error {
	s := t.place.store
	name := commit.FileName(lane, first, s.Run(), t.sink.seq.Add(1), t.sink.opts.Format.Ext())
	f, err := s.Begin(ctx, name)
	if err != nil {
		return err
	}
	enc, err := t.sink.opts.Format.NewEncoder(f, t.schema)
	if f.Err() != nil {
		err = f.Err()
	}
	if err != nil {
		if enc != nil {
			enc.Discard()
		}
		return errors.Join(err, f.Discard())
	}
	t.file, t.enc, t.rows = f, enc, 0
	return nil
}

func (t *fileTable) size() int64 {
	if t.enc == nil {
		return 0
	}
	return t.file.Size() + t.enc.Buffered()
}

func (t *fileTable) finish(lane pipeline.LaneID, span pipeline.Span) (*commit.File, error) {
	if t.file == nil {
		return nil, nil
	}
	err := t.enc.Finish(Provenance{Table: t.table, Lane: lane, Span: span, Rows: t.rows})
	t.enc = nil
	if t.file.Err() != nil {
		return nil, t.file.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("finishing a file of %d rows: %w", t.rows, err)
	}
	pending, err := t.file.Finish()
	if err != nil {
		return nil, err
	}
	t.file = nil
	f := commit.NewFile(t.table, t.place.name, t.rows, pending)
	return &f, nil
}

func (t *fileTable) revert() error {
	if t.enc != nil {
		t.enc.Discard()
		t.enc = nil
	}
	if t.file == nil {
		return nil
	}
	err := t.file.Discard()
	t.file = nil
	return err
}

// streamTable writes to the stream that all lanes share. What is written is out and cannot be taken back.
type streamTable struct {
	stream Stream
	schema *arrow.Schema
	sum    *written
	bytes  int64
}

func (t *streamTable) write(_ context.Context, r arrow.Record, _ pipeline.LaneID, _ int64) error {
	if !r.Schema().Equal(t.schema) {
		return fmt.Errorf("%s: %w", pipeline.Rows, errSchema)
	}
	n, err := t.stream.Write(r)
	t.bytes += n
	t.sum.bytes.Add(n)
	return err
}

func (t *streamTable) size() int64 { return t.bytes }

func (t *streamTable) finish(pipeline.LaneID, pipeline.Span) (*commit.File, error) {
	t.bytes = 0
	return nil, t.stream.Commit()
}

func (t *streamTable) revert() error { return nil }
