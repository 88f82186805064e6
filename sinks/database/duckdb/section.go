package duckdb

import (
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/database"
	"github.com/urlmill/urlmill/sinks/store"
)

// Kind is the sink of tables in a file of DuckDB. A binary that is built without DuckDB knows the options and cannot open it.
var Kind = sinks.Kind{
	Name:    "duckdb",
	Doc:     "A table in a database file of DuckDB, in one transaction with the positions; see docs/warehouse.md. Needs an urlmill that is built with it.",
	New:     func() sinks.Options { return newOptions() },
	Missing: missing,
}

// batchBytes is more than that of other databases: two row groups of a clickstream without url, raw and headers are some 90 MB, and
// DuckDB copies loads of less than one once more.
const batchBytes = 128 << 20

func newOptions() *Options {
	o := &Options{Options: database.Default()}
	o.BatchBytes = batchBytes
	return o
}

// Options are the database file, and its tables.
type Options struct {
	database.Options
	// Path is that of the database file, which is made when it is missing.
	Path string
}

// Section implements [sinks.Options]. There is no server to wait for.
func (o *Options) Section() config.Section {
	return o.Options.Section("main.clicks", database.RetryForKey,
		config.Field{Name: "path", Doc: "The database file, which is made when it is missing. One process at a time has it.", Value: config.Text(&o.Path, "/var/lib/urlmill/web.duckdb"), Example: "path: web.duckdb"})
}

// Asks implements [sinks.Options].
func (o *Options) Asks() sinks.Asks { return o.Options.Asks(store.Place(o.Path) + " " + o.Table) }

// With implements [sinks.Options].
func (o *Options) With(e sinks.Env) sinks.Sink {
	path := o.Path
	return o.Options.With(e, database.Database{
		Validate: func() error {
			var p pipeline.Problems
			if reason, advice := config.Misplaced(path, false); reason != "" {
				p.Value("path", path, "%s", reason).Advise("%s", advice)
			}
			return p.Err()
		},
		CheckRows: CheckRows, Driver: func() (database.Driver, error) { return newDriver(path) },
	})
}
