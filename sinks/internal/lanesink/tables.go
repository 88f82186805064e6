package lanesink

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/outfile"
)

var errSchema = errors.New("rows with another schema than the sink was started with")

// fileTable writes one file per commit.
type fileTable struct {
	table  pipeline.Table
	dir    *outfile.Dir
	format Format
	schema *arrow.Schema
	sum    *written

	file *outfile.File // nil before the first row
	enc  Encoder       // nil before the first row, and after finish
	rows int64
}

func (t *fileTable) write(r arrow.Record) error {
	if !r.Schema().Equal(t.schema) {
		return fmt.Errorf("%s: %w", t.table, errSchema)
	}
	if t.file == nil {
		if err := t.open(); err != nil {
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

func (t *fileTable) open() error {
	f, err := t.dir.Create()
	if err != nil {
		return err
	}
	enc, err := t.format.NewEncoder(f, t.schema)
	if f.Err() != nil {
		err = f.Err()
	}
	if err != nil {
		if enc != nil {
			enc.Discard()
		}
		return errors.Join(err, f.Remove())
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

func (t *fileTable) finish(lane pipeline.LaneID, span pipeline.Span) error {
	if t.file == nil {
		return nil
	}
	err := t.enc.Finish(Provenance{Table: t.table, Lane: lane, Span: span, Rows: t.rows})
	t.enc = nil
	if t.file.Err() != nil {
		return t.file.Err()
	}
	if err != nil {
		return fmt.Errorf("finishing a file of %d rows: %w", t.rows, err)
	}
	return t.file.Finish()
}

func (t *fileTable) publish(lane pipeline.LaneID, span pipeline.Span) error {
	if t.file == nil {
		return nil
	}
	name := fileName(lane, span, t.dir.Run(), t.file.Seq(), t.format.Ext())
	if err := t.file.Publish(name); err != nil {
		return err
	}
	return t.dir.Sync()
}

func (t *fileTable) committed() {
	if t.file != nil {
		t.sum.files.Add(1)
		t.sum.bytes.Add(t.file.Size())
		t.file = nil
	}
}

func (t *fileTable) revert() error {
	if t.enc != nil {
		t.enc.Discard()
		t.enc = nil
	}
	if t.file == nil {
		return nil
	}
	err := t.file.Remove()
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

func (t *streamTable) write(r arrow.Record) error {
	if !r.Schema().Equal(t.schema) {
		return fmt.Errorf("%s: %w", pipeline.Rows, errSchema)
	}
	n, err := t.stream.Write(r)
	t.bytes += n
	t.sum.bytes.Add(n)
	return err
}

func (t *streamTable) size() int64 { return t.bytes }

func (t *streamTable) finish(pipeline.LaneID, pipeline.Span) error { return t.stream.Commit() }

func (t *streamTable) publish(pipeline.LaneID, pipeline.Span) error { return nil }

func (t *streamTable) committed() { t.bytes = 0 }

func (t *streamTable) revert() error { return nil }
