package wire

import (
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/file"
)

var fileSource = SourceKind{
	Name: "file",
	Configure: func(c *config.Config, s Setting) (Source, bool) {
		f := c.Source.File
		if f == nil {
			return Source{}, false
		}
		options := file.Options{Paths: f.Paths, Parallel: f.Parallel, MaxRecordBytes: f.MaxRecordBytes, Stdin: s.In}
		return Source{
			Validate:   options.Validate,
			Open:       func(f codec.Factory) (pipeline.Source, error) { return file.New(options, f, s.Log) },
			Provenance: urlcols.FileProvenance,
		}, true
	},
}
