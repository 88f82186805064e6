// Package arrowipc is the sink that writes Arrow IPC: files in a directory, named and committed like those of
// the Parquet sink, or one stream for all lanes to standard output.
package arrowipc

import (
	"errors"
	"io"
	"log/slog"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/budget"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/internal/lanesink"
	"github.com/urlmill/urlmill/sinks/store"
)

// Options says where and how to write. Zero values stand for the defaults.
type Options struct {
	// Path is the output directory. Its parent has to be there.
	Path string
	// Stdout, if not nil, takes the rows as one Arrow stream instead. The sink does not close it.
	Stdout io.Writer
	// DeadLetters is the directory of the dead letters, which are files in any case. It is needed only
	// with that error policy.
	DeadLetters string
	// DeadLetterStream takes the dead letters instead of a directory, at least once.
	DeadLetterStream lanesink.Stream
	// Compression is one of none, lz4 and zstd. Default none: readers then map files into memory and use
	// them as they are.
	Compression string
	// Dictionaries are columns of text whose values the stream has once, and rows refer to. Only with Stdout.
	Dictionaries []string
	// Version is urlmill's version, for the metadata of the schema. Default "devel".
	Version string
	// Delivery is exactly_once or at_least_once. Default exactly_once for files; a stream can only be the other.
	Delivery commit.Delivery
	// Provenance goes into commit records; Version is its Urlmill.
	Provenance commit.Provenance
	// Stores opens the directories. Default [store.Open].
	Stores store.Opener
	// PartitionBy divides the files with rows into directories, one level for each: a column, date(column), hour(column)
	// or bucket(N, column), with a name of its own and "=" before it on request.
	PartitionBy []string
	// Late are rows that go into files of their own instead of these directories.
	Late lanesink.Late
	// FileBytes ends a file of a partition when it has become that large; 0: no limit.
	FileBytes int64
	// Memory bounds what all open files hold. By default nothing does.
	Memory *budget.Ledger

	mem memory.Allocator
}

// codecs are the supported compressions.
var codecs = map[string]ipc.Option{"none": nil, "lz4": ipc.WithLZ4(), "zstd": ipc.WithZstd()}

func (o Options) withDefaults() Options {
	if o.Compression == "" {
		o.Compression = "none"
	}
	if o.Version == "" {
		o.Version = "devel"
	}
	if o.Provenance.Urlmill == "" {
		o.Provenance.Urlmill = o.Version
	}
	if o.mem == nil {
		o.mem = memory.DefaultAllocator
	}
	return o
}

// CheckRows returns what is wrong with the options for rows of a schema, like Validate.
func (o Options) CheckRows(s *arrow.Schema) error {
	return errors.Join(lanesink.CheckPartitions(o.PartitionBy, s), lanesink.CheckLate(o.Late, o.PartitionBy, s), checkDictionaries(o.Dictionaries, s))
}

// Validate returns every problem, joined, each on a line that starts with the field's name and a colon.
func (o Options) Validate() error {
	o = o.withDefaults()
	shared := o.shared(nil)
	problems := []error{shared.Validate()}
	if _, ok := codecs[o.Compression]; !ok {
		problems = append(problems, lanesink.Problem("Compression", "%q is not known; use none, lz4 or zstd", o.Compression))
	}
	if len(o.Dictionaries) > 0 && o.Stdout == nil {
		problems = append(problems, lanesink.Problem("Dictionaries", "files have none, since theirs cannot grow; leave it out, or write to standard output"))
	}
	return errors.Join(problems...)
}

func (o *Options) shared(log *slog.Logger) lanesink.Options {
	s := lanesink.Options{
		Path: o.Path, DeadLetters: o.DeadLetters, DeadLetterStream: o.DeadLetterStream, Format: format{o},
		Delivery: o.Delivery, Provenance: o.Provenance, Log: log, Stores: o.Stores,
		PartitionBy: o.PartitionBy, Late: o.Late, FileBytes: o.FileBytes, Memory: o.Memory,
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
	return lanesink.New(opts.shared(log)), nil
}
