package iceberg

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	iceberg "github.com/apache/iceberg-go"
)

// mapping returns the name mapping of the table, by which the columns of files without identifiers are found. ok is false where
// somebody has removed it, so that most readers do not find them.
func (m *metadata) mapping(schema *iceberg.Schema) (_ iceberg.NameMapping, ok bool, err error) {
	text, ok := m.Properties[mappingKey]
	if !ok {
		return schema.NameMapping(), false, nil
	}
	var all iceberg.NameMapping
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, true, m.damaged("its property %s: %w", mappingKey, err)
	}
	return all, true, nil
}

// columns returns the columns of a schema by the names that they have in the files of the chain. A column that others have renamed
// keeps its name there.
func (m *metadata) columns(schema *iceberg.Schema) (map[string]iceberg.NestedField, error) {
	all, _, err := m.mapping(schema)
	if err != nil {
		return nil, err
	}
	found := map[string]iceberg.NestedField{}
	for _, f := range all {
		if i := slices.IndexFunc(schema.Fields(), func(c iceberg.NestedField) bool { return c.ID == f.ID() }); i >= 0 {
			for _, name := range f.Names {
				found[name] = schema.Field(i)
			}
		}
	}
	return found, nil
}

// named returns a mapping in which a column has a name that no other one has then.
func named(all iceberg.NameMapping, field iceberg.NestedField) iceberg.NameMapping {
	own := iceberg.NewSchema(0, field).NameMapping()[0]
	found := false
	for i := range all {
		f := &all[i]
		switch {
		case f.ID() != field.ID:
			f.Names = slices.DeleteFunc(f.Names, func(n string) bool { return n == field.Name })
		case !slices.Contains(f.Names, field.Name):
			f.Names, found = append(f.Names, field.Name), true
		default:
			found = true
		}
	}
	if !found {
		all = append(all, own)
	}
	return all
}

// widened returns the change by which a table gets the columns of rows that it lacks, and types as wide as theirs; nil if it has
// all that.
func widened(m *metadata, rows *arrow.Schema) (*change, error) {
	have, err := m.schema()
	if err != nil {
		return nil, err
	}
	mapping, mapped, err := m.mapping(have)
	if err != nil {
		return nil, err
	}
	columns, err := m.columns(have)
	if err != nil {
		return nil, err
	}
	fields, ids, changed := have.Fields(), idSource{last: m.LastColumn}, false
	taken := map[int]string{} // by identifier
	for _, f := range rows.Fields() {
		want, err := new(idSource).fields([]arrow.Field{f})
		if err != nil {
			return nil, err
		}
		there, ok := columns[f.Name]
		if !ok {
			if there, ok = have.FindFieldByName(f.Name); ok {
				mapping, mapped = named(mapping, there), false
			}
		}
		switch {
		case !ok:
			added, err := ids.fields([]arrow.Field{f})
			if err != nil {
				return nil, err
			}
			fields, mapping, changed = append(fields, added...), named(mapping, added[0]), true
		case taken[there.ID] != "":
			return nil, fmt.Errorf("its column %s is that of %s and of %s in the rows, since it was renamed: leave one of the two out with columns.exclude, "+
				"or rename it with columns.rename", there.Name, taken[there.ID], f.Name)
		case promotes(there.Type, want[0].Type):
			i := slices.IndexFunc(fields, func(c iceberg.NestedField) bool { return c.ID == there.ID })
			fields[i].Type, changed = want[0].Type, true
		case !promotes(want[0].Type, there.Type):
			if got, want := shape(there.Type), shape(want[0].Type); got != want {
				return nil, fmt.Errorf("its column %s is of type %s, and the rows have %s there: give the column another name with columns.rename, "+
					"or another table", f.Name, got, want)
			}
		}
		taken[there.ID] = f.Name
	}
	properties := map[string]string{mappingKey: string(encode(mapping))}
	if !changed {
		if mapped {
			return nil, nil
		}
		return &change{properties: properties}, nil
	}
	next := 0
	for _, s := range m.Schemas {
		next = max(next, s.ID+1)
	}
	schema := iceberg.NewSchemaWithIdentifiers(next, have.IdentifierFieldIDs, fields...)
	return &change{schema: schema, lastColumn: ids.last, properties: properties}, nil
}

// promotes reports whether values of one type may be read as another, wider one, as Iceberg has it.
func promotes(narrow, wide iceberg.Type) bool {
	switch narrow.(type) {
	case iceberg.Int32Type:
		return wide == iceberg.PrimitiveTypes.Int64
	case iceberg.Float32Type:
		return wide == iceberg.PrimitiveTypes.Float64
	}
	return false
}
