package iceberg

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	iceberg "github.com/apache/iceberg-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/store"
)

// boundRunes is how much of a text's bounds manifests have, as Iceberg's own writers do it.
const boundRunes = 16

// column is what a file says of one of its columns.
type column struct {
	field         iceberg.NestedField
	size          int64
	values, nulls int64
	lower, upper  []byte // as Iceberg has single values, which is how Parquet has them
	bounded       bool   // lower and upper are of all row groups
}

// dataFile describes a file of the chain, by what its record and its footer say. Its rows are not read.
func dataFile(ctx context.Context, s store.Store, base string, f commit.File, schema *iceberg.Schema, spec iceberg.PartitionSpec) (iceberg.DataFile, error) {
	columns, err := footer(ctx, s, f.Name, schema)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	values, logical := map[int]any{}, map[int]string{}
	for i := range spec.NumFields() {
		p := spec.Field(i)
		v, err := partitionValue(p, columns[p.SourceIDs[0]])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		values[p.FieldID] = v
		if _, isDate := v.(iceberg.Date); isDate {
			logical[p.FieldID] = "date"
		}
	}
	b, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentData, base+"/"+f.Name, iceberg.ParquetFile, values, logical, nil, f.Rows, f.Bytes)
	if err != nil {
		return nil, err
	}
	sizes, counts, nulls := map[int]int64{}, map[int]int64{}, map[int]int64{}
	lower, upper := map[int][]byte{}, map[int][]byte{}
	for id, c := range columns {
		sizes[id], counts[id], nulls[id] = c.size, c.values, c.nulls
		if c.bounded && c.values > c.nulls {
			c.cut()
			if c.lower != nil {
				lower[id] = c.lower
			}
			if c.upper != nil {
				upper[id] = c.upper
			}
		}
	}
	b.ColumnSizes(sizes).ValueCounts(counts).NullValueCounts(nulls).LowerBoundValues(lower).UpperBoundValues(upper)
	return b.Build(), nil
}

// footer reads what a file says of those of its columns that are not within others, by their identifiers.
func footer(ctx context.Context, s store.Store, name string, schema *iceberg.Schema) (map[int]*column, error) {
	o, err := s.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	groups, err := parquet.RowGroups(o, o.Size())
	if err != nil {
		return nil, err
	}
	columns := map[int]*column{}
	for g := range groups {
		for i := range groups[g].Columns {
			chunk := &groups[g].Columns[i].MetaData
			path := chunk.PathInSchema
			field, ok := schema.FindFieldByName(path[0])
			if len(path) != 1 || !ok {
				continue
			}
			c := columns[field.ID]
			if c == nil {
				c = &column{field: field, bounded: true}
				columns[field.ID] = c
			}
			c.add(chunk)
		}
	}
	return columns, nil
}

// add adds a row group's part of the column. Files of the chain are ours: they have the number of nulls of every column.
func (c *column) add(chunk *format.ColumnMetaData) {
	stats := &chunk.Statistics
	c.size += chunk.TotalCompressedSize
	c.values += chunk.NumValues
	c.nulls += stats.NullCount
	if stats.NullCount == chunk.NumValues {
		return
	}
	if stats.MinValue == nil || stats.MaxValue == nil {
		c.bounded = false
		return
	}
	if c.lower == nil || c.less(stats.MinValue, c.lower) {
		c.lower = bytes.Clone(stats.MinValue)
	}
	if c.upper == nil || c.less(c.upper, stats.MaxValue) {
		c.upper = bytes.Clone(stats.MaxValue)
	}
}

// less compares two values of the column.
func (c *column) less(a, b []byte) bool {
	switch c.field.Type.(type) {
	case iceberg.Int32Type, iceberg.DateType:
		return int32(binary.LittleEndian.Uint32(a)) < int32(binary.LittleEndian.Uint32(b))
	case iceberg.Int64Type, iceberg.TimestampType, iceberg.TimestampTzType:
		return int64(binary.LittleEndian.Uint64(a)) < int64(binary.LittleEndian.Uint64(b))
	case iceberg.Float32Type:
		return math.Float32frombits(binary.LittleEndian.Uint32(a)) < math.Float32frombits(binary.LittleEndian.Uint32(b))
	case iceberg.Float64Type:
		return math.Float64frombits(binary.LittleEndian.Uint64(a)) < math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return bytes.Compare(a, b) < 0
}

// cut makes long bounds shorter: a lower one stays one when its end is taken away, an upper one when what is left is raised.
func (c *column) cut() {
	switch c.field.Type.(type) {
	case iceberg.StringType:
		c.lower = c.lower[:firstRunes(c.lower)]
		c.upper = raised(c.upper, firstRunes(c.upper))
	case iceberg.BinaryType:
		c.lower = c.lower[:min(len(c.lower), boundRunes)]
		if len(c.upper) > boundRunes {
			c.upper = nil
		}
	}
}

// firstRunes returns the length of the first characters of a text.
func firstRunes(b []byte) int {
	at := 0
	for range boundRunes {
		if at == len(b) {
			break
		}
		_, n := utf8.DecodeRune(b[at:])
		at += n
	}
	return at
}

// raised returns the least text of at most n bytes' characters that is greater than all that begin as b does, b itself when it
// is as short as that, nil if there is none or the bytes are no text.
func raised(b []byte, n int) []byte {
	if !utf8.Valid(b) {
		return nil
	}
	if n == len(b) {
		return b
	}
	for n > 0 {
		r, size := utf8.DecodeLastRune(b[:n])
		n -= size
		if r++; r == 0xD800 {
			r = 0xE000 // what is between is no character
		}
		if r <= utf8.MaxRune {
			return utf8.AppendRune(bytes.Clone(b[:n]), r)
		}
	}
	return nil
}

const microsOfDay = 24 * 60 * 60 * 1_000_000

// partitionValue returns the value that all rows of a file have, or the day that they are of. The column may be null in all
// of them; the file is of one directory, so that nothing else is possible.
func partitionValue(p iceberg.PartitionField, c *column) (any, error) {
	if c == nil || c.values == c.nulls {
		return nil, nil
	}
	if !c.bounded || c.lower == nil || c.nulls > 0 {
		return nil, fmt.Errorf("the file does not say what its rows have in the column %s, by which the table is partitioned", c.field.Name)
	}
	lo, hi := valueOf(c.field.Type, c.lower), valueOf(c.field.Type, c.upper)
	if _, isDay := p.Transform.(iceberg.DayTransform); isDay {
		lo, hi = dayOf(lo), dayOf(hi)
	}
	if lo != hi {
		return nil, fmt.Errorf("the rows have more than one value in the column %s, by which the table is partitioned: "+
			"partition_by was another when the table was made; give the table another name", c.field.Name)
	}
	return lo, nil
}

// valueOf decodes a value that a table may be partitioned by.
func valueOf(t iceberg.Type, b []byte) any {
	switch t.(type) {
	case iceberg.BooleanType:
		return b[0] != 0
	case iceberg.Int32Type:
		return int32(binary.LittleEndian.Uint32(b))
	case iceberg.DateType:
		return iceberg.Date(binary.LittleEndian.Uint32(b))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

func dayOf(v any) any {
	if micros, ok := v.(int64); ok {
		day := micros / microsOfDay
		if micros%microsOfDay < 0 {
			day--
		}
		return iceberg.Date(day)
	}
	return v
}
