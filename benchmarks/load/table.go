package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sinks/database"
	"github.com/urlmill/urlmill/sources/generate"
)

const (
	seed      = 20261121
	batchRows = 8192
	// loadRows is after how many rows a lane is loaded at the latest.
	loadRows = 250_000
)

// table is a clickstream as URLs, and as the parser leaves them.
type table struct {
	plan    *urlcols.Plan
	batches []*pipeline.Batch
	records []arrow.Record
	rows    int
}

func newTable(rows int) (*table, error) {
	g, err := generate.NewGenerator(generate.Options{Seed: seed, Format: generate.Lines})
	if err != nil {
		return nil, err
	}
	plan, err := urlcols.New(urlcols.Options{Provenance: urlcols.KafkaProvenance, OnError: pipeline.Keep, Exclude: []string{"url", "raw", "headers"}})
	if err != nil {
		return nil, err
	}
	t := &table{plan: plan, rows: rows}
	var record []byte
	for first := 0; first < rows; first += batchRows {
		b := &pipeline.Batch{MaxRows: batchRows, Lane: pipeline.LaneID{Stream: "clicks", Partition: 3}}
		for i := first; i < min(rows, first+batchRows); i++ {
			record = g.Append(record[:0])
			b.URLs.Append(record)
			b.Offsets = append(b.Offsets, int64(i))
			b.Timestamps = append(b.Timestamps, g.Truth().Timestamp)
			b.Keys.Append(nil)
		}
		b.First, b.Next = int64(first), int64(first+b.Len())
		out, err := plan.NewTransform().Apply(b) // its memory is this transform's, which has no other batch
		if err != nil {
			return nil, err
		}
		t.batches, t.records = append(t.batches, b), append(t.records, out.Records[pipeline.Rows])
	}
	return t, nil
}

// into loads the table through a sink: the rows as they are, or parsed anew.
func (t *table) into(ctx context.Context, d database.Driver, parse bool) error {
	s := database.New(database.Options{Table: "clicks", BatchBytes: 128 << 20, BatchRows: loadRows, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}, d)
	if err := s.Start(ctx, t.plan.Schemas()); err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	w, _, err := s.Open(ctx, t.batches[0].Lane)
	if err != nil {
		return err
	}
	transform := t.plan.NewTransform()
	for i, b := range t.batches {
		r := t.records[i]
		if parse {
			out, err := transform.Apply(b)
			if err != nil {
				return err
			}
			r = out.Records[pipeline.Rows]
		}
		if err := w.Write(ctx, pipeline.Rows, r, pipeline.Span{First: b.First, Next: b.Next}); err != nil {
			return err
		}
		if w.Size().Full {
			if _, err := w.Commit(ctx); err != nil {
				return err
			}
		}
	}
	_, err = w.Commit(ctx)
	return err
}
