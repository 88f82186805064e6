package parquet

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// rootOf maps an Arrow schema to a Parquet one, after the format's LogicalTypes.md: lists and maps have the
// three levels that are described there, an element is optional only where it can be null, and the root is
// required. (arrow v15's own mapping makes every element optional and the root repeated.)
func rootOf(s *arrow.Schema) (*schema.GroupNode, error) {
	fields := make(schema.FieldList, 0, s.NumFields())
	seen := make(map[string]bool, s.NumFields())
	for _, f := range s.Fields() {
		if seen[f.Name] {
			return nil, fmt.Errorf("two columns are named %s; rename one", f.Name)
		}
		seen[f.Name] = true
		n, err := nodeOf(f.Name, f)
		if err != nil {
			return nil, err
		}
		fields = append(fields, n)
	}
	return schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
}

func repetition(nullable bool) parquet.Repetition {
	if nullable {
		return parquet.Repetitions.Optional
	}
	return parquet.Repetitions.Required
}

// nodeOf maps a field, which is named name in the file.
func nodeOf(name string, f arrow.Field) (schema.Node, error) {
	rep := repetition(f.Nullable)
	switch dt := f.Type.(type) {
	case *arrow.ListType:
		return listOf(name, rep, dt.ElemField())
	case *arrow.LargeListType:
		return listOf(name, rep, dt.ElemField())
	case *arrow.MapType:
		key, err := nodeOf("key", dt.KeyField())
		if err != nil {
			return nil, err
		}
		value, err := nodeOf("value", dt.ItemField())
		if err != nil {
			return nil, err
		}
		return schema.MapOf(name, key, value, rep, -1)
	case *arrow.StructType:
		fields := make(schema.FieldList, 0, dt.NumFields())
		for _, child := range dt.Fields() {
			n, err := nodeOf(child.Name, child)
			if err != nil {
				return nil, err
			}
			fields = append(fields, n)
		}
		return schema.NewGroupNode(name, rep, fields, -1)
	}
	p, err := primitiveOf(f)
	if err != nil {
		return nil, err
	}
	return schema.NewPrimitiveNodeLogical(name, rep, p.logical, p.physical, p.length, -1)
}

func listOf(name string, rep parquet.Repetition, elem arrow.Field) (schema.Node, error) {
	n, err := nodeOf("element", elem)
	if err != nil {
		return nil, err
	}
	return schema.ListOfWithName(name, n, rep, -1)
}

// primitive is how the values of a leaf are stored.
type primitive struct {
	physical parquet.Type
	logical  schema.LogicalType
	length   int // of FIXED_LEN_BYTE_ARRAY, else -1
}

func primitiveOf(f arrow.Field) (primitive, error) {
	none := schema.NoLogicalType{}
	types := parquet.Types
	switch dt := f.Type.(type) {
	case *arrow.BooleanType:
		return primitive{types.Boolean, none, -1}, nil
	case *arrow.Int8Type:
		return primitive{types.Int32, schema.NewIntLogicalType(8, true), -1}, nil
	case *arrow.Uint8Type:
		return primitive{types.Int32, schema.NewIntLogicalType(8, false), -1}, nil
	case *arrow.Int16Type:
		return primitive{types.Int32, schema.NewIntLogicalType(16, true), -1}, nil
	case *arrow.Uint16Type:
		return primitive{types.Int32, schema.NewIntLogicalType(16, false), -1}, nil
	case *arrow.Int32Type:
		return primitive{types.Int32, schema.NewIntLogicalType(32, true), -1}, nil
	case *arrow.Uint32Type:
		return primitive{types.Int32, schema.NewIntLogicalType(32, false), -1}, nil
	case *arrow.Int64Type:
		return primitive{types.Int64, schema.NewIntLogicalType(64, true), -1}, nil
	case *arrow.Uint64Type:
		return primitive{types.Int64, schema.NewIntLogicalType(64, false), -1}, nil
	case *arrow.Float32Type:
		return primitive{types.Float, none, -1}, nil
	case *arrow.Float64Type:
		return primitive{types.Double, none, -1}, nil
	case *arrow.Date32Type:
		return primitive{types.Int32, schema.DateLogicalType{}, -1}, nil
	case *arrow.TimestampType:
		return primitive{types.Int64, timestampOf(dt), -1}, nil
	case *arrow.StringType, *arrow.LargeStringType:
		return primitive{types.ByteArray, schema.StringLogicalType{}, -1}, nil
	case *arrow.BinaryType, *arrow.LargeBinaryType:
		return primitive{types.ByteArray, none, -1}, nil
	case *arrow.FixedSizeBinaryType:
		return primitive{types.FixedLenByteArray, none, dt.ByteWidth}, nil
	}
	return primitive{}, fmt.Errorf("column %s: Parquet files with the type %s are not supported; leave the column out", f.Name, f.Type)
}

// timestampOf maps a timestamp. Parquet has no seconds: those are stored as milliseconds.
func timestampOf(t *arrow.TimestampType) schema.LogicalType {
	unit := schema.TimeUnitMicros
	switch t.Unit {
	case arrow.Second, arrow.Millisecond:
		unit = schema.TimeUnitMillis
	case arrow.Nanosecond:
		unit = schema.TimeUnitNanos
	}
	// The force variant also writes the older converted type, for readers that know no other.
	return schema.NewTimestampLogicalTypeForce(t.TimeZone != "", unit)
}
