package config

import (
	"reflect"
	"strings"
	"unicode"
)

// Changed returns the names of the sections in which other differs, such as "sink", in the order of the file; that of
// the level of the log, which can be changed while it is used, does not count. Values count as they are after
// substitution.
func (c *Config) Changed(other *Config) []string {
	now := *other
	now.Log.Level = c.Log.Level
	a, b := reflect.ValueOf(*c), reflect.ValueOf(now)
	var names []string
	for i := range a.NumField() {
		f := a.Type().Field(i)
		if f.IsExported() && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			names = append(names, sectionName(f.Name))
		}
	}
	return names
}

// sectionName returns the key of a field of [Config]: memory_limit for MemoryLimit.
func sectionName(field string) string {
	var b strings.Builder
	for i, r := range field {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
