package codec

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// CarriedField is a part of the record that goes along with its URL.
type CarriedField struct {
	// Name is the name of its column. It must be given and be unique.
	Name string
	// Pointer points to it. Empty: the whole record.
	Pointer string
	// Type is the type of its column, String by default.
	Type pipeline.FieldType
	// Time says how a Timestamp is written, RFC 3339 by default.
	Time TimeFormat
}

// CarriedColumn is a column of the input, such as one of a table, that goes along with the URL.
type CarriedColumn struct {
	// Name is the name of its column in the output. It must be given and be unique.
	Name string
	// Column is its name in the input, Name by default.
	Column string
	// Type is the type of its column, String by default.
	Type pipeline.FieldType
	// Time says how a Timestamp is written where the input does not say that it is one, RFC 3339 by default.
	Time TimeFormat
}

// Source returns the name in the input.
func (c *CarriedColumn) Source() string { return cmp.Or(c.Column, c.Name) }

// CarriedFields is a list of fields in a configuration.
func CarriedFields(carry *[]CarriedField) config.Value {
	return config.List(carry, func() CarriedField { return CarriedField{} }, "[{name: user_id, pointer: /user/id, type: int64}]", func(c *CarriedField) config.Section {
		return carriedSection(&c.Name, config.Field{
			Name: "pointer", Doc: "Pointer to the value.", Value: config.Pointer(&c.Pointer, true), Example: "pointer: /user/id",
		}, &c.Type, pipeline.FieldTypes(), &c.Time)
	})
}

// CarriedColumns is a list of columns in a configuration that may have one of types.
func CarriedColumns(carry *[]CarriedColumn, types []pipeline.FieldType) config.Value {
	return config.List(carry, func() CarriedColumn { return CarriedColumn{} }, "[{name: user_id, type: int64}]", func(c *CarriedColumn) config.Section {
		return carriedSection(&c.Name, config.Field{
			Name: "column", Doc: "Column of the input. Not set: the one called as name.", Value: config.Text(&c.Column, "user"),
		}, &c.Type, types, &c.Time)
	})
}

// carriedSection is the section of a value that goes along. from is the key that says where it is.
func carriedSection(name *string, from config.Field, typ *pipeline.FieldType, types []pipeline.FieldType, time *TimeFormat) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "name", Doc: "Name of the column.", Value: config.Text(name, "user_id"), Example: "name: user_id"},
		from,
		{Name: "type", Doc: "Type of the column.", Value: config.Stringers(typ, types...)},
		{Name: "time", Doc: "How a timestamp is written: RFC 3339, or a number since 1970 in that unit.", Value: config.Stringers(time, timeFormats()...)},
	}}
}

// FieldsOf returns the fields of the columns.
func FieldsOf(carry []CarriedColumn) []pipeline.Field {
	var fields []pipeline.Field
	for _, c := range carry {
		fields = append(fields, pipeline.Field{Name: c.Name, Type: c.Type})
	}
	return fields
}

// carryKey is where a configuration has what goes along.
func carryKey(i int) string { return fmt.Sprintf("carry[%d]", i) }

// checkFields adds what is wrong with carry, but for the pointers.
func checkFields(carry []CarriedField, p *pipeline.Problems) {
	all := make([]carried, len(carry))
	for i, c := range carry {
		all[i] = carried{c.Name, c.Type, c.Time}
	}
	checkCarried(all, pipeline.FieldTypes(), p)
}

// CheckColumns adds what is wrong with carry, whose types may be those.
func CheckColumns(carry []CarriedColumn, types []pipeline.FieldType, p *pipeline.Problems) {
	all := make([]carried, len(carry))
	for i, c := range carry {
		all[i] = carried{c.Name, c.Type, c.Time}
	}
	checkCarried(all, types, p)
}

// carried is what all that goes along has.
type carried struct {
	name string
	typ  pipeline.FieldType
	time TimeFormat
}

func checkCarried(all []carried, types []pipeline.FieldType, p *pipeline.Problems) {
	for i, c := range all {
		at := carryKey(i)
		if c.name == "" {
			p.Add(at+".name", "empty").Advise("give the name of the column")
		} else if first := slices.IndexFunc(all, func(other carried) bool { return other.name == c.name }); first < i {
			p.Value(at+".name", c.name, "is the name of %s already", carryKey(first)).Advise("give each a name of its own")
		}
		if !slices.Contains(types, c.typ) {
			p.Value(at+".type", c.typ, "is none of %v", types)
		}
		if c.time >= numTimeFormats {
			p.Add(at+".time", "unknown")
		} else if c.time != RFC3339 && c.typ != pipeline.Timestamp {
			p.Add(at+".time", "for timestamps only").Advise("take it out, or give type: timestamp")
		}
	}
}
