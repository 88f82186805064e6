package config

import (
	"reflect"
	"slices"
)

// Change is a key whose value differs between two configurations.
type Change struct {
	Path string
	// From and To are the values as they would be written, "" where there is none. Secrets are not shown.
	From, To string
	// Reason says why a pipeline that runs cannot take the new value over; "" when it can.
	Reason string
}

// Changes returns the keys in which two configurations differ that are bound to variables of their own, in the order of their
// sections. Values count as they are after substitution.
func Changes(a, b Section) []Change { return changes("", "", a, b) }

func changes(path, fixed string, a, b Section) (all []Change) {
	for i, f := range a.Fields {
		at, why := Join(path, f.Name), fixed
		if f.Fixed != "" {
			why = f.Fixed
		}
		x, y := f.Value, b.Fields[i].Value
		switch v := x.(type) {
		case sectionValue:
			if v.there() && y.(sectionValue).there() {
				all = append(all, changes(at, why, v.section(), y.(sectionValue).section())...)
				continue
			}
		case eitherValue:
			if s := v.section.Value.(sectionValue); s.there() && v.get() == y.get() {
				if len(changes(at, why, v.mapping(), y.(eitherValue).mapping())) == 0 {
					continue
				}
				all = append(all, Change{Path: at, Reason: why})
				continue
			}
		}
		if reflect.DeepEqual(x.get(), y.get()) {
			continue
		}
		if f.Live {
			why = ""
		}
		all = append(all, Change{Path: at, From: shown(x), To: shown(y), Reason: why})
	}
	return all
}

// Overlay returns base with the values of live where a running pipeline takes them over. Both are of the same keys.
func Overlay(base, live Section) Section {
	fields := slices.Clone(base.Fields)
	for i := range fields {
		f := &fields[i]
		v, section := f.Value.(sectionValue)
		other := live.Fields[i].Value
		switch {
		case f.Live:
			f.Value = other
		case section && v.there() && other.(sectionValue).there():
			f.Value = Map(Overlay(v.section(), other.(sectionValue).section()))
		}
	}
	base.Fields = fields
	return base
}

// Setting is a key with the value that it has.
type Setting struct{ Path, Value string }

// Settings returns the values of a configuration that are not empty, by their keys, as they would be written. Secrets are not
// shown.
func Settings(root Section) []Setting { return settings("", root) }

func settings(path string, s Section) (all []Setting) {
	for _, f := range s.Fields {
		at := Join(path, f.Name)
		switch v := f.Value.(type) {
		case sectionValue:
			if v.there() {
				all = append(all, settings(at, v.section())...)
			}
			continue
		case eitherValue:
			if v.text == nil || *v.text == "" {
				all = append(all, settings(at, v.mapping())...)
				continue
			}
		}
		if text := written(f.Value); text != "" {
			all = append(all, Setting{at, text})
		}
	}
	return all
}

// shown returns a value as it would be written, also one that stands for none.
func shown(v Value) string {
	if single, ok := v.(Single); ok && single.Current != nil {
		return single.Current()
	}
	return written(v)
}

// written returns a value as it would be written, "" for one that is not there.
func written(v Value) string {
	if reflect.ValueOf(v.get()).IsZero() {
		return ""
	}
	switch v := v.(type) {
	case Single:
		if v.Current == nil {
			return redacted
		}
		return v.Current()
	case eitherValue:
		if v.text != nil {
			return *v.text
		}
	case listValue:
		return v.text()
	case pairsValue:
		return v.text()
	}
	return ""
}
