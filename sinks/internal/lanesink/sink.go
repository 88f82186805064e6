package lanesink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/outfile"
)

// Options are those that the file sinks share.
type Options struct {
	// Path is the directory of the files with rows; unused with Stream.
	Path string
	// DeadLetters is the directory of the files with dead letters. It may be empty when there are none.
	DeadLetters string
	// Stream takes the rows instead of files. Dead letters are in files all the same.
	Stream Stream
	Format Format
	Log    *slog.Logger
	Ops    outfile.Ops
}

// Validate checks the options that a user gives. Every problem is a line that starts with the field's name.
func (o *Options) Validate() error {
	var problems []error
	if o.Stream == nil && o.Path == "" {
		problems = append(problems, Problem("Path", "missing; give the directory for the output files"))
	}
	if o.Stream != nil && o.Path != "" {
		problems = append(problems, Problem("Path", "cannot be given together with standard output; remove one"))
	}
	if o.Path != "" && o.DeadLetters != "" && filepath.Clean(o.Path) == filepath.Clean(o.DeadLetters) {
		problems = append(problems, Problem("DeadLetters", "is the same directory as that of the rows; "+
			"give another, as the two kinds of files have different columns"))
	}
	return errors.Join(problems...)
}

// Problem is what is wrong with an option. Its text starts with the field's name, by which a configuration file
// finds the place.
func Problem(field, format string, args ...any) error {
	return fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...))
}

// Sink implements [pipeline.Sink]. It keeps no positions.
type Sink struct {
	opts    Options
	schemas pipeline.Schemas
	dirs    [pipeline.NumTables]*outfile.Dir // nil for a table without files
	written written
}

// written counts what has been committed.
type written struct{ files, bytes atomic.Int64 }

// New returns a sink. The options have been validated.
func New(opts Options) *Sink { return &Sink{opts: opts} }

// Start implements [pipeline.Sink].
func (s *Sink) Start(_ context.Context, schemas pipeline.Schemas) error {
	s.schemas = schemas
	if schemas[pipeline.DeadLetters] != nil && s.opts.DeadLetters == "" {
		return errors.New("the error policy is dead_letter, but there is no place for dead letters: " +
			"set dead_letters of this sink to a directory, or choose another on_error")
	}
	for t, schema := range schemas {
		if schema == nil || s.streams(pipeline.Table(t)) {
			continue
		}
		if err := s.opts.Format.Check(schema); err != nil {
			return fmt.Errorf("%s: %w", pipeline.Table(t), err)
		}
		dir, err := outfile.Open([...]string{s.opts.Path, s.opts.DeadLetters}[t], s.opts.Log, s.opts.Ops)
		if err != nil {
			return errors.Join(err, s.closeDirs())
		}
		s.dirs[t] = dir
	}
	if s.opts.Stream == nil {
		return nil
	}
	if err := s.opts.Stream.Start(schemas[pipeline.Rows]); err != nil {
		return errors.Join(err, s.closeDirs())
	}
	return nil
}

// streams tells whether the rows of t go to the stream.
func (s *Sink) streams(t pipeline.Table) bool { return t == pipeline.Rows && s.opts.Stream != nil }

// Open implements [pipeline.Sink].
func (s *Sink) Open(_ context.Context, id pipeline.LaneID) (pipeline.Writer, int64, error) {
	w := &writer{lane: id, next: pipeline.Unknown}
	for t := range w.tables {
		if table := pipeline.Table(t); s.streams(table) {
			w.tables[t] = &streamTable{stream: s.opts.Stream, schema: s.schemas[t], sum: &s.written}
		} else if s.schemas[t] != nil {
			w.tables[t] = &fileTable{
				table: table, dir: s.dirs[t], format: s.opts.Format, schema: s.schemas[t], sum: &s.written,
			}
		}
	}
	return w, pipeline.Unknown, nil
}

// Written returns the number of files published so far, with rows or dead letters, and the bytes in them and in
// the stream. It may be called at any time.
func (s *Sink) Written() (files, bytes int64) {
	return s.written.files.Load(), s.written.bytes.Load()
}

// Close implements [pipeline.Sink].
func (s *Sink) Close() error {
	var err error
	if s.opts.Stream != nil {
		err = s.opts.Stream.Close()
	}
	return errors.Join(err, s.closeDirs())
}

func (s *Sink) closeDirs() error {
	var errs []error
	for t, d := range s.dirs {
		if d != nil {
			errs = append(errs, d.Close())
			s.dirs[t] = nil
		}
	}
	return errors.Join(errs...)
}
