// Package arrowipc is the sink that writes Arrow IPC: files in a directory, named and committed like those of
// the Parquet sink, or one stream for all lanes to standard output.
package arrowipc

import (
	"cmp"
	"errors"
	"io"
	"log/slog"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/filesink"
)

// Files are the options that all sinks have that write files.
type Files = filesink.Files

// Options says where and how to write. Zero values stand for the defaults.
type Options struct {
	Files
	// Path is the output directory. Its parent has to be there.
	Path string
	// Stdout, if not nil, takes the rows as one Arrow stream instead. The sink does not close it.
	Stdout io.Writer
	// ToStdout has With set Stdout.
	ToStdout bool
	// Compression is one of none, lz4 and zstd. Default none: readers then map files into memory and use
	// them as they are.
	Compression string
	// Dictionaries are columns of text whose values the stream has once, and rows refer to. Only with Stdout.
	Dictionaries []string
	// Version is urlmill's version, for the metadata of the schema. Default "devel".
	Version string

	mem memory.Allocator
}

const defaultCompression = "none"

// codecs are the supported compressions.
var codecs = map[string]ipc.Option{"none": nil, "lz4": ipc.WithLZ4(), "zstd": ipc.WithZstd()}

func (o Options) withDefaults() Options {
	o.Compression = cmp.Or(o.Compression, defaultCompression)
	o.Version = cmp.Or(o.Version, "devel")
	o.Provenance.Urlmill = cmp.Or(o.Provenance.Urlmill, o.Version)
	o.mem = cmp.Or(o.mem, memory.DefaultAllocator)
	return o
}

// CheckRows returns what is wrong with the options for rows of a schema, like Validate.
func (o Options) CheckRows(s *arrow.Schema) error {
	return errors.Join(o.Files.CheckRows(s), checkDictionaries(o.Dictionaries, s))
}

// Validate returns every problem, joined, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	o = o.withDefaults()
	shared := o.shared(nil)
	var p pipeline.Problems
	p.Join(shared.Validate())
	if _, ok := codecs[o.Compression]; !ok {
		p.Value("compression", o.Compression, "is not known").Advise("use none, lz4 or zstd")
	}
	if len(o.Dictionaries) > 0 && o.Stdout == nil {
		p.Add("dictionaries", "files have none, since theirs cannot grow").Advise("leave it out, or write to standard output")
	}
	return p.Err()
}

func (o *Options) shared(log *slog.Logger) filesink.Options {
	s := filesink.Options{
		Path: o.Path, Files: o.Files, Format: format{o}, Log: log,
	}
	if o.Stdout != nil {
		s.Stream = newStream(o)
	}
	return s
}

// New returns the sink.
func New(opts Options, log *slog.Logger) (pipeline.Sink, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	return filesink.New(opts.shared(log)), nil
}
