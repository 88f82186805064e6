package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Section is a mapping with known keys. It is bound to the variables that its values are decoded into, which have their
// defaults before.
type Section struct {
	Fields []Field
	// OneOf names fields of which exactly one has to be given.
	OneOf []string
	// Refused has keys that are none here, such as those of earlier versions, each with what is said of it.
	Refused map[string]string
	// Aliases has what other programs call keys of this section, each with the key that it is here, so that the message names it;
	// a key of a section below has a dot, as in tls.ca_file.
	// Both are looked up however their words are joined: bootstrap.servers, bootstrap_servers and bootstrapServers are one.
	Aliases map[string]string
	// Check reports conflicts between values. It is called after all fields were decoded.
	Check func(*Check)
}

// Field is a key of a section.
type Field struct {
	Name string
	// Was is a former name of the key, "" for none. It goes on working, with a note.
	Was   string
	Value Value
	// Doc says in a sentence what the key does.
	Doc string
	// Example is how the key may be written; a field that has one is required.
	Example string
	// Live says that the value may change while a pipeline runs.
	Live bool
	// Fixed says why what is below the key, but for live fields, may not. It is that of the nearest section above that has one.
	Fixed string
}

// extension begins keys at the top of a file that are ignored: they are there for the anchors below them.
const extension = "x-"

// keys returns the names of all fields.
func (s Section) keys() []string {
	out := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		out[i] = f.Name
	}
	return out
}

func (s Section) field(name string) (Field, bool) {
	for _, f := range s.Fields {
		if f.Name == name || f.Was == name && name != "" {
			return f, true
		}
	}
	return Field{}, false
}

// former returns 1 for a former name of a key, else 0.
func (s Section) former(name string) int {
	if f, ok := s.field(name); ok && f.Was == name {
		return 1
	}
	return 0
}

// Check is what the check of a section reports conflicts with. Keys are relative to the section.
type Check struct {
	d    *decoder
	path string
}

// Path returns the path of a key, and that of the section for "".
func (c *Check) Path(key string) string {
	if key == "" {
		return c.path
	}
	return Join(c.path, key)
}

// Given reports whether the file has a value at key.
func (c *Check) Given(key string) bool { return c.d.given(c.Path(key)) }

// Conflict reports a problem at key unless one of the keys that it is about has a problem of its own, which has to be solved
// first.
func (c *Check) Conflict(key string, about []string, format string, args ...any) {
	for _, other := range about {
		if c.d.bad[c.Path(other)] {
			return
		}
	}
	at := c.Path(key)
	c.d.report(c.d.at[at], at, format, args...)
}

// decodeSection reads the mapping at path. at is the position of its key.
func (d *decoder) decodeSection(n ast.Node, at position, path string, o Section) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		d.report(positionOf(n), path, "%s is %s; give a mapping with %s", title(path), describe(n), Listed(o.keys(), "and"))
		return
	}
	unknown := false
	entries := d.entries(m, path)
	// Former names last, so that it is them that are one too many.
	slices.SortStableFunc(entries, func(a, b entry) int { return o.former(a.key) - o.former(b.key) })
	for _, e := range entries {
		f, ok := o.field(e.key)
		if !ok && path == "" && strings.HasPrefix(e.key, extension) {
			continue
		}
		if !ok {
			d.unknownKey(e, path, o)
			unknown = true
			continue
		}
		if f.Was == e.key {
			if d.given(Join(path, f.Name)) {
				d.report(e.at, Join(path, e.key), "%q is a former name of %q, which is given as well; keep that", e.key, f.Name)
				continue
			}
			d.notes = append(d.notes, Problem{Line: e.at.line, Column: e.at.column, Path: Join(path, f.Name), Message: fmt.Sprintf("%q in %s is called %q now; the former name still works", e.key, title(path), f.Name)})
		}
		d.decode(e.value, e.at, Join(path, f.Name), f.Value, f.Example != "")
	}
	for _, f := range o.Fields {
		if f.Example != "" && !d.given(Join(path, f.Name)) {
			d.report(at, Join(path, f.Name), "%s has no %q; add it, such as %s", title(path), f.Name, f.Example)
		}
	}
	d.checkOneOf(at, path, o, unknown)
	if o.Check != nil {
		o.Check(&Check{d, path})
	}
}

