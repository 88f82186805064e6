package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

// tableFormat is the format of a [ReadError] about a table.
const tableFormat = "table"

// tableLane reads one file that is a table. The position of a row is its number.
type tableLane struct {
	source *Source
	tables codec.Tables
	in     input
	drain  <-chan struct{}
	codec  codec.Codec

	file    *os.File
	table   codec.Table // nil until the first Next
	at      int64       // row that is next
	counted int64       // bytes of the file that the progress has
	failure error       // of the last reading, after the rows before it
	mark    mark        // of the whole file
}

// ID implements [pipeline.Lane].
func (l *tableLane) ID() pipeline.LaneID { return l.in.id }

// Start implements [pipeline.Lane].
func (l *tableLane) Start(_ context.Context, next int64) error {
	l.at = max(next, 0)
	l.codec = l.tables.New()
	return nil
}

// Acknowledge implements [pipeline.Lane]. A file keeps no position of its own; the sink does.
func (l *tableLane) Acknowledge(context.Context, int64) error { return nil }

// Next implements [pipeline.Lane].
func (l *tableLane) Next(ctx context.Context, b *pipeline.Batch) error {
	if l.in.done {
		return io.EOF
	}
	b.Reset()
	l.codec.Prepare(b)
	b.Lane, b.First, b.Next = l.ID(), l.at, l.at
	if err := pipeline.Stopped(ctx, l.drain); err != nil {
		return err
	}
	if l.table == nil && l.failure == nil {
		if err := l.open(ctx); err != nil {
			return l.readError(err)
		}
	}
	if l.failure != nil {
		return l.readError(l.failure)
	}
	var err error
	l.at, err = l.table.Append(ctx, b, l.at)
	b.Next = l.at
	if l.in.matched {
		l.mark.ended = l.at == l.table.Rows()
		b.Of = string(l.mark.append(nil))
	}
	l.progress()
	if l.failure = err; b.Next > b.First {
		return nil
	}
	if err != nil {
		return l.readError(err)
	}
	return io.EOF
}

// open opens the file at the row that is wanted.
func (l *tableLane) open(ctx context.Context) error {
	if l.in.at != nil {
		return l.openTable(l.in.at)
	}
	if l.in.stream {
		return errors.New("a table is read from its end, which a pipe does not have before it is there; write it into a file first")
	}
	file, err := os.Open(l.in.path)
	if err != nil {
		return err
	}
	l.file = file
	info, err := l.in.confirm(ctx, file)
	if err != nil {
		return err
	}
	l.in.size = info.Size()
	if l.in.matched {
		l.mark = newMark(info, l.in.real)
		l.mark.whole, l.mark.n = true, info.Size()
		if k := l.in.lane; k != nil && k.mark != nil {
			l.mark.sum = k.mark.sum // which it has been found to have
		} else if l.mark.sum, err = hash(ctx, file, l.mark.n); err != nil {
			return err
		}
	}
	return l.openTable(file)
}

// openTable opens the table in r at the row that is wanted.
func (l *tableLane) openTable(r io.ReaderAt) error {
	table, err := l.tables.OpenTable(r, l.in.size, l.source.o.MaxRecordBytes)
	if err != nil {
		return err
	}
	l.table = table
	if l.at > table.Rows() {
		return &TooShortError{Path: l.in.path, Next: l.at, Records: table.Rows()}
	}
	return table.Skip(l.at)
}

// progress counts the bytes of the file that the rows so far stand for.
func (l *tableLane) progress() {
	here := l.in.size
	if rows := l.table.Rows(); rows > 0 {
		here = int64(float64(l.in.size) * float64(l.at) / float64(rows))
	}
	l.source.read.Add(here - l.counted)
	l.counted = here
}

// finished reports whether Next has returned the last row.
func (l *tableLane) finished() bool { return l.table != nil && l.at == l.table.Rows() }

func (l *tableLane) readError(err error) error {
	var short *TooShortError
	var changed *ChangedError
	var unresolved *codec.UnresolvedError
	if errors.As(err, &short) || errors.As(err, &changed) || errors.As(err, &unresolved) {
		return err
	}
	l.failure = err
	return &ReadError{Path: l.in.path, Format: tableFormat, Size: l.in.size, Record: l.at, Err: err}
}

// close lets go of the file. What nobody is going to read counts as read.
func (l *tableLane) close() {
	if l.table != nil {
		_ = l.table.Close()
	}
	if l.file != nil {
		_ = l.file.Close()
	}
	if c, ok := l.in.at.(io.Closer); ok {
		_ = c.Close()
	}
	l.source.read.Add(l.in.size - l.counted)
}

// tableMessage is the message of an error about a table.
func (e *ReadError) tableMessage() string {
	if e.Record == 0 {
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("%s: %v; the %d rows before were read: get the whole file and run again: row %d is next", e.Path, e.Err, e.Record, e.Record)
}
