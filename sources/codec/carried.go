package codec

import (
	"fmt"
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

// carryKey is where a configuration has what goes along.
func carryKey(i int) string { return fmt.Sprintf("carry[%d]", i) }

// CheckNames adds what is wrong with the names of carry[i], which is at the key that it returns.
func CheckNames(carry []CarriedColumn, i int, p *pipeline.Problems) (key string) {
	key = carryKey(i)
	c := &carry[i]
	if c.Name == "" || c.Column == "" {
		p.Add(key, "give both the name of the column and that of the output")
	}
	if j := slices.IndexFunc(carry, func(other CarriedColumn) bool { return other.Name == c.Name }); j < i {
		p.Value(key+".name", c.Name, "is the name of %s already", carryKey(j))
	}
	return key
}
