package iceberg

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	iceberg "github.com/apache/iceberg-go"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/partition"
)

// schemaOf returns the schema of a table for rows of an Arrow schema. All columns may be null, so that some can be left out
// later. Identifiers are given level by level, as Iceberg itself does.
func schemaOf(s *arrow.Schema) (*iceberg.Schema, error) {
	var ids idSource
	fields, err := ids.fields(s.Fields())
	if err != nil {
		return nil, err
	}
	return iceberg.NewSchema(0, fields...), nil
}

// idSource gives identifiers of fields.
type idSource struct{ last int }

func (i *idSource) next() int {
	i.last++
	return i.last
}

func (i *idSource) fields(from []arrow.Field) ([]iceberg.NestedField, error) {
	fields := make([]iceberg.NestedField, len(from))
	for n, f := range from {
		fields[n] = iceberg.NestedField{ID: i.next(), Name: f.Name}
	}
	for n, f := range from {
		t, err := i.typeOf(f.Type)
		if err != nil {
			return nil, pipeline.FieldErrorf("", "column %q: %w", pipeline.Column(f.Name), err)
		}
		fields[n].Type = t
	}
	return fields, nil
}

// simple are the types that have one of Iceberg's. A narrow integer becomes the next wider one, as in Parquet.
var simple = map[arrow.Type]iceberg.Type{
	arrow.BOOL:         iceberg.PrimitiveTypes.Bool,
	arrow.INT8:         iceberg.PrimitiveTypes.Int32,
	arrow.INT16:        iceberg.PrimitiveTypes.Int32,
	arrow.INT32:        iceberg.PrimitiveTypes.Int32,
	arrow.UINT8:        iceberg.PrimitiveTypes.Int32,
	arrow.UINT16:       iceberg.PrimitiveTypes.Int32,
	arrow.INT64:        iceberg.PrimitiveTypes.Int64,
	arrow.FLOAT32:      iceberg.PrimitiveTypes.Float32,
	arrow.FLOAT64:      iceberg.PrimitiveTypes.Float64,
	arrow.STRING:       iceberg.PrimitiveTypes.String,
	arrow.LARGE_STRING: iceberg.PrimitiveTypes.String,
	arrow.BINARY:       iceberg.PrimitiveTypes.Binary,
	arrow.LARGE_BINARY: iceberg.PrimitiveTypes.Binary,
	arrow.DATE32:       iceberg.PrimitiveTypes.Date,
}

func (i *idSource) typeOf(t arrow.DataType) (iceberg.Type, error) {
	if s, ok := simple[t.ID()]; ok {
		return s, nil
	}
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return i.typeOf(t.ValueType)
	case *arrow.FixedSizeBinaryType:
		return iceberg.FixedTypeOf(t.ByteWidth), nil
	case *arrow.TimestampType:
		if t.Unit != arrow.Microsecond {
			break
		}
		if t.TimeZone == "" {
			return iceberg.PrimitiveTypes.Timestamp, nil
		}
		return iceberg.PrimitiveTypes.TimestampTz, nil
	case *arrow.ListType:
		return i.list(t.Elem())
	case *arrow.LargeListType:
		return i.list(t.Elem())
	case *arrow.MapType:
		m := &iceberg.MapType{KeyID: i.next(), ValueID: i.next()}
		var err error
		if m.KeyType, err = i.typeOf(t.KeyType()); err == nil {
			m.ValueType, err = i.typeOf(t.ItemType())
		}
		return m, err
	case *arrow.StructType:
		fields, err := i.fields(t.Fields())
		return &iceberg.StructType{FieldList: fields}, err
	}
	return nil, fmt.Errorf("there is no type for %s in an Iceberg table; leave the column out with columns.exclude", t)
}

func (i *idSource) list(element arrow.DataType) (iceberg.Type, error) {
	l := &iceberg.ListType{ElementID: i.next()}
	var err error
	l.Element, err = i.typeOf(element)
	return l, err
}

// specOf returns how a table is partitioned whose files are in directories by the given expressions.
//
// Texts are left out: a directory's name cannot tell an empty one from null, so that a file may have both, which Iceberg
// does not allow. Readers leave out the same files by the bounds of the column. hour() is that of the day and Iceberg's
// hour counts from 1970, and bucket() has another hash.
func specOf(by []string, s *iceberg.Schema) (*iceberg.PartitionSpec, error) {
	keys, err := partition.ParseAll(by)
	if err != nil {
		return nil, err
	}
	var fields []iceberg.PartitionField
	for _, k := range keys {
		f, ok := s.FindFieldByName(k.Column)
		if !ok {
			return nil, fmt.Errorf("there is no column %q to partition by", k.Column)
		}
		field := iceberg.PartitionField{SourceIDs: []int{f.ID}, FieldID: 1000 + len(fields), Name: k.Name}
		switch _, isText := f.Type.(iceberg.StringType); {
		case k.Func == "date":
			field.Transform = iceberg.DayTransform{}
			if _, taken := s.FindFieldByName(k.Name); taken {
				field.Name += "_day"
			}
		case k.Func == "" && !isText && f.Type != iceberg.PrimitiveTypes.Binary:
			// Iceberg wants the name of the column for its values.
			field.Name, field.Transform = k.Column, iceberg.IdentityTransform{}
		default:
			continue
		}
		fields = append(fields, field)
	}
	spec := iceberg.NewPartitionSpec(fields...)
	return &spec, nil
}
