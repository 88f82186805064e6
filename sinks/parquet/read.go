package parquet

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/urlmill/urlmill/sinks/parquet/encode"
)

// arrowSchema is the key of the metadata under which writers of Arrow data keep their schema.
const arrowSchema = "ARROW:schema"

// Restored returns the schema that a Parquet file was written from; s is what pqarrow makes of it. pqarrow takes the types
// from it, but not the names and the nullability of list elements and no metadata, adds field ids that are none, and says of
// all timestamps that they are UTC (arrow v15).
func Restored(s *arrow.Schema, r *file.Reader) *arrow.Schema {
	fields := slices.Clone(s.Fields())
	var written *arrow.Schema
	if text := r.MetaData().KeyValueMetadata().FindValue(arrowSchema); text != nil {
		written = deserialize(*text)
	}
	column := 0
	next := func() *schema.Column {
		column++
		return r.MetaData().Schema.Column(column - 1)
	}
	for i := range fields {
		fields[i].Type = localTimes(fields[i].Type, next)
		fields[i].Metadata = arrow.Metadata{}
		if written == nil || len(written.Fields()) != len(fields) {
			continue
		}
		if f := written.Field(i); f.Name == fields[i].Name && f.Nullable == fields[i].Nullable && sameLayout(f.Type, fields[i].Type) {
			fields[i] = f
		}
	}
	return arrow.NewSchema(fields, nil)
}

// localTimes returns t with timestamps that are not of UTC by their columns in the file, of which next returns those of t.
func localTimes(t arrow.DataType, next func() *schema.Column) arrow.DataType {
	local := func(f arrow.Field) arrow.Field {
		f.Type = localTimes(f.Type, next)
		return f
	}
	switch t := t.(type) {
	case *arrow.TimestampType:
		if logical, ok := next().LogicalType().(*schema.TimestampLogicalType); ok && !logical.IsAdjustedToUTC() {
			return &arrow.TimestampType{Unit: t.Unit}
		}
		return t
	case *arrow.ListType:
		return arrow.ListOfField(local(t.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(local(t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), local(t.ElemField()))
	case *arrow.StructType:
		fields := slices.Clone(t.Fields())
		for i := range fields {
			fields[i] = local(fields[i])
		}
		return arrow.StructOf(fields...)
	case *arrow.MapType:
		m := arrow.MapOf(localTimes(t.KeyType(), next), localTimes(t.ItemType(), next))
		m.KeysSorted = t.KeysSorted
		m.SetItemNullable(t.ItemField().Nullable)
		return m
	case arrow.ExtensionType:
		localTimes(t.StorageType(), next)
		return t
	}
	next()
	return t
}

// deserialize is the inverse of serialize, nil for what it cannot read: that is as good as none.
func deserialize(text string) *arrow.Schema {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	r, err := ipc.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	defer r.Release()
	return r.Schema()
}

// sameLayout tells whether arrays of two types have the same buffers and children, so that one stands for the other.
func sameLayout(a, b arrow.DataType) bool {
	x, nested := a.(arrow.NestedType)
	y, alsoNested := b.(arrow.NestedType)
	if !nested || !alsoNested {
		return arrow.TypeEqual(a, b)
	}
	if a.ID() != b.ID() || len(x.Fields()) != len(y.Fields()) {
		return false
	}
	for i, f := range x.Fields() {
		g := y.Fields()[i]
		if a.ID() == arrow.STRUCT && f.Name != g.Name || !sameLayout(f.Type, g.Type) {
			return false
		}
	}
	return true
}

// Retyped returns a record with the same values under another schema of the same layout.
func Retyped(r arrow.Record, s *arrow.Schema) arrow.Record {
	columns := make([]arrow.Array, r.NumCols())
	for i := range columns {
		data := retypedData(r.Column(i).Data(), s.Field(i).Type)
		columns[i] = array.MakeFromData(data)
		data.Release()
	}
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	return array.NewRecord(s, columns, r.NumRows())
}

func retypedData(d arrow.ArrayData, t arrow.DataType) arrow.ArrayData {
	n, ok := t.(arrow.NestedType)
	if t.ID() == arrow.TIMESTAMP {
		return array.NewData(t, d.Len(), d.Buffers(), nil, d.NullN(), d.Offset())
	}
	if !ok || t.ID() == arrow.DICTIONARY {
		d.Retain()
		return d
	}
	children := make([]arrow.ArrayData, len(d.Children()))
	for i, c := range d.Children() {
		children[i] = retypedData(c, n.Fields()[i].Type)
		defer children[i].Release()
	}
	return array.NewData(t, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}

// Reader reads the rows of a file that this package has written, one row group at a time. (pqarrow's RecordReader panics
// where a batch ends within a page of an INT64 column that has nulls and a delta encoding: its decoder forgets where it was,
// arrow v15.)
type Reader struct {
	schema *arrow.Schema
	r      *file.Reader
	fr     *pqarrow.FileReader
	leaves []int
	next   int // row group
}

// readRows is how many rows a record has at most.
const readRows = 8 << 10

// NewReader returns a reader of a file of the given size. The bytes are known to be those that were written: some damage
// ends the process.
func NewReader(f io.ReaderAt, size int64) (*Reader, error) {
	r, err := file.NewParquetReader(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, err
	}
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: readRows}, memory.DefaultAllocator)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	read, err := fr.Schema()
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	out := &Reader{schema: Restored(read, r), r: r, fr: fr}
	for i := range r.MetaData().Schema.NumColumns() {
		out.leaves = append(out.leaves, i)
	}
	return out, nil
}

// Schema returns that of the records, without metadata of its own.
func (r *Reader) Schema() *arrow.Schema { return r.schema }

// Rows returns the number of rows in the file.
func (r *Reader) Rows() int64 { return r.r.NumRows() }

// Metadata returns the key-value metadata of the file, without the schema.
func (r *Reader) Metadata() []encode.KeyValue {
	md := r.r.MetaData().KeyValueMetadata()
	var kvs []encode.KeyValue
	for i, key := range md.Keys() {
		if key != arrowSchema {
			kvs = append(kvs, encode.KeyValue{Key: key, Value: md.Values()[i]})
		}
	}
	return kvs
}

// Compression returns how the pages are compressed, by the name that [Options] has for it; "" if the file has none or is
// not from here.
func (r *Reader) Compression() string {
	if r.r.NumRowGroups() == 0 {
		return ""
	}
	c, err := r.r.MetaData().RowGroup(0).ColumnChunk(0)
	if err != nil {
		return ""
	}
	for name, codec := range codecs {
		if codec.codec == encode.Codec(c.Compression()) {
			return name
		}
	}
	return ""
}

// Each calls f with all rows, in order. A record is valid until f returns.
func (r *Reader) Each(ctx context.Context, f func(arrow.Record) error) (err error) {
	for ; r.next < r.r.NumRowGroups(); r.next++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.group(ctx, f); err != nil {
			return fmt.Errorf("row group %d: %w", r.next, err)
		}
	}
	return nil
}

func (r *Reader) group(ctx context.Context, f func(arrow.Record) error) error {
	table, err := r.fr.ReadRowGroups(ctx, r.leaves, []int{r.next})
	if err != nil {
		return err
	}
	defer table.Release()
	rows := array.NewTableReader(table, readRows)
	defer rows.Release()
	for rows.Next() {
		rec := Retyped(rows.Record(), r.schema)
		err := f(rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

// Close lets go of the file, which stays open.
func (r *Reader) Close() error { return r.r.Close() }
