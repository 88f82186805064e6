package pqfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Info is what a file says of itself.
type Info struct {
	File      string            `json:"file"`
	Bytes     int64             `json:"bytes"`
	Rows      int64             `json:"rows"`
	CreatedBy string            `json:"created_by"`
	Version   int32             `json:"format_version"`
	Metadata  map[string]string `json:"metadata"`
	Schema    string            `json:"schema"`
	Groups    []Group           `json:"row_groups"`
}

// Group is a row group.
type Group struct {
	Rows         int64    `json:"rows"`
	Offset       int64    `json:"offset"`
	Compressed   int64    `json:"compressed_bytes"`
	Uncompressed int64    `json:"uncompressed_bytes"`
	Sorted       []string `json:"sorting_columns,omitempty"`
	Columns      []Column `json:"columns"`
}

// Column is a column chunk. Sizes are in bytes and include the headers of its pages.
type Column struct {
	Path         string   `json:"path"`
	Type         string   `json:"type"`
	Codec        string   `json:"codec"`
	Encodings    []string `json:"encodings"` // of its data pages and, if it has one, its dictionary
	Values       int64    `json:"values"`
	Compressed   int64    `json:"compressed_bytes"`
	Uncompressed int64    `json:"uncompressed_bytes"`
	DataPages    int      `json:"data_pages"`
	PageVersion  int      `json:"page_version"`
	Dictionary   int64    `json:"dictionary_values,omitempty"`
	Checksums    bool     `json:"checksums"` // every page has one
	Nulls        *int64   `json:"null_count,omitempty"`
	Distinct     *int64   `json:"distinct_count,omitempty"`
	Min          *string  `json:"min,omitempty"`
	Max          *string  `json:"max,omitempty"`
	MinExact     *bool    `json:"min_exact,omitempty"`
	MaxExact     *bool    `json:"max_exact,omitempty"`
	ColumnIndex  bool     `json:"column_index"`
	OffsetIndex  bool     `json:"offset_index"`
	BloomFilter  int64    `json:"bloom_filter_bytes,omitempty"`
}

// Info reads the footer and the headers of all pages.
func (f *File) Info() (info Info, err error) {
	defer guard(&err)
	m := f.pq.Metadata()
	info = Info{
		File: f.f.Name(), Bytes: f.size, Rows: m.NumRows, CreatedBy: m.CreatedBy, Version: m.Version,
		Schema: f.pq.Schema().String(), Metadata: map[string]string{}, Groups: make([]Group, len(m.RowGroups)),
	}
	for _, kv := range m.KeyValueMetadata {
		info.Metadata[kv.Key] = kv.Value
	}
	for i, chunks := range f.chunks() {
		meta := &m.RowGroups[i]
		g := Group{
			Rows: meta.NumRows, Offset: meta.FileOffset, Uncompressed: meta.TotalByteSize,
			Columns: make([]Column, len(chunks)),
		}
		for _, s := range meta.SortingColumns {
			g.Sorted = append(g.Sorted, sortedBy(s, f.pq.Schema().Columns()))
		}
		for c, chunk := range chunks {
			if g.Columns[c], err = f.column(chunk, i, c); err != nil {
				return info, fmt.Errorf("row group %d: column %s: %w", i, strings.Join(meta.Columns[c].MetaData.PathInSchema, "."), err)
			}
			g.Compressed += g.Columns[c].Compressed
		}
		info.Groups[i] = g
	}
	return info, nil
}

// chunks returns the column chunks of every row group.
func (f *File) chunks() [][]*parquet.FileColumnChunk {
	groups := make([][]*parquet.FileColumnChunk, 0, len(f.pq.RowGroups()))
	for _, g := range f.pq.RowGroups() {
		var chunks []*parquet.FileColumnChunk
		for _, c := range g.ColumnChunks() {
			chunks = append(chunks, c.(*parquet.FileColumnChunk))
		}
		groups = append(groups, chunks)
	}
	return groups
}

func sortedBy(s format.SortingColumn, columns [][]string) string {
	name := fmt.Sprint("column ", s.ColumnIdx)
	if int(s.ColumnIdx) < len(columns) {
		name = strings.Join(columns[s.ColumnIdx], ".")
	}
	if s.Descending {
		name += " descending"
	}
	if s.NullsFirst {
		name += ", nulls first"
	}
	return name
}

func (f *File) column(chunk *parquet.FileColumnChunk, group, column int) (Column, error) {
	raw := &f.pq.Metadata().RowGroups[group].Columns[column]
	meta := &raw.MetaData
	c := Column{
		Path: strings.Join(meta.PathInSchema, "."), Type: chunk.Type().String(), Codec: meta.Codec.String(), Values: meta.NumValues,
		Compressed: meta.TotalCompressedSize, Uncompressed: meta.TotalUncompressedSize,
		ColumnIndex: raw.ColumnIndexOffset != 0, OffsetIndex: raw.OffsetIndexOffset != 0, Checksums: true,
	}
	if s := f.statistics(group, column); s != nil {
		c.Nulls, c.Distinct, c.MinExact, c.MaxExact = s.NullCount, s.DistinctCount, s.MinExact, s.MaxExact
		c.Min, c.Max = shown(chunk.Type(), s.MinValue), shown(chunk.Type(), s.MaxValue)
	}
	if filter, err := f.bloomFilter(chunk, meta); err != nil {
		return c, fmt.Errorf("bloom filter: %w", err)
	} else if filter != nil {
		c.BloomFilter = filter.Size()
	}
	return c, f.pages(meta, false, func(p Page, _ []byte) error {
		c.Checksums = c.Checksums && p.Checksum != nil
		name := p.Encoding.String()
		if p.Dictionary {
			c.Dictionary, name = p.Values, "dictionary "+name
		} else {
			c.DataPages++
			c.PageVersion = p.Version
		}
		if !slices.Contains(c.Encodings, name) {
			c.Encodings = append(c.Encodings, name)
		}
		return nil
	})
}

// shown returns a bound as text, nil if there is none.
func shown(t parquet.Type, plain []byte) *string {
	if plain == nil {
		return nil
	}
	text := fmt.Sprintf("%x", plain)
	if v, ok := valueOf(t, plain); ok {
		text = v.String()
	}
	return &text
}

// valueOf decodes a bound. It is false when the bytes are not of the size that the type has.
func valueOf(t parquet.Type, plain []byte) (parquet.Value, bool) {
	sizes := map[parquet.Kind]int{
		parquet.Boolean: 1, parquet.Int32: 4, parquet.Float: 4, parquet.Int64: 8, parquet.Double: 8, parquet.Int96: 12,
	}
	if want, fixed := sizes[t.Kind()]; fixed && len(plain) != want || t.Kind() == parquet.FixedLenByteArray && len(plain) != t.Length() {
		return parquet.Value{}, false
	}
	return t.Kind().Value(plain), true
}
