package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/cdxj"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/arrowipc"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/ndjson"
	"github.com/urlmill/urlmill/sinks/parquet"
)

// Target says where a table goes.
type Target struct {
	// Path is a file, which is replaced in one step when it is complete.
	Path   string
	Format Format
	// Compression is one of the sink's; empty for its default.
	Compression string
	// Version is urlmill's, for the metadata.
	Version string
	Log     *slog.Logger
	// Put makes an object of a file on this machine, where Path is one; nil: it is a file on this machine.
	Put func(ctx context.Context, name, from string) error
}

// CheckOptions returns what is wrong with the options of the target.
func (t Target) CheckOptions() error {
	_, err := t.sink("folder")
	return err
}

// sink returns the sink that writes into a folder.
func (t Target) sink(folder string) (pipeline.Sink, error) {
	switch t.Format {
	case Parquet:
		return parquet.New(parquet.Options{
			Files: parquet.Files{Delivery: commit.AtLeastOnce}, Path: folder, Compression: t.Compression, Version: t.Version,
		}, t.Log)
	case Arrow:
		return arrowipc.New(arrowipc.Options{
			Files: arrowipc.Files{Delivery: commit.AtLeastOnce}, Path: folder, Compression: t.Compression, Version: t.Version,
		}, t.Log)
	case NDJSON, ArrowStream, CDXJ:
		return nil, fmt.Errorf("%s is written as a stream", t.Format)
	}
	return nil, fmt.Errorf("no table is written as %q", t.Format)
}

// StreamTo returns the sink that writes a format without a footer to w, which it does not close.
func StreamTo(w io.Writer, t Target) (pipeline.Sink, error) {
	switch t.Format {
	case NDJSON:
		return ndjson.New(ndjson.Options{Stdout: w}, t.Log)
	case CDXJ:
		return cdxj.New(w), nil
	case ArrowStream:
		return arrowipc.New(arrowipc.Options{Stdout: w, Compression: t.Compression, Version: t.Version}, t.Log)
	}
	return nil, fmt.Errorf("%s has its table of contents at the end and is written to files only", t.Format)
}

// Write writes all rows of r to a file, which appears when it is complete and durable, and returns their number.
func Write(ctx context.Context, t Target, r Reader) (rows int64, err error) {
	beside := "" // that of temporary files
	if t.Put == nil {
		beside = filepath.Dir(t.Path)
	}
	folder, err := os.MkdirTemp(beside, ".urlmill-convert-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	var made string
	if t.Format == NDJSON || t.Format == ArrowStream || t.Format == CDXJ {
		made = filepath.Join(folder, "out")
		rows, err = writeStream(ctx, t, made, r)
	} else {
		rows, made, err = writeFile(ctx, t, filepath.Join(folder, "out"), r)
	}
	if err != nil {
		return rows, err
	}
	if t.Put != nil {
		return rows, t.Put(ctx, t.Path, made)
	}
	if err := os.Rename(made, t.Path); err != nil {
		return rows, err
	}
	return rows, syncFolder(filepath.Dir(t.Path))
}

func writeStream(ctx context.Context, t Target, path string, r Reader) (rows int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sink, err := StreamTo(f, t)
	if err != nil {
		return 0, err
	}
	if rows, err = Copy(ctx, sink, r, -1); err != nil {
		return rows, err
	}
	return rows, f.Sync()
}

// writeFile has a sink write one file into a folder of its own.
func writeFile(ctx context.Context, t Target, folder string, r Reader) (rows int64, path string, err error) {
	sink, err := t.sink(folder)
	if err != nil {
		return 0, "", err
	}
	if rows, err = Copy(ctx, sink, r, -1); err != nil {
		return rows, "", err
	}
	if rows == 0 { // the sinks make no files then
		path = filepath.Join(folder, "empty")
		return 0, path, writeEmpty(t, path, newUnpacker(r.Schema()).schema)
	}
	names, err := fs.Glob(os.DirFS(folder), "*."+string(t.Format)) // what the folder is called is no pattern
	if err == nil && len(names) != 1 {
		err = fmt.Errorf("%d files were written instead of one", len(names))
	}
	if err != nil {
		return rows, "", err
	}
	return rows, filepath.Join(folder, names[0]), nil
}

// writeEmpty writes a file without rows.
func writeEmpty(t Target, path string, s *arrow.Schema) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if t.Format == Parquet {
		err = parquet.WriteEmpty(f, s, parquet.Options{Compression: t.Compression, Version: t.Version})
	} else {
		var w *ipc.FileWriter
		if w, err = ipc.NewFileWriter(f, ipc.WithSchema(s)); err == nil {
			err = w.Close()
		}
	}
	return errors.Join(err, f.Sync(), f.Close())
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// laneOf is what the sinks take a table for.
func laneOf(r Reader) pipeline.LaneID {
	if n, ok := r.(*reader); ok {
		return pipeline.LaneID{Stream: filepath.Base(n.name)}
	}
	return pipeline.LaneID{Stream: "convert"}
}

// Copy writes rows of r to a sink, at most limit of them, all if it is negative, and returns their number. It starts
// and closes the sink.
func Copy(ctx context.Context, sink pipeline.Sink, r Reader, limit int64) (rows int64, err error) {
	u := newUnpacker(r.Schema())
	if err := sink.Start(ctx, pipeline.Schemas{pipeline.Rows: u.schema}); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, sink.Close()) }()
	w, _, err := sink.Open(ctx, laneOf(r))
	if err != nil {
		return 0, err
	}
	if rows, err = u.copy(ctx, w, r, limit); err != nil {
		return rows, errors.Join(err, w.Abandon())
	}
	_, err = w.Commit(ctx)
	return rows, err
}

