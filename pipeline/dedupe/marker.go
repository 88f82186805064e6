package dedupe

import (
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/take"
	"github.com/urlmill/urlmill/pipeline"
)

// layout says where the keys of rows are, and what the rows become.
type layout struct {
	opts   Options
	schema *arrow.Schema // of what comes out; nil before Start
	key    int           // columns
	time   int           // -1 without
}

// arrange finds the columns, and puts the schema of what comes out in the place of that of the rows.
func (l *layout) arrange(schemas *pipeline.Schemas) (err error) {
	if l.key, l.time, err = l.opts.columns(schemas[pipeline.Rows]); err == nil {
		l.schema, err = l.opts.Schema(schemas[pipeline.Rows])
	}
	if err != nil {
		return fmt.Errorf("dedupe: %w", err)
	}
	schemas[pipeline.Rows] = l.schema
	return nil
}

// marker reads the keys of a lane's records, and marks or drops rows. It is used by one goroutine at a time.
type marker struct {
	*layout
	entries        []entry // of the record being written
	keyless, marks []bool
	kept           []int32 // rows that are no duplicates
	taker          take.Taker
}

// output returns r with the column of w.marks, or without the rows that are marked. The caller releases it.
func (w *marker) output(r arrow.Record, duplicates int) arrow.Record {
	columns := r.Columns()
	if k := w.key; w.opts.HideKey {
		columns = slices.Delete(slices.Clone(columns), k, k+1)
	}
	if w.opts.Mode == Mark {
		b := array.NewBooleanBuilder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(w.marks, nil)
		column := b.NewArray()
		defer column.Release()
		return array.NewRecord(w.schema, append(slices.Clip(columns), column), r.NumRows())
	}
	all := array.NewRecord(w.schema, columns, r.NumRows())
	if duplicates == 0 {
		return all
	}
	defer all.Release()
	w.kept = w.kept[:0]
	for row, marked := range w.marks {
		if !marked {
			w.kept = append(w.kept, int32(row))
		}
	}
	return w.taker.Take(all, w.kept)
}

// read fills w.entries and w.keyless.
func (w *marker) read(r arrow.Record) error {
	n := int(r.NumRows())
	keys, ok := r.Column(w.key).(*array.Binary)
	if !ok {
		return fmt.Errorf("column %q is %s, not binary", w.opts.KeyColumn, r.Column(w.key).DataType())
	}
	w.entries, w.keyless, w.marks = resize(w.entries, n), resize(w.keyless, n), resize(w.marks, n)
	var times *array.Timestamp
	var unit int64
	if w.time >= 0 {
		times = r.Column(w.time).(*array.Timestamp)
		unit = int64(times.DataType().(*arrow.TimestampType).Unit.Multiplier())
	}
	now := time.Now().UnixNano()
	for i := range n {
		w.marks[i] = false
		if w.keyless[i] = keys.IsNull(i); w.keyless[i] {
			continue
		}
		key := keys.Value(i)
		if len(key) != len(Key{}) {
			return fmt.Errorf("column %q has a key of %d bytes, not of 16", w.opts.KeyColumn, len(key))
		}
		e := entry{key: Key(key)}
		if w.opts.Within != 0 {
			at := now
			if times != nil && times.IsValid(i) {
				if v := int64(times.Value(i)); v < now/unit {
					at = max(v, -now/unit) * unit
				}
			}
			e.bucket = floorDiv(at, w.opts.bucketWidth())
		}
		w.entries[i] = e
	}
	return nil
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
