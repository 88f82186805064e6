package iceberg

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	iceberg "github.com/apache/iceberg-go"
)

// errSpread says that the rows of a file are of more than one partition, or that what the file says of them does not tell.
var errSpread = errors.New("its rows are not known to be of one partition")

// layout is how files may be put into a table: in one of its partition specs.
type layout struct {
	columns map[string]iceberg.NestedField // by their names in files
	specs   []iceberg.PartitionSpec        // the default one first, and then the newest
}

// layout returns how files may be put into the table. Specs of columns that are gone, or of transforms that are not known here, are
// left out.
func (m *metadata) layout(schema *iceberg.Schema) (*layout, error) {
	columns, err := m.columns(schema)
	if err != nil {
		return nil, err
	}
	l := &layout{columns: columns}
	var ids []int
	for _, raw := range m.Specs {
		ids = append(ids, specID(*raw))
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	for _, id := range append([]int{m.DefaultSpec}, ids...) {
		if slices.ContainsFunc(l.specs, func(s iceberg.PartitionSpec) bool { return s.ID() == id }) {
			continue
		}
		s, err := m.spec(id)
		if err != nil {
			if id == m.DefaultSpec {
				return nil, err
			}
			continue
		}
		if usable(s, schema) {
			l.specs = append(l.specs, s)
		}
	}
	return l, nil
}

// usable reports whether files can be put into a partition spec of a table with a schema.
func usable(s iceberg.PartitionSpec, schema *iceberg.Schema) bool {
	for i := range s.NumFields() {
		p := s.Field(i)
		if _, unknown := p.Transform.(iceberg.UnknownTransform); unknown || len(p.SourceIDs) != 1 {
			return false
		}
		if f, ok := schema.FindFieldByID(p.SourceIDs[0]); !ok || !p.Transform.CanTransform(f.Type) {
			return false
		}
	}
	return true
}

// partitionOf returns what a file with the given columns has in the fields of a partition spec, and which of that has a type of its
// own in Avro. The error is [errSpread] if its rows are not of one partition.
func partitionOf(s iceberg.PartitionSpec, columns map[int]*column) (values map[int]any, logical map[int]string, err error) {
	values, logical = map[int]any{}, map[int]string{}
	for i := range s.NumFields() {
		p := s.Field(i)
		v, err := partitionValue(p, columns[p.SourceIDs[0]])
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		values[p.FieldID] = v
		switch v.(type) {
		case iceberg.Date:
			logical[p.FieldID] = "date"
		case iceberg.Timestamp:
			logical[p.FieldID] = "timestamp-micros"
		}
	}
	return values, logical, nil
}

// partitionValue returns the value of a partition field that all rows of a file have, by the least and the greatest value of its
// column; nil if the column is null in all of them.
func partitionValue(p iceberg.PartitionField, c *column) (any, error) {
	if _, none := p.Transform.(iceberg.VoidTransform); none || c == nil || c.values == c.nulls {
		return nil, nil
	}
	switch c.field.Type.(type) {
	case iceberg.Float32Type, iceberg.Float64Type: // of which some are equal and not the same
		return nil, errSpread
	}
	if !c.bounded || c.lower == nil || c.nulls > 0 || !p.Transform.PreservesOrder() && !bytes.Equal(c.lower, c.upper) {
		return nil, errSpread
	}
	var ends [2]any
	for i, b := range [][]byte{c.lower, c.upper} {
		l, err := iceberg.LiteralFromBytes(c.field.Type, b)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errSpread, err)
		}
		if of := p.Transform.Apply(iceberg.Optional[iceberg.Literal]{Valid: true, Val: l}); of.Valid {
			ends[i] = of.Val.Any()
		}
	}
	if b, ok := ends[0].([]byte); ok {
		if other, ok := ends[1].([]byte); !ok || !bytes.Equal(b, other) {
			return nil, errSpread
		}
		return b, nil
	}
	if ends[0] == nil || ends[0] != ends[1] {
		return nil, errSpread
	}
	return ends[0], nil
}