// checkOneOf reports alternatives that are given together, and a choice that was not made; not so when an unknown
// key may have been meant as one.
func (d *decoder) checkOneOf(at position, path string, o Section, unknown bool) {
	first := ""
	for _, name := range o.OneOf {
		switch p := Join(path, name); {
		case !d.given(p) && !d.bad[p]:
		case first == "":
			first = name
		default:
			d.report(d.at[p], p, "%s has both %s and %s; keep one of them", title(path), first, name)
		}
	}
	if len(o.OneOf) > 0 && first == "" && !unknown && !d.bad[path] {
		d.report(at, path, "%s does not say which; add one of %s", title(path), Listed(o.OneOf, "or"))
	}
}

// unknownKey reports a key that does not belong there.
func (d *decoder) unknownKey(e entry, path string, o Section) {
	full := Join(path, e.key)
	if reason, ok := folded(o.Refused, e.key); ok {
		d.report(e.at, full, "%s", reason)
		return
	}
	if here, ok := folded(o.Aliases, e.key); ok {
		called := "called " + here
		if section, key, ok := strings.Cut(here, "."); ok {
			called = key + " in " + section
		}
		d.report(e.at, full, "unknown key %q in %s; it is %s here", Clip(e.key), title(path), called)
		d.bad[Join(path, here)] = true // it is not missing as well
		return
	}
	if near, ok := nearest(e.key, o.keys()); ok {
		d.bad[Join(path, near)] = true // it is not missing as well
		d.report(e.at, full, "unknown key %q in %s; did you mean %q?", Clip(e.key), title(path), near)
		return
	}
	if d.homes == nil {
		d.homes = homes(d.root)
	}
	if homes := d.homes[e.key]; len(homes) > 0 {
		d.report(e.at, full, "unknown key %q in %s; it belongs in %s", Clip(e.key), title(path), Listed(homes, "or"))
		return
	}
	d.report(e.at, full, "unknown key %q in %s; the keys here are %s", Clip(e.key), title(path), Listed(o.keys(), "and"))
}

// folded returns the value of the key that has the words of name, however they are joined.
func folded(m map[string]string, name string) (string, bool) {
	name = fold(name)
	for key, value := range m {
		if fold(key) == name {
			return value, true
		}
	}
	return "", false
}

// title calls a mapping by its path.
func title(path string) string {
	if path == "" {
		return "the configuration"
	}
	return path
}

// homes maps every key to the mappings that have it.
func homes(root Section) map[string][]string {
	all := map[string][]string{}
	var visit func(path string, s Section)
	visit = func(path string, s Section) {
		for _, f := range s.Fields {
			all[f.Name] = append(all[f.Name], title(path))
			if v, ok := f.Value.(sectionValue); ok {
				visit(Join(path, f.Name), v.section())
			}
		}
	}
	visit("", root)
	return all
}

// sectionValue is a mapping behind a key.
type sectionValue struct {
	section func() Section
	// begin is called when the section is there.
	begin func()
	// there reports whether it is.
	there func() bool
}

func (v sectionValue) want() string {
	return "a mapping with " + Listed(v.section().keys(), "and")
}

func (v sectionValue) get() any { return v.there() }

// allDefaults reports whether the mapping may be empty.
func (v sectionValue) allDefaults() bool {
	s := v.section()
	return len(s.OneOf) == 0 && !slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Example != "" })
}

func (v sectionValue) decode(d *decoder, n ast.Node, path string) {
	if v.begin != nil {
		v.begin()
	}
	d.decodeSection(n, d.at[path], path, v.section())
}

// Map is a mapping that is always there.
func Map(s Section) Value {
	return sectionValue{section: func() Section { return s }, there: func() bool { return true }}
}

// Part is a mapping that may be left out. there reports whether it is in the variables, begin puts it there before it is decoded,
// and section returns what is bound to them, or else to defaults.
func Part(there func() bool, begin func(), section func() Section) Value {
	return sectionValue{section: section, begin: begin, there: there}
}

// Optional is a mapping that sets *p, which is nil without it, to what initial returns before it is decoded.
func Optional[T any](p **T, initial func() T, section func(*T) Section) Value {
	return Part(
		func() bool { return *p != nil },
		func() { v := initial(); *p = &v },
		func() Section {
			if *p != nil {
				return section(*p)
			}
			v := initial()
			return section(&v)
		},
	)
}

// Given is a mapping that sets *p, which is zero without it, to what initial returns before it is decoded. It has a key that is
// required, or else it may be zero when it is there.
func Given[T comparable](p *T, initial func() T, section func(*T) Section) Value {
	begun := false
	there := func() bool { var zero T; return *p != zero }
	return Part(
		there,
		func() { *p, begun = initial(), true },
		func() Section {
			if begun || there() {
				return section(p)
			}
			v := initial()
			return section(&v)
		},
	)
}
