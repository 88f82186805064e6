package avrorow

import (
	"strings"

	"github.com/twmb/avro"
)

// Same reports whether a schema describes the same bytes with the same meaning: names, types and logical types, in that
// order. Documentation, defaults, aliases and properties are of no account.
func (r *Rows) Same(text string) bool {
	mine, err := avro.Parse(r.text)
	if err != nil {
		return false
	}
	other, err := avro.Parse(text)
	return err == nil && same(mine.Root(), other.Root())
}

func same(a, b *avro.SchemaNode) bool {
	if (a == nil) != (b == nil) {
		return false
	}
	if a == nil {
		return true
	}
	if a.Type != b.Type || a.LogicalType != b.LogicalType || fullName(a) != fullName(b) || a.Size != b.Size ||
		a.Precision != b.Precision || a.Scale != b.Scale || len(a.Fields) != len(b.Fields) || len(a.Branches) != len(b.Branches) {
		return false
	}
	for i := range a.Fields {
		if a.Fields[i].Name != b.Fields[i].Name || !same(&a.Fields[i].Type, &b.Fields[i].Type) {
			return false
		}
	}
	for i := range a.Branches {
		if !same(&a.Branches[i], &b.Branches[i]) {
			return false
		}
	}
	return same(a.Items, b.Items) && same(a.Values, b.Values)
}

func fullName(s *avro.SchemaNode) string {
	if s.Namespace == "" || strings.Contains(s.Name, ".") {
		return s.Name
	}
	return s.Namespace + "." + s.Name
}