// unpacker replaces dictionaries by their values, which is what the sinks take.
type unpacker struct {
	schema *arrow.Schema
	packed bool
}

func newUnpacker(s *arrow.Schema) unpacker {
	u := unpacker{schema: s}
	fields := s.Fields()
	for i, f := range fields {
		if d, ok := f.Type.(*arrow.DictionaryType); ok {
			fields[i].Type, u.packed = d.ValueType, true
		}
	}
	if u.packed {
		md := s.Metadata()
		u.schema = arrow.NewSchema(fields, &md)
	}
	return u
}

func (u unpacker) copy(ctx context.Context, w pipeline.Writer, r Reader, limit int64) (rows int64, err error) {
	for limit < 0 || rows < limit {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return rows, err
		}
		n := rec.NumRows()
		if limit >= 0 {
			n = min(n, limit-rows)
		}
		part := rec.NewSlice(0, n)
		err = u.write(ctx, w, part, pipeline.Span{First: rows, Next: rows + n})
		part.Release()
		if err != nil {
			return rows, err
		}
		rows += n
	}
	return rows, nil
}

func (u unpacker) write(ctx context.Context, w pipeline.Writer, r arrow.Record, span pipeline.Span) error {
	columns := make([]arrow.Array, r.NumCols())
	for i := range columns {
		columns[i] = r.Column(i)
		if d, ok := r.Column(i).(*array.Dictionary); ok {
			values, err := unpack(d)
			if err != nil {
				return fmt.Errorf("column %s: %w", r.ColumnName(i), err)
			}
			defer values.Release()
			columns[i] = values
		}
	}
	rec := array.NewRecord(u.schema, columns, r.NumRows())
	defer rec.Release()
	return w.Write(ctx, pipeline.Rows, rec, span)
}

// unpack returns the values of a dictionary's indices. (Package compute of arrow does it, too, and makes the program a tenth
// larger.)
func unpack(d *array.Dictionary) (arrow.Array, error) {
	values := d.Dictionary()
	null := array.MakeArrayOfNull(memory.DefaultAllocator, values.DataType(), 1)
	defer null.Release()
	single := make([]arrow.Array, values.Len())
	for i := range single {
		single[i] = array.NewSlice(values, int64(i), int64(i)+1)
		defer single[i].Release()
	}
	out := make([]arrow.Array, d.Len())
	for i := range out {
		if out[i] = null; d.IsNull(i) {
			continue
		}
		at := d.GetValueIndex(i)
		if at < 0 || at >= len(single) {
			return nil, fmt.Errorf("row %d has value %d of a dictionary of %d", i, at, len(single))
		}
		out[i] = single[at]
	}
	if len(out) == 0 {
		return array.NewSlice(values, 0, 0), nil
	}
	return array.Concatenate(out, memory.DefaultAllocator)
}
