package config

import (
	"encoding/json"
	"maps"
)

// Shape is a JSON Schema, or a part of one.
type Shape map[string]any

const number = `[0-9]+(\.[0-9]*)?|\.[0-9]+`

var (
	// sizeShape and durationShape take what parseSize and time.ParseDuration do, but for the bounds.
	sizeShape = Shape{"anyOf": []Shape{
		{"type": "string", "pattern": `^\s*(` + number + `)\s*([bB]|[kKmMgGtT]([iI]?[bB])?)\s*$`}, {"enum": []any{0, "0"}},
	}}
	durationShape = Shape{"anyOf": []Shape{
		{"type": "string", "pattern": `^\s*[+-]?((` + number + `)(ns|us|µs|μs|ms|s|m|h))+\s*$`}, {"enum": []any{0, "0"}},
	}}
	// variableShape is a text with a variable in it, which stands for any single value.
	variableShape = Shape{"type": "string", "pattern": `\$\{`}
)

// JSONSchema returns a JSON Schema (draft 2020-12) of configurations, for editors. It takes every configuration that
// [Load] takes; conflicts between values, which Load reports, are beyond it.
func JSONSchema(root Section) []byte {
	s := sectionShape(root)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "urlmill configuration"
	s["patternProperties"] = Shape{"^" + extension: Shape{"description": "Ignored: a place for anchors."}}
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // there is nothing in it that JSON does not have
	}
	return append(out, '\n')
}

func sectionShape(o Section) Shape {
	properties := map[string]Shape{}
	var required []string
	for _, f := range o.Fields {
		s := valueShape(f.Value)
		if f.Doc != "" {
			s["description"] = f.Doc
		}
		properties[f.Name] = s
		if f.Was != "" {
			properties[f.Was] = maps.Clone(s)
			properties[f.Was]["deprecated"] = true
			properties[f.Was]["description"] = "Called " + f.Name + " now."
		} else if f.Example != "" {
			required = append(required, f.Name)
		}
	}
	out := Shape{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	if len(o.OneOf) > 0 {
		var one []Shape
		for _, name := range o.OneOf {
			one = append(one, Shape{"required": []string{name}})
		}
		out["oneOf"] = one
	}
	return out
}

func valueShape(v Value) Shape {
	switch v := v.(type) {
	case sectionValue:
		return sectionShape(v.section())
	case Single:
		return scalarShape(v)
	case listValue:
		return listShape(v)
	case pairsValue:
		return Shape{"type": "object", "additionalProperties": Shape{"type": "string", "minLength": 1}}
	case eitherValue:
		other := sectionShape(v.mapping())
		if v.text == nil {
			return other
		}
		return Shape{"anyOf": []Shape{{"type": "string", "minLength": 1}, other}}
	}
	return Shape{}
}

func scalarShape(v Single) Shape {
	out := Shape{"anyOf": []Shape{v.Shape, variableShape}}
	if s := v.standard(); s != "" {
		out["default"] = typed(v.Shape, s)
	}
	return out
}

// typed returns the default s as JSON has it.
func typed(want Shape, s string) any {
	var v any
	switch want["type"] {
	case "integer", "number", "boolean":
		if json.Unmarshal([]byte(s), &v) == nil {
			return v
		}
	}
	return s
}

func listShape(v listValue) Shape {
	items := Shape{"type": "array"}
	if !v.none {
		items["minItems"] = 1
	}
	switch item := v.item.(type) {
	case sectionValue:
		items["items"] = sectionShape(item.section())
	case Single:
		items["items"] = scalarShape(item)
	}
	if !v.split {
		return items
	}
	return Shape{"anyOf": []Shape{items, variableShape}}
}
