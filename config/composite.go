package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// field is a key of a mapping.
type field struct {
	name  string
	value value
	// example is how the key may be written; a field that has one is required.
	example string
}

// object is a mapping with known keys.
type object struct {
	fields []field
	// oneOf names fields of which exactly one has to be given.
	oneOf []string
	// gone has keys of earlier versions, each with the reason and what to do.
	gone map[string]string
	// check reports conflicts between values. It is called after all fields were decoded.
	check func(d *decoder, path string)
}

// keys returns the names of all fields.
func (o object) keys() []string {
	out := make([]string, len(o.fields))
	for i, f := range o.fields {
		out[i] = f.name
	}
	return out
}

func (o object) field(name string) (field, bool) {
	for _, f := range o.fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// decodeObject reads the mapping at path. at is the position of its key.
func (d *decoder) decodeObject(n ast.Node, at position, path string, o object) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		d.report(positionOf(n), path, "%s is %s; give a mapping with %s", title(path), describe(n), listOf(o.keys(), "and"))
		return
	}
	unknown := false
	for _, e := range d.entries(m, path) {
		f, ok := o.field(e.key)
		if !ok {
			d.unknownKey(e, path, o)
			unknown = true
			continue
		}
		d.decode(e.value, e.at, join(path, e.key), f.value, f.example != "")
	}
	for _, f := range o.fields {
		if f.example != "" && !d.given(join(path, f.name)) {
			d.report(at, join(path, f.name), "%s has no %q; add it, such as %s", title(path), f.name, f.example)
		}
	}
	d.checkOneOf(at, path, o, unknown)
	if o.check != nil {
		o.check(d, path)
	}
}

// checkOneOf reports alternatives that are given together, and a choice that was not made; not so when an unknown
// key may have been meant as one.
func (d *decoder) checkOneOf(at position, path string, o object, unknown bool) {
	first := ""
	for _, name := range o.oneOf {
		switch p := join(path, name); {
		case !d.given(p) && !d.bad[p]:
		case first == "":
			first = name
		default:
			d.conflict(p, nil, "%s has both %s and %s; keep one of them", title(path), first, name)
		}
	}
	if len(o.oneOf) > 0 && first == "" && !unknown && !d.bad[path] {
		d.report(at, path, "%s does not say which; add one of %s", title(path), listOf(o.oneOf, "or"))
	}
}

// unknownKey reports a key that does not belong there.
func (d *decoder) unknownKey(e entry, path string, o object) {
	full := join(path, e.key)
	if reason, ok := o.gone[e.key]; ok {
		d.report(e.at, full, "%s is gone: %s", e.key, reason)
		return
	}
	if near, ok := nearest(e.key, o.keys()); ok {
		d.bad[join(path, near)] = true // it is not missing as well
		d.report(e.at, full, "unknown key %q in %s; did you mean %q?", clip(e.key), title(path), near)
		return
	}
	if homes := schemaHomes()[e.key]; len(homes) > 0 {
		d.report(e.at, full, "unknown key %q in %s; it belongs in %s", clip(e.key), title(path), listOf(homes, "or"))
		return
	}
	d.report(e.at, full, "unknown key %q in %s; the keys here are %s", clip(e.key), title(path), listOf(o.keys(), "and"))
}

// title calls a mapping by its path.
func title(path string) string {
	if path == "" {
		return "the configuration"
	}
	return path
}

// sectionValue is a mapping behind a key.
type sectionValue struct {
	schema func() object
	// begin is called when the section is there.
	begin func()
}

func (v sectionValue) object() object { return v.schema() }

func (v sectionValue) want() string {
	return "a mapping with " + listOf(v.schema().keys(), "and")
}

// allDefaults tells whether the mapping may be empty.
func (v sectionValue) allDefaults() bool {
	o := v.schema()
	return len(o.oneOf) == 0 && !slices.ContainsFunc(o.fields, func(f field) bool { return f.example != "" })
}

func (v sectionValue) decode(d *decoder, n ast.Node, path string) {
	if v.begin != nil {
		v.begin()
	}
	d.decodeObject(n, d.at[path], path, v.schema())
}

