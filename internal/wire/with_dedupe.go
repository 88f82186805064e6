//go:build !core

package wire

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/dedupe"
	"github.com/urlmill/urlmill/pipeline/dedupe/shard"
	"github.com/urlmill/urlmill/sinks/store"
)

func init() {
	add("dedupe", func(r *Components) {
		r.dedupe, r.kept = func() Dedupe { return &duplicates{Options: dedupe.Default()} }, shard.Files
	})
}

// duplicates implements [Dedupe].
type duplicates struct {
	dedupe.Options
	timestamp string // the column of the times that a window is measured by, unless the options name one
}

func (d *duplicates) State() string {
	if d.Shard != "" {
		return "the output"
	}
	return d.Path
}

func (d *duplicates) InFolder(dir string) Dedupe {
	c := *d
	c.Path, c.Shard = dir, "" // there are no commits that could name a state
	return &c
}

func (d *duplicates) Memory() int64 {
	if d.Approximate != nil {
		return d.Options.Memory + d.Approximate.Memory
	}
	return d.Options.Memory
}

// With implements [Dedupe].
func (d *duplicates) With(e DedupeEnv) Dedupe {
	c := *d
	c.KeyColumn, c.timestamp, c.Identity, c.HideKey, c.Log, c.Step = e.Key, e.Timestamp, e.Identity, e.HideKey, e.Log, e.Step
	c.Keeps, c.Bucket, c.Topics = e.Sink.Keeps, store.Scheme(e.Sink.Place) != "", e.Topics
	if !e.AnyOutput {
		c.Output, c.Positions, c.Recorded = e.Sink.Place, e.Sink.Positions, e.Objects
	}
	return &c
}

// Validate implements [Dedupe].
func (d *duplicates) Validate(rows *arrow.Schema) (*arrow.Schema, error) {
	if rows == nil {
		return nil, d.Options.Validate()
	}
	if !rows.HasField(d.KeyColumn) && d.Identity != "" {
		return rows, fmt.Errorf("dedupe goes by the column %s, which is not among those of the output; add it to columns.include, "+
			"or take it out of columns.exclude", d.KeyColumn)
	}
	if at := rows.FieldIndices(d.timestamp); d.Within != 0 && d.TimeColumn == "" && len(at) > 0 && rows.Field(at[0]).Type.ID() == arrow.TIMESTAMP {
		d.TimeColumn = d.timestamp
	}
	err := errors.Join(d.Options.Validate(), d.CheckRows(rows))
	if out, schemaErr := d.Schema(rows); schemaErr == nil {
		rows = out
	}
	return rows, err
}

// Open implements [Dedupe].
func (d *duplicates) Open(inner pipeline.Sink) (pipeline.Sink, error) {
	if d.Shard != "" {
		return dedupe.NewSharded(inner, d.Options)
	}
	return dedupe.New(inner, d.Options)
}
