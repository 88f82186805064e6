package parquet

import (
	"io"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/sinks/parquet/encode"
)

// File writes a single file, for programs that have no lanes. It is used by one goroutine at a time.
type File struct {
	opts   *Options
	schema *arrow.Schema
	w      rowWriter
}

// NewFile begins a file. Of the options, those that say how files are written count. Closing w is the caller's.
func NewFile(w io.Writer, s *arrow.Schema, o Options) (*File, error) {
	o.Path = "-" // not used
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	f := &File{opts: &o, schema: s}
	var err error
	if f.w, err = newWriter(s, &o); err != nil {
		return nil, err
	}
	return f, f.w.Reset(w)
}

// Reset begins another file with the same options and the memory of the one before.
func (f *File) Reset(w io.Writer) error { return f.w.Reset(w) }

// Write adds rows. r is the caller's again when it returns.
func (f *File) Write(r arrow.Record) error { return f.w.Write(r) }

// Close writes what is left, with more key-value metadata.
func (f *File) Close(kvs ...encode.KeyValue) error {
	all, err := describe(f.schema, f.opts)
	if err != nil {
		return err
	}
	return f.w.Close(append(all, kvs...))
}