// section is a mapping that is always there, with its defaults in *p.
func section[T any](p *T, schema func(*T) object) value {
	return sectionValue{schema: func() object { return schema(p) }}
}

// optional is a mapping that sets *p, which is nil without it.
func optional[T any](p **T, initial func() T, schema func(*T) object) value {
	current := func() *T {
		if *p != nil {
			return *p
		}
		v := initial()
		return &v
	}
	return sectionValue{
		begin:  func() { v := initial(); *p = &v },
		schema: func() object { return schema(current()) },
	}
}

// listValue is a list.
type listValue struct {
	wanted string
	// split allows a single substituted text with commas in place of the list.
	split bool
	// item returns the value for the next item, and begin empties the list.
	item  func() value
	begin func()
}

func (v listValue) want() string { return v.wanted }

func (v listValue) decode(d *decoder, n ast.Node, path string) {
	v.begin()
	items, ok := n.(*ast.SequenceNode)
	if !ok {
		v.decodeSingle(d, n, path)
		return
	}
	if len(items.Values) == 0 {
		d.report(positionOf(n), path, "%s is an empty list; give %s", leaf(path), v.wanted)
	}
	for i, item := range items.Values {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.decode(item, positionOf(item), at, v.item(), true)
		if d.bad[at] {
			d.bad[path] = true
		}
	}
}

// decodeSingle takes a text with commas where it came from a variable, and reports everything else.
func (v listValue) decodeSingle(d *decoder, n ast.Node, path string) {
	s, isText := n.(*ast.StringNode)
	if !v.split || !isText || !strings.Contains(s.Value, "${") {
		hint := ""
		if isText && v.split {
			hint = fmt.Sprintf(" (did you mean [%s]?)", clip(s.Value))
		}
		d.report(positionOf(n), path, "%s is %s; give %s%s", leaf(path), describe(n), v.wanted, hint)
		return
	}
	expanded, ok := d.scalar(n, path, v.wanted)
	if !ok {
		return
	}
	for i, part := range strings.Split(expanded.text, ",") {
		item := scalar{text: strings.TrimSpace(part), kind: anyKind, shown: expanded.shown}
		at := fmt.Sprintf("%s[%d]", path, i)
		d.at[at] = positionOf(n)
		sv, _ := v.item().(scalarValue)
		if ok, _ := sv.set(item); !ok {
			d.report(positionOf(n), path, "%s: item %d of %s is not usable; give %s", leaf(path), i+1, expanded.shown, sv.wanted)
		}
	}
}

// texts is a list of texts, no two of which are equal.
func texts(p *[]string, example string) value {
	return listValue{
		wanted: "a list such as " + example,
		split:  true,
		begin:  func() { *p = nil },
		item: func() value {
			v := text(new(string), "").(scalarValue)
			v.wanted = "a text that is not empty"
			check := v.set
			v.set = func(s scalar) (bool, string) {
				if ok, hint := check(s); !ok {
					return false, hint
				}
				for _, other := range *p {
					if other == s.text {
						return false, "is in the list twice; take one of them out"
					}
				}
				*p = append(*p, s.text)
				return true, ""
			}
			return v
		},
	}
}

// list is a list of mappings.
func list[T any](p *[]T, initial func() T, example string, schema func(*T) object) value {
	return listValue{
		wanted: "a list such as " + example,
		begin:  func() { *p = nil },
		item: func() value {
			*p = append(*p, initial())
			last := &(*p)[len(*p)-1]
			return sectionValue{schema: func() object { return schema(last) }}
		},
	}
}

// pairsValue is a mapping from any text to a text.
type pairsValue struct {
	p       *map[string]string
	example string
}

func (v pairsValue) want() string { return "a mapping such as " + v.example }

func (v pairsValue) decode(d *decoder, n ast.Node, path string) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		d.report(positionOf(n), path, "%s is %s; give %s", leaf(path), describe(n), v.want())
		return
	}
	out := map[string]string{}
	for _, e := range d.entries(m, path) {
		var to string
		d.decode(e.value, e.at, join(path, e.key), scalarValue{wanted: "the new name", shape: shape{"type": "string", "minLength": 1}, set: text(&to, "").(scalarValue).set}, true)
		out[e.key] = to
	}
	*v.p = out
}
