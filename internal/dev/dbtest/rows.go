package dbtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
)

// schema is the schema of the rows that [Deliver] loads: lane and n tell them apart, and params makes them larger.
var schema = arrow.NewSchema([]arrow.Field{
	{Name: "lane", Type: arrow.PrimitiveTypes.Int32},
	{Name: "n", Type: arrow.PrimitiveTypes.Int64},
	{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

func numbers(lane int32, from, to int64) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for n := from; n < to; n++ {
		b.Field(0).(*array.Int32Builder).Append(lane)
		b.Field(1).(*array.Int64Builder).Append(n)
		b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("https://www.example.com/%d/%d?some=query&that=is&long=enough", lane, n))
	}
	return b.NewRecord()
}

// Lanes, Rows and PerLoad are what [Deliver] loads: lanes with as many rows each, and in each load.
const (
	Lanes   = 2
	Rows    = 4000
	PerLoad = 500
)

// Deliver loads what is missing of all rows, in lanes that take turns. Every third load of a lane has no rows, and moves its
// position alone.
func Deliver(ctx context.Context, sink pipeline.Sink) (err error) {
	if err := sink.Start(ctx, pipeline.Schemas{schema}); err != nil {
		return errors.Join(err, sink.Close())
	}
	defer func() { err = errors.Join(err, sink.Close()) }()
	var writers [Lanes]pipeline.Writer
	var next [Lanes]int64
	for lane := range int32(Lanes) {
		if writers[lane], next[lane], err = sink.Open(ctx, pipeline.LaneID{Stream: "clicks%\x00\xff", Partition: lane}); err != nil {
			return err
		}
		next[lane] = max(next[lane], 0)
	}
	for more := true; more; {
		more = false
		for lane, w := range writers {
			from := next[lane]
			if from >= Rows*3/2 {
				continue
			}
			more = true
			to := from + PerLoad
			if err := load(ctx, w, int32(lane), from, to); err != nil {
				return err
			}
			if next[lane], err = w.Commit(ctx); err != nil {
				return err
			}
			if next[lane] != to {
				return fmt.Errorf("the position is %d and not %d", next[lane], to)
			}
		}
	}
	return nil
}

// load writes the positions from:to. Of three parts of 500 positions, the last has no rows.
func load(ctx context.Context, w pipeline.Writer, lane int32, from, to int64) error {
	span := pipeline.Span{First: from, Next: to}
	if from/PerLoad%3 == 2 {
		return w.Write(ctx, pipeline.Rows, nil, span)
	}
	r := numbers(lane, from, to)
	defer r.Release()
	return w.Write(ctx, pipeline.Rows, r, span)
}
