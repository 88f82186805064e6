package arrowipc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/urlmill/urlmill/sinks/internal/filesink"
	"github.com/urlmill/urlmill/sinks/internal/outstream"
)

// described returns the schema with urlmill's version in its metadata, which is the only place for any: it is
// written before the rows, when their positions are not known yet.
func described(s *arrow.Schema, version string) *arrow.Schema {
	md := s.Metadata()
	md = arrow.NewMetadata(
		slices.Concat(md.Keys(), []string{"urlmill.version"}),
		slices.Concat(md.Values(), []string{version}))
	return arrow.NewSchema(s.Fields(), &md)
}

// options returns the options of a writer. Buffers are compressed by the writing goroutine: arrow v15 does not
// return when one of several compressing goroutines fails (arrow-go#1142).
func (o *Options) options(s *arrow.Schema) []ipc.Option {
	opts := []ipc.Option{ipc.WithSchema(s), ipc.WithAllocator(o.mem)}
	if codec := codecs[o.Compression]; codec != nil {
		opts = append(opts, codec)
	}
	return opts
}

// check refuses types that cannot be in every record batch of a file.
func check(s *arrow.Schema) error {
	for _, f := range s.Fields() {
		if f.Type.ID() == arrow.DICTIONARY || f.Type.ID() == arrow.EXTENSION {
			return fmt.Errorf("column %s: the type %s is not supported; leave the column out", f.Name, f.Type)
		}
	}
	return nil
}

// format implements [filesink.Format].
type format struct{ opts *Options }

func (format) Ext() string { return "arrow" }

func (format) Check(s *arrow.Schema) error { return check(s) }

func (f format) NewEncoder(w io.Writer, s *arrow.Schema) (filesink.Encoder, error) {
	e := &encoder{schema: described(s, f.opts.Version)}
	fw, err := ipc.NewFileWriter(Forward(w), f.opts.options(e.schema)...)
	if err != nil {
		return nil, err
	}
	e.fw = fw
	return e, nil
}

// encoder writes every record as a record batch at once.
type encoder struct {
	schema *arrow.Schema
	fw     *ipc.FileWriter
}

func (e *encoder) Write(r arrow.Record) (err error) {
	defer recovered(&err)
	// The same columns under the schema with the metadata.
	rec := array.NewRecord(e.schema, r.Columns(), r.NumRows())
	defer rec.Release()
	return e.fw.Write(rec)
}

func (e *encoder) Buffered() int64 { return 0 }

// Memory implements [filesink.Encoder]. A record batch is written with the call that brings it; what is kept is its
// place, for the footer.
func (e *encoder) Memory() int64 { return 0 }

func (e *encoder) Flush() error { return nil }

func (e *encoder) Finish(filesink.Provenance) (err error) {
	defer recovered(&err)
	return e.fw.Close()
}

func (e *encoder) Discard() {}

// recovered turns a panic of arrow's encoders into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("encoding Arrow IPC: %v", p)
	}
}

// Forward returns w as [ipc.NewFileWriter] wants it. A file is written from its start to its end, also into a pipe: all that
// arrow seeks for is how many bytes there were, and any other Seek is an error.
func Forward(w io.Writer) io.WriteSeeker { return &position{w: w} }

// position counts the bytes.
type position struct {
	w io.Writer
	n int64
}

func (p *position) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.n += int64(n)
	return n, err
}

func (p *position) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errors.ErrUnsupported
	}
	return p.n, nil
}

// stream implements [filesink.Stream].
type stream struct {
	opts *Options

	mu     sync.Mutex
	out    *outstream.Writer
	schema *arrow.Schema
	dict   *dictionaries
	w      *ipc.Writer
}

func newStream(o *Options) *stream { return &stream{opts: o, out: outstream.New(o.Stdout)} }

func (s *stream) Start(_ context.Context, schema *arrow.Schema) error {
	if err := check(schema); err != nil {
		return err
	}
	if err := checkDictionaries(s.opts.Dictionaries, schema); err != nil {
		return err
	}
	s.schema = described(schema, s.opts.Version)
	s.dict = newDictionaries(s.schema, s.opts.Dictionaries, s.opts.mem)
	s.w = ipc.NewWriter(s.out, append(s.opts.options(s.dict.schema), ipc.WithDictionaryDeltas(true))...)
	return nil
}

func (s *stream) Write(_ context.Context, r arrow.Record) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec, err := s.dict.of(r)
	if err != nil {
		return 0, err
	}
	defer rec.Release()
	before := s.out.Size()
	err = s.w.Write(rec)
	if err == nil {
		err = s.out.EndBatch()
	}
	if s.out.Err() != nil {
		err = s.out.Err()
	}
	return s.out.Size() - before, err
}

func (s *stream) Commit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Commit()
}

// Close writes the schema, if no rows did, and the end of the stream. An error that lanes have had is not
// repeated.
func (s *stream) Close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return nil
	}
	s.dict.release()
	if s.out.Err() != nil {
		return nil
	}
	defer recovered(&err)
	err = s.w.Close()
	if s.out.Err() != nil {
		return s.out.Err()
	}
	return errors.Join(err, s.out.Commit())
}
