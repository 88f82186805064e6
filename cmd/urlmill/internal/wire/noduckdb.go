//go:build !duckdb

package wire

import (
	"errors"

	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
)

var errNoDuckDB = errors.New("this urlmill is built without DuckDB, which is no part of a static binary: " +
	"build one with CGO_ENABLED=1 go build -tags duckdb ./cmd/urlmill, or write Parquet files, which DuckDB reads as they are")

// duckdbSink says that there is none.
var duckdbSink = SinkKind{
	Name: "duckdb",
	Configure: func(c *settings.Config, _ Setting) (Sink, bool) {
		return Sink{
			Validate: func() error { return errNoDuckDB },
			Open:     func() (pipeline.Sink, error) { return nil, errNoDuckDB },
		}, c.Sink.DuckDB != nil
	},
}
