package wire

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline/dedupe"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// columnName returns the name that a column has in the output.
func columnName(c *settings.Config, name string) string {
	if other, ok := c.Columns.Rename[name]; ok {
		return other
	}
	return name
}

// newDedupe returns how duplicates are found among rows on their way to sink, and the schema of the rows that come out.
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

// identity names what keys are made of. newPlan has found the same configuration right.
func identity(c *settings.Config, lists Lists) string {
	var options urlcols.Options
	if derived(&options, c, lists); options.Canonical == nil {
		return ""
	}
	options.Canonical.Rules = options.Rules
	form, err := canon.New(*options.Canonical)
	if err != nil {
		return ""
	}
	return "keys of " + form.Name()
}

// dedupeMemory is what finding duplicates takes.
func dedupeMemory(c *settings.Config) int64 {
	d := c.Dedupe
	switch {
	case d == nil:
		return 0
	case d.Approximate != nil:
		return d.Memory + d.Approximate.Memory
	}
	return d.Memory
}
