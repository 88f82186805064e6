package database

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Limits are those of the values that a database holds. What is beyond them is loaded as null: one row whose producer had a
// broken clock must not keep all others out. Group is no limit, but what loads are cut by.
type Limits struct {
	// First and Last are the least and the greatest timestamp, in microseconds since 1970.
	First, Last int64
	// FirstDay and LastDay are those of dates, in days since 1970.
	FirstDay, LastDay int32
	// Bytes bounds texts, byte strings, and what is made of other values.
	Bytes int64
	// Group is how many rows the database stores together, 0 where that makes no difference: full lanes are loaded when their
	// rows are a multiple of it, or as little below one as whole records allow.
	Group int64
}

// NoLimits are those of a database that holds everything.
var NoLimits = Limits{math.MinInt64, math.MaxInt64, math.MinInt32, math.MaxInt32, math.MaxInt64, 0}

const (
	// noteColumn is the column in which a row says that it has lost a value, if it is there and has nothing else to say.
	noteColumn = "url_error"
	// Unfit is what it says.
	Unfit = "value-out-of-range"
	// elementBytes is about what a text takes within a list beside its bytes.
	elementBytes = 16
)

// fit puts nulls into the columns, which begin at the start of their memory, in place of what is beyond the limits, and a
// note into the rows. It returns how many values have become null. Columns that cannot be null stay as they are: those of
// the pipeline that have no nulls are positions and names.
func (l Limits) fit(s *arrow.Schema, columns []arrow.Array) (lost int64) {
	var noted []int
	for i, f := range s.Fields() {
		if !f.Nullable {
			continue
		}
		if rows := l.beyond(columns[i]); len(rows) > 0 {
			columns[i] = withNulls(columns[i], rows)
			noted = append(noted, rows...)
			lost += int64(len(rows))
		}
	}
	if at := s.FieldIndices(noteColumn); lost > 0 && len(at) == 1 && s.Field(at[0]).Nullable {
		if text, ok := columns[at[0]].(*array.String); ok {
			columns[at[0]] = withNotes(text, noted)
		}
	}
	return lost
}

// beyond returns the rows whose values are beyond the limits.
func (l Limits) beyond(a arrow.Array) (rows []int) {
	var fits func(int) bool
	switch a := a.(type) {
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		first, last, values := inUnit(l.First, unit), inUnit(l.Last, unit), a.TimestampValues()
		fits = func(i int) bool { return first <= int64(values[i]) && int64(values[i]) <= last }
	case *array.Date32:
		values := a.Date32Values()
		fits = func(i int) bool { return l.FirstDay <= int32(values[i]) && int32(values[i]) <= l.LastDay }
	default:
		if size(a, 0, a.Len()) <= l.Bytes {
			return nil
		}
		fits = func(i int) bool { return size(a, i, i+1) <= l.Bytes }
	}
	for i := range a.Len() {
		if a.IsValid(i) && !fits(i) {
			rows = append(rows, i)
		}
	}
	return rows
}

// inUnit returns a limit in a unit, as far as that has numbers for it.
func inUnit(micros int64, unit arrow.TimeUnit) int64 {
	switch unit {
	case arrow.Second:
		return micros / 1_000_000
	case arrow.Millisecond:
		return micros / 1000
	case arrow.Nanosecond:
		return max(min(micros, math.MaxInt64/1000), math.MinInt64/1000) * 1000
	}
	return micros
}

// size returns about the bytes of the values [from, to) of an array.
func size(a arrow.Array, from, to int) int64 {
	if from == to {
		return 0
	}
	switch a := a.(type) {
	case *array.String:
		return int64(a.ValueOffset(to-1)+len(a.Value(to-1))) - int64(a.ValueOffset(from))
	case *array.LargeString:
		return a.ValueOffset64(to-1) + int64(len(a.Value(to-1))) - a.ValueOffset64(from)
	case *array.Binary:
		return a.ValueOffset64(to-1) + int64(a.ValueLen(to-1)) - a.ValueOffset64(from)
	case *array.List:
		first, _ := a.ValueOffsets(from)
		_, last := a.ValueOffsets(to - 1)
		return elementBytes*(last-first) + size(a.ListValues(), int(first), int(last))
	}
	return 0
}

// withNulls returns an array with some of its rows null.
func withNulls(a arrow.Array, rows []int) arrow.Array {
	n := a.Len()
	valid := make([]byte, bitutil.BytesForBits(int64(n)))
	for i := range n {
		bitutil.SetBitTo(valid, i, a.IsValid(i))
	}
	for _, i := range rows {
		bitutil.ClearBit(valid, i)
	}
	buffers := slices.Clone(a.Data().Buffers())
	buffers[0] = memory.NewBufferBytes(valid)
	return array.MakeFromData(array.NewData(a.DataType(), n, buffers, a.Data().Children(), a.NullN()+len(rows), 0))
}

// withNotes returns an array that has a note in some of its rows, as far as they are null.
func withNotes(a *array.String, rows []int) arrow.Array {
	slices.Sort(rows)
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range a.Len() {
		switch _, noted := slices.BinarySearch(rows, i); {
		case a.IsValid(i):
			b.Append(a.Value(i))
		case noted:
			b.Append(Unfit)
		default:
			b.AppendNull()
		}
	}
	return b.NewArray()
}
