package pipelinetest

import (
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
)

// Schema is the schema of what [Transform] makes: one string column.
var Schema = arrow.NewSchema([]arrow.Field{{Name: "record", Type: arrow.BinaryTypes.String}}, nil)

// Schemas are the schemas of what [Transform] makes.
var Schemas = pipeline.Schemas{Schema, Schema}

// Transform copies records into a column. Records that begin with "bad" are invalid and go where OnError
// says.
type Transform struct {
	OnError pipeline.OnError
	// Err, when not nil, is the result of every Apply.
	Err error
}

// Apply implements pipeline.Transform.
func (t *Transform) Apply(b *pipeline.Batch) (pipeline.Output, error) {
	var out pipeline.Output
	if t.Err != nil {
		return out, t.Err
	}
	var builders [pipeline.NumTables]*array.StringBuilder
	for i := range builders {
		builders[i] = array.NewStringBuilder(memory.DefaultAllocator)
	}
	var stop error
	for i := range b.Len() {
		record := string(b.URLs.At(i))
		table := pipeline.Rows
		if strings.HasPrefix(record, "bad") {
			out.Invalid++
			switch t.OnError {
			case pipeline.Drop:
				out.Dropped++
				continue
			case pipeline.ToDeadLetters:
				table = pipeline.DeadLetters
			case pipeline.Fail:
				stop = &pipeline.RowError{Lane: b.Lane, Offset: b.Offsets[i], Code: "bad", Pos: -1, Input: record}
			case pipeline.Keep:
			}
		}
		if stop != nil {
			break
		}
		builders[table].Append(record)
	}
	for i, bld := range builders {
		if col := bld.NewStringArray(); col.Len() > 0 || i == int(pipeline.Rows) {
			out.Records[i] = array.NewRecord(Schema, []arrow.Array{col}, int64(col.Len()))
		}
	}
	if out.Invalid > 0 {
		out.Errors = []pipeline.ErrorCount{{Code: "bad", Rows: out.Invalid}}
	}
	return out, stop
}
