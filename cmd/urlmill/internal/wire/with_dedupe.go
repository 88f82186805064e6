//go:build !core

package wire

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/dedupe"
)

func init() { add("dedupe", func(r *Registry) { r.dedupe = newDuplicates }) }

// newDuplicates returns how duplicates are found among rows on their way to sink, and the schema of the rows that come out.
func newDuplicates(c *settings.Config, rows *arrow.Schema, lists Lists, sink Sink) (*duplicates, *arrow.Schema, error) {
	options, rows, err := newDedupe(c, rows, lists, sink)
	return &duplicates{
		path: options.Path, identity: options.Identity,
		open: func(sink pipeline.Sink, log *slog.Logger, step func(string) error) (pipeline.Sink, error) {
			o := *options
			o.Log, o.Step = log, step
			return dedupe.New(sink, o)
		},
	}, rows, err
}

// columnName returns the name that a column has in the output.
func columnName(c *settings.Config, name string) string {
	if other, ok := c.Columns.Rename[name]; ok {
		return other
	}
	return name
}

func newDedupe(c *settings.Config, rows *arrow.Schema, lists Lists, sink Sink) (*dedupe.Options, *arrow.Schema, error) {
	d := c.Dedupe
	options := dedupe.Options{
		Path: d.Path, Mode: dedupe.Mode(d.Mode), KeyColumn: columnName(c, "url_key"), HideKey: d.HideKey, Identity: identity(c, lists), Memory: d.Memory,
		Within: d.Window.Time, TimeColumn: d.Window.By, Last: d.Window.Keys,
	}
	if !d.AnyOutput {
		options.Output, options.Positions = sink.Place, sink.Positions
	}
	if a := d.Approximate; a != nil {
		options.Approximate = &dedupe.Approximate{Memory: a.Memory, Keys: a.Keys}
	}
	if name := columnName(c, "timestamp"); options.Within != 0 && options.TimeColumn == "" {
		if at := rows.FieldIndices(name); len(at) > 0 && rows.Field(at[0]).Type.ID() == arrow.TIMESTAMP {
			options.TimeColumn = name
		}
	}
	if !rows.HasField(options.KeyColumn) && c.Columns.Canonical != nil {
		return &options, rows, fmt.Errorf("dedupe goes by the column %s, which is not among those of the output; add it to columns.include, "+
			"or take it out of columns.exclude", options.KeyColumn)
	}
	err := errors.Join(options.Validate(), options.CheckRows(rows))
	if out, schemaErr := options.Schema(rows); schemaErr == nil {
		rows = out
	}
	return &options, rows, err
}
