package processor

import (
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// record is Arrow's record of columns that are known to fit its schema: to look whether they do takes as long as to parse some ten
// URLs, by reflection.
type record struct {
	refs    atomic.Int64
	schema  *arrow.Schema
	columns []arrow.Array
	rows    int64
}

// newRecord returns a record, which takes over the slice and the references to the columns.
func newRecord(schema *arrow.Schema, columns []arrow.Array, rows int) *record {
	r := &record{schema: schema, columns: columns, rows: int64(rows)}
	r.refs.Store(1)
	return r
}

func (r *record) Retain() { r.refs.Add(1) }

func (r *record) Release() {
	if r.refs.Add(-1) == 0 {
		for _, c := range r.columns {
			c.Release()
		}
		r.columns = nil
	}
}

func (r *record) Schema() *arrow.Schema    { return r.schema }
func (r *record) NumRows() int64           { return r.rows }
func (r *record) NumCols() int64           { return int64(len(r.columns)) }
func (r *record) Columns() []arrow.Array   { return r.columns }
func (r *record) Column(i int) arrow.Array { return r.columns[i] }
func (r *record) ColumnName(i int) string  { return r.schema.Field(i).Name }

// checked returns Arrow's own record of the same columns, which the caller releases.
func (r *record) checked() arrow.Record { return array.NewRecord(r.schema, r.columns, r.rows) }

func (r *record) SetColumn(i int, column arrow.Array) (arrow.Record, error) {
	c := r.checked()
	defer c.Release()
	return c.SetColumn(i, column)
}

func (r *record) NewSlice(i, j int64) arrow.Record {
	c := r.checked()
	defer c.Release()
	return c.NewSlice(i, j)
}

func (r *record) MarshalJSON() ([]byte, error) {
	c := r.checked()
	defer c.Release()
	return c.MarshalJSON()
}

func (r *record) String() string {
	c := r.checked()
	defer c.Release()
	return fmt.Sprint(c)
}
