package codec

import (
	"slices"

	"github.com/urlmill/urlmill/pipeline"
)

// CarriedColumn is a column of the input, such as one of a table, that goes along with the URL.
type CarriedColumn struct {
	// Name is the name of its column in the output. It must be given and be unique.
	Name string
	// Column is its name in the input. It must be given.
	Column string
	// Type is the type of its column, String by default.
	Type pipeline.FieldType
	// Time says how a Timestamp is written where the input does not say that it is one, RFC 3339 by default.
	Time TimeFormat
}

// CheckNames calls add with what is wrong with the names of carry[i]. A message begins with the name of the field and a colon.
func CheckNames(carry []CarriedColumn, i int, add func(format string, args ...any)) {
	c := &carry[i]
	if c.Name == "" || c.Column == "" {
		add("Carry[%d]: give both the name of the column and that of the output", i)
	}
	if j := slices.IndexFunc(carry, func(other CarriedColumn) bool { return other.Name == c.Name }); j < i {
		add("Carry[%d].Name: %q is the name of Carry[%d] already", i, c.Name, j)
	}
}
