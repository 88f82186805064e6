// Package ndjson is the sink that writes a JSON object a line: into files, named and committed like those of the
// Parquet sink, or to standard output.
//
// Every column is in every object, in the order of the schema, null included. Timestamps are RFC 3339 in UTC with
// as many digits as their unit has, dates are YYYY-MM-DD, binary values are base64 (RFC 4648, with padding),
// lists are arrays, structs are objects, maps are arrays of {"key","value"}. Numbers are in decimal with all their
// digits, also where a 64-bit integer is beyond what a JavaScript number holds; NaN and infinities, which JSON
// does not have, are null.
package ndjson

import (
	"context"
	"io"
	"log/slog"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/filesink"
	"github.com/urlmill/urlmill/sinks/internal/outstream"
)

// Files are the options that all sinks have that write files.
type Files = filesink.Files

// Options says where to write.
type Options struct {
	Files
	// Path is the output directory. Its parent has to be there.
	Path string
	// Stdout, if not nil, takes the rows instead. The sink does not close it.
	Stdout io.Writer
	// ToStdout has With set Stdout.
	ToStdout bool
}

// Validate returns every problem, joined, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	shared := o.shared(nil)
	return shared.Validate()
}

func (o *Options) shared(log *slog.Logger) filesink.Options {
	s := filesink.Options{
		Path: o.Path, Files: o.Files, Format: format{}, Log: log,
	}
	if o.Stdout != nil {
		s.Stream = &stream{out: outstream.New(o.Stdout)}
	}
	return s
}

// New returns the sink.
func New(opts Options, log *slog.Logger) (pipeline.Sink, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	return filesink.New(opts.shared(log)), nil
}

// flushAt is the size at which an encoder hands its lines on.
const flushAt = 256 << 10

// format implements [filesink.Format].
type format struct{}

func (format) Ext() string { return "ndjson" }

func (format) Check(s *arrow.Schema) error { return check(s) }

func (format) NewEncoder(w io.Writer, s *arrow.Schema) (filesink.Encoder, error) {
	return &encoder{w: w, names: namesOf(s)}, nil
}

// encoder writes one file.
type encoder struct {
	w     io.Writer
	names []key
	line  []byte
}

func (e *encoder) Write(r arrow.Record) error {
	cols := columnsOf(r)
	for i := range int(r.NumRows()) {
		e.line = appendRow(e.line, e.names, cols, i)
		if len(e.line) >= flushAt {
			if err := e.flush(); err != nil {
				return err
			}
		}
	}
	return e.flush()
}

// Flush implements [filesink.Encoder].
func (e *encoder) Flush() error {
	err := e.flush()
	e.line = nil
	return err
}

func (e *encoder) flush() error {
	_, err := e.w.Write(e.line)
	e.line = e.line[:0]
	return err
}

func (e *encoder) Buffered() int64                  { return 0 }
func (e *encoder) Memory() int64                    { return int64(cap(e.line)) }
func (e *encoder) Finish(filesink.Provenance) error { return nil }
func (e *encoder) Discard()                         {}

// stream implements [filesink.Stream]. Lanes make their lines side by side and take turns to write them.
type stream struct {
	names []key
	lines sync.Pool // of *[]byte

	mu  sync.Mutex
	out *outstream.Writer
}

// maxPooled is the largest buffer that is kept: one huge row must not pin its memory.
const maxPooled = 4 * flushAt

func (s *stream) Start(_ context.Context, schema *arrow.Schema) error {
	s.names = namesOf(schema)
	return check(schema)
}

func (s *stream) Write(_ context.Context, r arrow.Record) (int64, error) {
	buf, ok := s.lines.Get().(*[]byte)
	if !ok {
		buf = new([]byte)
	}
	defer func() {
		if cap(*buf) <= maxPooled {
			s.lines.Put(buf)
		}
	}()
	cols, rows, n := columnsOf(r), int(r.NumRows()), int64(0)
	for i := 0; i < rows; {
		line := (*buf)[:0]
		for ; i < rows && len(line) < flushAt; i++ {
			line = appendRow(line, s.names, cols, i)
		}
		*buf = line
		n += int64(len(line))
		if err := s.write(line, i == rows); err != nil {
			return n, err
		}
	}
	return n, nil
}

// write writes whole lines.
func (s *stream) write(lines []byte, last bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.out.Write(lines); err != nil {
		return err
	}
	if last {
		return s.out.EndBatch()
	}
	return nil
}

func (s *stream) Commit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Commit()
}

// Close writes what is left. An error that lanes have had is not repeated.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out.Err() != nil {
		return nil
	}
	return s.out.Commit()
}
