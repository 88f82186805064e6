package main

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/benchmarks/parquet/pass"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sources/generate"
)

const (
	seed      = 20261121
	batchRows = pass.BatchRows
	groupRows = pass.GroupRows
)

// table is a clickstream as it comes out of the parser, in batches that keep their memory.
type table struct {
	profile  string
	schema   *arrow.Schema
	records  []arrow.Record
	rows     int
	urlBytes int64 // of all URLs
	bytes    int64 // of all values of all columns, without offsets and bitmaps
	params   int64
}

// Profiles of columns. What full leaves out is always null here, or the text of href once more; compact has every character
// of the URL once.
const (
	full    = "full"
	compact = "compact"
)

// newTable generates URLs and parses them, into the columns of a profile.
func newTable(profile string, rows int) (*table, error) {
	g, err := generate.NewGenerator(generate.Options{Seed: seed, Format: generate.Lines})
	if err != nil {
		return nil, err
	}
	opts := urlcols.Options{Provenance: urlcols.KafkaProvenance, OnError: pipeline.Keep}
	if profile == compact {
		opts.Profile, opts.Exclude = compact, []string{"raw", "headers"}
	} else {
		opts.Exclude = []string{"url", "raw", "headers"}
	}
	plan, err := urlcols.New(opts)
	if err != nil {
		return nil, err
	}
	t := &table{profile: profile, schema: plan.Schemas()[pipeline.Rows], rows: rows}
	var record []byte
	users := rand.New(rand.NewPCG(seed, 0))
	for first := 0; first < rows; first += batchRows {
		b := &pipeline.Batch{MaxRows: batchRows, Lane: pipeline.LaneID{Stream: "clicks", Partition: 3}}
		for i := first; i < min(rows, first+batchRows); i++ {
			record = g.Append(record[:0])
			truth := g.Truth()
			b.URLs.Append(record)
			b.Offsets = append(b.Offsets, int64(i))
			b.Timestamps = append(b.Timestamps, truth.Timestamp)
			b.Keys.Append(fmt.Appendf(nil, "user-%d", users.IntN(100_000)))
			t.urlBytes += int64(len(record))
		}
		b.First, b.Next = int64(first), int64(first+b.Len())
		// The record aliases what its transform and its batch hold.
		out, err := plan.NewTransform().Apply(b)
		if err != nil {
			return nil, err
		}
		t.add(out.Records[pipeline.Rows])
	}
	if profile == full && t.params == 0 {
		return nil, errors.New("the table has no parameters")
	}
	return t, nil
}

func (t *table) add(r arrow.Record) {
	t.records = append(t.records, r)
	for i, c := range r.Columns() {
		t.bytes += valueBytes(c)
		if t.schema.Field(i).Name == "params" {
			t.params += int64(c.(array.ListLike).ListValues().Len())
		}
	}
}

// valueBytes returns the bytes of the values of an array.
func valueBytes(a arrow.Array) int64 {
	switch a := a.(type) {
	case *array.String:
		return int64(len(a.ValueBytes()))
	case *array.Binary:
		return int64(len(a.ValueBytes()))
	case array.ListLike:
		return valueBytes(a.ListValues())
	case *array.Struct:
		n := int64(0)
		for i := range a.NumField() {
			n += valueBytes(a.Field(i))
		}
		return n
	case *array.Boolean:
		return int64(a.Len()+7) / 8
	}
	width := a.DataType().(arrow.FixedWidthDataType).BitWidth() / 8
	return int64(width * (a.Len() - a.NullN()))
}
