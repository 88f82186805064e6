package wire

import (
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/parquet"
)

var parquetSink = SinkKind{
	Name: "parquet",
	Configure: func(c *config.Config, s Setting) (Sink, bool) {
		p := c.Sink.Parquet
		if p == nil {
			return Sink{}, false
		}
		options := parquet.Options{
			Path: p.Path, DeadLetters: p.DeadLetters, Compression: p.Compression, CompressionLevel: p.CompressionLevel,
			RowGroupRows: p.RowGroupRows, RowGroupBytes: p.RowGroupBytes, Version: s.Version,
		}
		return Sink{
			Validate: options.Validate,
			Open:     func() (pipeline.Sink, error) { return parquet.New(options, s.Log) },
		}, true
	},
}
