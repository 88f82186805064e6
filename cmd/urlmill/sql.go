package main

import (
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/sqlview"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sinks"
)

// sqlFlags are the flags of "urlmill sql".
type sqlFlags struct{ engine, table, view string }

func newSQL(a *app) *cobra.Command {
	var f sqlFlags
	cmd := &cobra.Command{
		Use:   "sql CONFIG",
		Short: "Print the SQL by which a query engine reads the output of a configuration",
		Long: `Print the statements by which a query engine reads what a configuration writes: the table of the files, with the columns of
directories, and with columns.profile: compact the view that has all columns of the profile default, made of those of compact.

The columns are those of the configuration as it is, with its carried fields, promoted parameters, exclude and rename. A table that
is there already, in a database or an Iceberg catalog, is taken as it is. For polars, a module of Python is printed. Nothing is read
but the configuration.`,
		Example: `  urlmill sql --for duckdb clickstream.yaml | duckdb web.duckdb
  urlmill sql --for trino --table hive.web.clicks --view hive.web.clicks_full clickstream.yaml`,
		Args: args(1, 1, "one configuration"),
		RunE: func(_ *cobra.Command, files []string) error {
			c, err := a.loadConfig(files[0])
			if err != nil {
				return err
			}
			return a.sql(c, f)
		},
	}
	flags := cmd.Flags()
	choiceFlag(cmd, flags, &f.engine, "for", "", "the engine: "+strings.Join(sqlview.Engines(), ", "), sqlview.Engines()...)
	flags.StringVar(&f.table, "table", "", "name of the table of the rows (default: that of the configuration, or of the folder)")
	flags.StringVar(&f.view, "view", "", "name of the view (default: that of the table and _full)")
	return cmd
}

// sql prints the statements for c.
func (a *app) sql(c *wire.Config, f sqlFlags) error {
	if f.engine == "" {
		return usagef("name the engine that reads with --for: %s", strings.Join(sqlview.Engines(), ", "))
	}
	job, err := wire.Prepare(c, wire.Setting{Log: slog.New(slog.DiscardHandler), In: io.MultiReader(), Out: io.Discard})
	if err != nil {
		return err
	}
	queried, ok := c.Sink.Options.(sinks.Queried)
	if !ok {
		return usagef("sink.%s writes nothing that an engine reads as a table; give a configuration with sink.parquet or a database", c.Sink.Name)
	}
	o := sqlview.Options{Engine: f.engine, Table: f.table, View: f.view, Where: queried.Described(job.Rows), Rows: job.Rows.Fields(), Keys: job.Plan.Keys()}
	if o.Where.Place != "" && !strings.Contains(o.Where.Place, "://") {
		if o.Where.Place, err = filepath.Abs(o.Where.Place); err != nil {
			return err
		}
	}
	if c.Columns.Profile == urlcols.CompactProfile {
		full, err := job.Plan.Full()
		if err != nil {
			return err
		}
		o.Full, o.FullKeys = full.Schemas()[pipeline.Rows].Fields(), full.Keys()
	}
	text, err := sqlview.Write(o)
	if err == nil {
		_, err = fmt.Fprintln(a.out, text)
	}
	return err
}
