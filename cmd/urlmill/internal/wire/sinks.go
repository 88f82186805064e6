package wire

import (
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/arrowipc"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/ndjson"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/psl"
)

var parquetSink = SinkKind{
	Name: "parquet",
	Configure: func(c *settings.Config, s Setting) (Sink, bool) {
		p := c.Sink.Parquet
		if p == nil {
			return Sink{}, false
		}
		dead := newDeadLetterOutput(c, p.DeadLetterTopic)
		options := parquet.Options{
			Files: s.outputFiles(c, settings.Output{DeadLetters: p.DeadLetters, Delivery: p.Delivery, PartitionBy: p.PartitionBy, Late: p.Late}),
			Path:  p.Path, Compression: p.Compression, CompressionLevel: p.CompressionLevel,
			RowGroupRows: p.RowGroupRows, RowGroupBytes: p.RowGroupBytes, Version: s.Version,
			PageVersion: p.PageVersion, Encodings: p.Encodings, BloomFilters: p.BloomFilters,
			SortBy: p.SortBy,
		}
		checkTable := func(*arrow.Schema) error { return nil }
		if s.parts.iceberg != nil {
			checkTable = s.parts.iceberg(p, &options, s.Log)
		}
		if slices.Equal(options.BloomFilters, []string{"none"}) {
			options.BloomFilters = []string{}
		}
		sink := fileSink(s, dead, options.Path, &options.Files, &options, func() (pipeline.Sink, error) { return parquet.New(options, s.Log) })
		files := sink
		sink.Validate = func() error { return errors.Join(files.Validate(), checkTable(nil)) }
		sink.CheckRows = func(rows *arrow.Schema) error { return errors.Join(files.CheckRows(rows), checkTable(rows)) }
		return sink, true
	},
}

var arrowipcSink = SinkKind{
	Name: "arrowipc",
	Configure: func(c *settings.Config, s Setting) (Sink, bool) {
		a := c.Sink.ArrowIPC
		if a == nil {
			return Sink{}, false
		}
		dead := newDeadLetterOutput(c, a.DeadLetterTopic)
		options := arrowipc.Options{
			Files: s.outputFiles(c, a.Output),
			Path:  a.Path, Stdout: stream(a.Output, s), Compression: a.Compression, Version: s.Version, Dictionaries: a.Dictionaries,
		}
		return fileSink(s, dead, options.Path, &options.Files, &options, func() (pipeline.Sink, error) { return arrowipc.New(options, s.Log) }), true
	},
}

var ndjsonSink = SinkKind{
	Name: "ndjson",
	Configure: func(c *settings.Config, s Setting) (Sink, bool) {
		n := c.Sink.NDJSON
		if n == nil {
			return Sink{}, false
		}
		dead := newDeadLetterOutput(c, n.DeadLetterTopic)
		options := ndjson.Options{Files: s.outputFiles(c, n.Output), Path: n.Path, Stdout: stream(n.Output, s)}
		return fileSink(s, dead, options.Path, &options.Files, &options, func() (pipeline.Sink, error) { return ndjson.New(options, s.Log) }), true
	},
}

// fileOptions are what each format checks of its own.
type fileOptions interface {
	Validate() error
	CheckRows(rows *arrow.Schema) error
}

// fileSink returns a sink that writes files. files points into options: what Open adds to them, the stream of the dead letters,
// is there when open is called.
func fileSink(s Setting, dead deadLetterOutput, path string, files *parquet.Files, options fileOptions, open func() (pipeline.Sink, error)) Sink {
	return Sink{
		Place: filePlace(path), Positions: path != "" && files.Delivery != commit.AtLeastOnce,
		Validate: func() error {
			return errors.Join(s.checkPlaces(path, files.DeadLetters, files.Late.Path), options.Validate(), dead.validate())
		},
		CheckRows: options.CheckRows,
		Open: func() (pipeline.Sink, error) {
			if err := dead.open(&files.DeadLetterStream, s); err != nil {
				return nil, err
			}
			return open()
		},
	}
}

// filePlace returns the place of a folder, which is the same from whatever directory the folder is named.
func filePlace(path string) string {
	if abs, err := filepath.Abs(path); err == nil && path != "" && !isS3(path) {
		return abs
	}
	return path
}

// provenance says in commit records how rows were made.
func (s Setting) provenance(c *settings.Config) commit.Provenance {
	return commit.Provenance{Urlmill: s.Version, Config: c.Hash(), ListVersion: psl.Version, Standard: s.Standard, Unicode: urlcore.UnicodeVersion}
}

// outputFiles returns the options that all sinks have that write files.
func (s Setting) outputFiles(c *settings.Config, o settings.Output) parquet.Files {
	f := parquet.Files{
		DeadLetters: o.DeadLetters, Delivery: commit.Delivery(o.Delivery), Provenance: s.provenance(c), Stores: s.stores(),
		PartitionBy: o.PartitionBy, FileBytes: c.Sink.Roll.Bytes, Memory: s.files,
	}
	if o.Late != nil {
		f.Late.Path, f.Late.After = o.Late.Path, o.Late.After
	}
	return f
}

// stream returns standard output when that is where the rows go.
func stream(o settings.Output, s Setting) io.Writer {
	if o.Stdout {
		return s.Out
	}
	return nil
}
