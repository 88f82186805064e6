//go:build !duckdb

package duckdb

import (
	"errors"

	"github.com/urlmill/urlmill/sinks/database"
)

// missing is that of the kind.
const missing = "this urlmill is built without DuckDB, which is no part of a static binary: build one with CGO_ENABLED=1 go build -tags duckdb ./cmd/urlmill, " +
	"or write Parquet files, which DuckDB reads as they are"

func newDriver(string) (database.Driver, error) { return nil, errors.New(missing) }
