package iceberg

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
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

// dataFile describes a file of the chain, by what its record and its footer say. Its rows are not read. It is put into the first
// partition spec of the layout of which all its rows have one partition.
func dataFile(ctx context.Context, s store.Store, base string, f commit.File, l *layout) (iceberg.DataFile, error) {
	columns, err := footer(ctx, s, f.Name, l.columns)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	spec, values, logical, err := l.place(columns)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
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

// place returns the first partition spec that a file with the given columns fits, and what it has in its fields.
func (l *layout) place(columns map[int]*column) (s iceberg.PartitionSpec, values map[int]any, logical map[int]string, err error) {
	err = errSpread
	for _, s = range l.specs {
		if values, logical, err = partitionOf(s, columns); !errors.Is(err, errSpread) {
			return s, values, logical, err
		}
	}
	return s, nil, nil, fmt.Errorf("the file fits none of the partition specs of the table, whose fields have one value in all rows of a file; "+
		"partition_by was another when the table was made: give the table another name, or add a partition spec that fits (%w)", err)
}

// footer reads what a file says of those of its columns that are not within others, by their identifiers.
func footer(ctx context.Context, s store.Store, name string, fields map[string]iceberg.NestedField) (map[int]*column, error) {
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
			field, ok := fields[path[0]]
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
	lower, upper := c.widen(stats.MinValue), c.widen(stats.MaxValue)
	if lower == nil || upper == nil {
		c.bounded = false
		return
	}
	if c.lower == nil || c.less(lower, c.lower) {
		c.lower = lower
	}
	if c.upper == nil || c.less(c.upper, upper) {
		c.upper = upper
	}
}

// widen returns a copy of a value as the column's type has it, which may be wider than that of the file; nil if it has none.
func (c *column) widen(b []byte) []byte {
	width := 0
	switch c.field.Type.(type) {
	case iceberg.Int64Type:
		if len(b) == 4 {
			return binary.LittleEndian.AppendUint64(nil, uint64(int64(int32(binary.LittleEndian.Uint32(b)))))
		}
		width = 8
	case iceberg.Float64Type:
		if len(b) == 4 {
			return binary.LittleEndian.AppendUint64(nil, math.Float64bits(float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))))
		}
		width = 8
	case iceberg.TimestampType, iceberg.TimestampTzType:
		width = 8
	case iceberg.Int32Type, iceberg.DateType, iceberg.Float32Type:
		width = 4
	case iceberg.BooleanType:
		width = 1
	}
	if b == nil || width > 0 && len(b) != width {
		return nil
	}
	return append([]byte{}, b...)
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
