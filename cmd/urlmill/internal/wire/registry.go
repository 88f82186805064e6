// Package wire puts pipelines together: it knows which sources, codecs and sinks there are, turns the sections of a
// configuration into their options, and what they refuse into problems with a line and a column.
package wire

import (
	"context"
	"io"
	"log/slog"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/budget"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sources/codec"
)

// Registry lists the kinds of components that a binary has. It is a value that main makes.
type Registry struct {
	Sources []SourceKind
	Codecs  []CodecKind
	Sinks   []SinkKind

	// What is no kind of its own and may be left out is nil where it is; see parts.
	dedupe  func(c *settings.Config, rows *arrow.Schema, lists Lists, sink Sink) (*duplicates, *arrow.Schema, error)
	tracing func(ctx context.Context, t *settings.Tracing, version string, log *slog.Logger) (tracer, error)
	iceberg func(p *settings.Parquet, o *parquet.Options, log *slog.Logger) (check func(rows *arrow.Schema) error)
	inspect verify.TableReader
	s3      func(c settings.S3, log *slog.Logger) *buckets

	has map[string]bool // the parts that are not left out, by their names
}

// Standard returns the registry of the command urlmill: what every binary has, and what the files with_*.go add, which are
// those of heavy parts and are left out by the tag core.
func Standard() Registry {
	r := light()
	for name, add := range heavy {
		r.has[name] = true
		add(&r)
	}
	return r
}

// light returns what every binary has.
func light() Registry {
	return Registry{
		Sources: []SourceKind{kafkaSource, fileSource, generateSource},
		Codecs:  []CodecKind{ndjsonCodec, accessLogCodec, delimitedCodec, parquetCodec, avroCodec, jsonSchemaCodec, linesCodec},
		Sinks:   []SinkKind{parquetSink, arrowipcSink, ndjsonSink, kafkaSink, clickhouseSink},
		has:     map[string]bool{},
	}
}

// Setting is what components are given beside their options.
type Setting struct {
	Log *slog.Logger
	// In and Out are standard input and output.
	In      io.Reader
	Out     io.Writer
	Version string // urlmill's
	// Standard is the state of the URL Standard, for commit records and the metadata of files.
	Standard string
	// Stores opens the folders of sinks. Default [Registry.OpenStores] with the settings of the configuration.
	Stores store.Opener
	// DedupeStep is asked before every step of a commit of rows without duplicates; see [dedupe.Options].
	DedupeStep func(string) error

	memory  budget.Shares
	files   *budget.Ledger // for the open files of sinks
	parts   Registry       // that prepares the job
	buckets *buckets       // of the sink; nil without S3
}

// SourceKind is a kind of source.
type SourceKind struct {
	Name string // of its section below "source"
	// Configure returns the source that c asks for, and false when c asks for another kind.
	Configure func(c *settings.Config, s Setting) (Source, bool)
}

// Source is a configured source.
type Source struct {
	// Validate returns what is wrong with the options, and Open makes the source. The lines of their errors
	// begin with the field of the options and a colon.
	Validate func() error
	Open     func(codec.Factory) (pipeline.Source, error)
	// Provenance says which columns tell where a record came from.
	Provenance urlcols.Provenance
	// Codec is the codec of a source that makes its own records and was given none, nil for others.
	Codec codec.Factory
}

// CodecKind is a kind of codec.
type CodecKind struct {
	Name      string // of its section below "source.codec"
	Configure func(c *settings.Config) (func() (codec.Factory, error), bool)
}

// SinkKind is a kind of sink.
type SinkKind struct {
	Name      string // of its section below "sink"
	Configure func(c *settings.Config, s Setting) (Sink, bool)
}

// Sink is a configured sink; see [Source].
type Sink struct {
	Validate func() error
	Open     func() (pipeline.Sink, error)
	// CheckRows returns what is wrong with the options for rows of a schema, like Validate; nil for a sink that takes any.
	CheckRows func(*arrow.Schema) error
	// Place is where rows go, for what belongs to them; "" for a stream, whose rows nobody finds again.
	Place string
	// Positions says that it keeps the positions of lanes.
	Positions bool
}
