package config

import (
	"reflect"
	"strings"
)

// Change is a key whose value differs between two configurations. It does not have the values, which may be secrets.
type Change struct {
	Path string
	// Reason says why a pipeline that runs cannot take the new value over; "" when it can.
	Reason string
}

// live are the keys that can change while a pipeline runs.
var live = map[string]bool{
	"log.level": true, "columns.tracking_rules": true, "columns.public_suffix_list": true, "pipeline.rate": true, "source.generate.rate": true,
}

// reasons say why keys cannot change while a pipeline runs, by the longest beginning of their path.
var reasons = map[string]string{
	"source":       "connections, positions and lanes were made with it",
	"columns":      "open files have the columns that there were when they were opened",
	"on_error":     "rows that are under way were sorted by it",
	"dedupe":       "the state on disk is open and was made with it",
	"sink":         "files are open and positions kept where it says",
	"pipeline":     "batches and goroutines were made by it",
	"memory_limit": "all memory was divided by it",
	"log":          "the log has begun in that format",
	"admin":        "the listener is open",
	"tracing":      "the exporter is running",
}

// Changes returns the keys in which other differs, in the order of the file's sections. Values count as they are after
// substitution.
func (c *Config) Changes(other *Config) []Change {
	w := changeWalk{keys: map[string]string{}, sections: map[string]bool{}}
	for _, k := range Keys() {
		path, _, _ := strings.Cut(k.Path, "[]")
		w.keys[folded(path)] = path
		w.sections[path] = k.Section
	}
	w.compare("", reflect.ValueOf(*c), reflect.ValueOf(*other))
	return w.found
}

// WithLive returns c with what can change while a pipeline runs as other has it. The result shares the rest with c.
func (c *Config) WithLive(other *Config) *Config {
	next := *c
	next.Log.Level = other.Log.Level
	next.Columns.TrackingRules, next.Columns.PublicSuffixList = other.Columns.TrackingRules, other.Columns.PublicSuffixList
	next.Pipeline.Rate = other.Pipeline.Rate
	if g, o := c.Source.Generate, other.Source.Generate; g != nil && o != nil {
		generate := *g
		generate.Rate = o.Rate
		next.Source.Generate = &generate
	}
	return &next
}

// changeWalk finds changes. Fields of structs are told by the keys that they are named like.
type changeWalk struct {
	keys     map[string]string // paths by their folded form
	sections map[string]bool   // by path
	found    []Change
}

// folded returns a path without what keys and fields are spelled differently by.
func folded(path string) string { return strings.ToLower(strings.ReplaceAll(path, "_", "")) }

// compare notes what differs in two values at path.
func (w *changeWalk) compare(path string, a, b reflect.Value) {
	if a.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil() {
		a, b = a.Elem(), b.Elem()
	}
	if a.Kind() != reflect.Struct || path != "" && !w.sections[path] {
		if !reflect.DeepEqual(a.Interface(), b.Interface()) {
			w.note(path)
		}
		return
	}
	for i := range a.NumField() {
		f := a.Type().Field(i)
		switch {
		case f.Anonymous:
			w.compare(path, a.Field(i), b.Field(i))
		case !f.IsExported():
		default:
			at, ok := w.keys[folded(join(path, f.Name))]
			if !ok { // a second field of a key that has several forms
				if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
					w.note(path)
				}
				continue
			}
			w.compare(at, a.Field(i), b.Field(i))
		}
	}
}

// note adds a change, once for each path.
func (w *changeWalk) note(path string) {
	change := Change{Path: path}
	if !live[path] {
		section, _, _ := strings.Cut(path, ".")
		change.Reason = reasons[section]
	}
	for _, c := range w.found {
		if c == change {
			return
		}
	}
	w.found = append(w.found, change)
}
