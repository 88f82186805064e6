package filesink

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/internal/partition"
	"github.com/urlmill/urlmill/sinks/store"
)

var errSchema = errors.New("rows with another schema than the sink was started with")

// place is where the files of a table go.
type place struct {
	store store.Store
	name  string // in commit records
}

// fileTable writes the files of a table of one lane: one for each commit, or one for each partition and commit, and more of
// them where memory is short or a file has become large enough. It is used within enter and leave of the lane's writer; the
// counts that lanes share (open and done of the sink) are atomic.
type fileTable struct {
	sink        *Sink
	table       pipeline.Table
	place       *place
	schema      *arrow.Schema
	lane        pipeline.LaneID
	partitioned bool
	watermark   partition.Watermark

	span      pipeline.Span        // of the last write
	open      map[string]*openFile // by directory below the place
	held      int64                // memory of the open files
	allowed   int64                // what that may grow to in one write
	uses      uint64               // files written to so far: a clock for openFile.used
	done      []commit.File        // complete, and part of the next commit
	doneBytes int64
}

// room returns what a write may grow by beside its rows: their partitions may all be new.
func (t *fileTable) room() int64 {
	if t.partitioned {
		return t.sink.opts.Memory.Limit() / 8
	}
	return 0
}

func (t *fileTable) allow(n int64) { t.allowed = t.held + n }

func (t *fileTable) write(ctx context.Context, r arrow.Record, span pipeline.Span) error {
	if !r.Schema().Equal(t.schema) {
		return fmt.Errorf("%s: %w", t.table, errSchema)
	}
	t.span = span
	if !t.partitioned {
		return t.add(ctx, "", r)
	}
	s := t.sink.splitters.Get().(*partition.Splitter)
	defer t.sink.splitters.Put(s)
	var err error
	for _, part := range t.split(s, r) { // to the end also after an error, since all parts have to be released
		if err == nil {
			err = t.add(ctx, part.Dir, part.Rows)
		}
		part.Rows.Release()
	}
	return err
}

// add adds rows to the file of a directory.
func (t *fileTable) add(ctx context.Context, dir string, r arrow.Record) error {
	f := t.open[dir]
	if f == nil {
		if err := t.makeRoom(); err != nil {
			return err
		}
		var err error
		if f, err = t.begin(ctx, dir); err != nil {
			return err
		}
		t.open[dir] = f
	}
	t.uses++
	f.used = t.uses
	f.rows += r.NumRows()
	err := f.enc.Write(r)
	t.account(f)
	if f.file.Err() != nil {
		return f.file.Err()
	}
	if err == nil && t.partitioned && t.sink.opts.FileBytes > 0 && f.file.Size()+f.enc.Buffered() >= t.sink.opts.FileBytes {
		err = t.end(f)
	}
	return err
}

// makeRoom ends files that were written to least recently when there are as many open as may be, or as memory allows. A table
// may always have one file, so that lanes never wait for each other here: with more lanes than MaxOpen there are more files.
func (t *fileTable) makeRoom() error {
	if t.held >= t.allowed && len(t.open) > 0 {
		if err := t.shrink(); err != nil {
			return err
		}
	}
	if t.sink.open.Load() < int64(t.sink.opts.MaxOpen) || len(t.open) == 0 {
		return nil
	}
	var oldest *openFile
	for _, f := range t.open {
		if oldest == nil || f.used < oldest.used {
			oldest = f
		}
	}
	return t.end(oldest)
}

func (t *fileTable) size() int64 {
	n := t.doneBytes
	for _, f := range t.open {
		n += f.file.Size() + f.enc.Buffered()
	}
	return n
}

func (t *fileTable) memory() int64 { return t.held }

func (t *fileTable) finish(span pipeline.Span) ([]commit.File, error) {
	t.span.Next = span.Next
	files := t.files(byUse)
	if len(files) < fewFiles {
		for _, f := range files {
			if err := t.end(f); err != nil {
				return t.take(), err
			}
		}
		return t.take(), nil
	}
	return t.finishMany(files)
}

func (t *fileTable) revert() ([]commit.File, error) {
	var errs []error
	for _, f := range t.open {
		errs = append(errs, t.drop(f))
	}
	return t.take(), errors.Join(errs...)
}

// streamTable writes to the stream that all lanes share. What is written is out and cannot be taken back.
type streamTable struct {
	stream Stream
	table  pipeline.Table
	schema *arrow.Schema
	sum    *written
	bytes  int64
}

func (t *streamTable) room() int64 { return 0 }

func (t *streamTable) allow(int64) {}

func (t *streamTable) write(ctx context.Context, r arrow.Record, _ pipeline.Span) error {
	if !r.Schema().Equal(t.schema) {
		return fmt.Errorf("%s: %w", t.table, errSchema)
	}
	n, err := t.stream.Write(ctx, r)
	t.bytes += n
	t.sum.bytes.Add(n)
	return err
}

func (t *streamTable) size() int64 { return t.bytes }

func (t *streamTable) memory() int64 { return 0 }

func (t *streamTable) full() bool { return false }

func (t *streamTable) shrink() error { return nil }

func (t *streamTable) finish(pipeline.Span) ([]commit.File, error) {
	t.bytes = 0
	return nil, t.stream.Commit()
}

func (t *streamTable) revert() ([]commit.File, error) { return nil, nil }
