package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// listValue is a list.
type listValue struct {
	wanted string
	// split allows a single substituted text with commas in place of the list.
	split bool
	none  bool   // the list may be empty
	begin func() // empties the list
	next  func() Value
	// item is the value of an item that is not in the list.
	item   Value
	values func() any
	text   func() string
}

func (v listValue) want() string { return v.wanted }

func (v listValue) get() any { return v.values() }

func (v listValue) decode(d *decoder, n ast.Node, path string) {
	v.begin()
	items, ok := n.(*ast.SequenceNode)
	if !ok {
		v.decodeSingle(d, n, path)
		return
	}
	if len(items.Values) == 0 && !v.none {
		d.report(positionOf(n), path, "%s is an empty list; give %s", leaf(path), v.wanted)
	}
	for i, item := range items.Values {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.decode(item, positionOf(item), at, v.next(), true)
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
			hint = fmt.Sprintf(" (did you mean [%s]?)", Clip(s.Value))
		}
		d.report(positionOf(n), path, "%s is %s; give %s%s", leaf(path), describe(n), v.wanted, hint)
		return
	}
	expanded, ok := d.scalar(n, path, v.wanted)
	if !ok {
		return
	}
	for i, part := range strings.Split(expanded.Text, ",") {
		item := Scalar{Text: strings.TrimSpace(part), kind: anyKind, shown: expanded.shown}
		at := fmt.Sprintf("%s[%d]", path, i)
		d.at[at], d.expanded[at] = positionOf(n), expansion{source: s.Value, value: item.Text}
		single, _ := v.next().(Single)
		if ok, hint := single.Set(item); strings.HasPrefix(hint, "is ") {
			d.report(positionOf(n), path, "%s: item %d of %s %s", leaf(path), i+1, expanded.shown, hint)
		} else if !ok {
			d.report(positionOf(n), path, "%s: item %d of %s is not usable; give %s", leaf(path), i+1, expanded.shown, single.Wanted)
		}
	}
}

// OrNone is a list that may be empty, where that says something else than leaving it out.
func OrNone(list Value) Value {
	v := list.(listValue)
	v.none = true
	return v
}

// Texts is a list of texts, no two of which are equal.
func Texts(p *[]string, example string) Value {
	item := Text(new(string), "")
	item.Wanted = "a text that is not empty"
	next := item
	next.Set = func(s Scalar) (bool, string) {
		if ok, hint := item.Set(s); !ok {
			return false, hint
		}
		if slices.Contains(*p, s.Text) {
			return false, "is in the list twice; take one of them out"
		}
		*p = append(*p, s.Text)
		return true, ""
	}
	return listValue{
		wanted: "a list such as " + example,
		split:  true,
		begin:  func() { *p = nil },
		next:   func() Value { return next },
		item:   item,
		values: func() any { return *p },
		text:   func() string { return "[" + strings.Join(*p, ", ") + "]" },
	}
}

// List is a list of mappings, each of which begins as initial returns it.
func List[T any](p *[]T, initial func() T, example string, section func(*T) Section) Value {
	sample := initial()
	return listValue{
		wanted: "a list such as " + example,
		begin:  func() { *p = nil },
		next: func() Value {
			*p = append(*p, initial())
			return Map(section(&(*p)[len(*p)-1]))
		},
		item:   Map(section(&sample)),
		values: func() any { return *p },
		text:   func() string { return fmt.Sprintf("%d items", len(*p)) },
	}
}

// pairsValue is a mapping from any text to a text.
type pairsValue struct {
	p           *map[string]string
	to, example string
}

// Pairs is a mapping from any text to a text, which messages call to, such as "the new name".
func Pairs(p *map[string]string, to, example string) Value { return pairsValue{p, to, example} }

func (v pairsValue) want() string { return "a mapping such as " + v.example }

func (v pairsValue) get() any { return *v.p }

func (v pairsValue) text() string {
	var all []string
	for _, from := range slices.Sorted(maps.Keys(*v.p)) {
		all = append(all, from+": "+(*v.p)[from])
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func (v pairsValue) decode(d *decoder, n ast.Node, path string) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		d.report(positionOf(n), path, "%s is %s; give %s", leaf(path), describe(n), v.want())
		return
	}
	out := map[string]string{}
	for _, e := range d.entries(m, path) {
		var to string
		name := Text(&to, "")
		name.Wanted = v.to
		d.decode(e.value, e.at, Join(path, e.key), name, true)
		out[e.key] = to
	}
	*v.p = out
}

// eitherValue is a text, or a section with one key.
type eitherValue struct {
	text    *string // nil where only the section will do
	wanted  string
	section Field
}

// TextOr is a text, or a mapping with one key whose value is a section. text is nil where only the mapping will do. wanted says
// what fits.
func TextOr(text *string, section Field, wanted string) Value {
	return eitherValue{text, wanted, section}
}

func (v eitherValue) want() string { return v.wanted }

func (v eitherValue) get() any {
	if v.text == nil || *v.text == "" {
		return v.section.Value.(sectionValue).there()
	}
	return *v.text
}

func (v eitherValue) mapping() Section { return Section{Fields: []Field{v.section}} }

func (v eitherValue) decode(d *decoder, n ast.Node, path string) {
	m, mapping := n.(*ast.MappingNode)
	key := v.section.Name
	switch {
	case mapping && slices.ContainsFunc(d.entries(m, path), func(e entry) bool { return e.key == key }):
		d.decodeSection(n, d.at[path], path, v.mapping())
	case mapping:
		d.report(positionOf(n), path, "%s is a mapping without %s; give %s", leaf(path), key, v.wanted)
	case v.text == nil:
		d.report(positionOf(n), path, "%s is %s; give %s", leaf(path), describe(n), v.wanted)
	default:
		text := Text(v.text, "")
		text.Wanted = v.wanted
		text.decode(d, n, path)
	}
}
