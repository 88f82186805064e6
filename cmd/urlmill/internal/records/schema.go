package records

import (
	"encoding/base64"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/flight"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
)

// arrowSchema is the key of the metadata under which writers of Arrow data keep their schema.
const arrowSchema = "ARROW:schema"

// restored returns the schema that a Parquet file was written from. pqarrow takes the types from it, but not the
// names and the nullability of list elements and no metadata, and adds field ids that are none (arrow v15).
func restored(s *arrow.Schema, r *file.Reader) *arrow.Schema {
	fields := slices.Clone(s.Fields())
	var written *arrow.Schema
	if text := r.MetaData().KeyValueMetadata().FindValue(arrowSchema); text != nil {
		if data, err := base64.StdEncoding.DecodeString(*text); err == nil {
			written, _ = flight.DeserializeSchema(data, memory.DefaultAllocator) // a broken one is as good as none
		}
	}
	for i := range fields {
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

// retyped returns a record with the same values under another schema of the same layout.
func retyped(r arrow.Record, s *arrow.Schema) arrow.Record {
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
