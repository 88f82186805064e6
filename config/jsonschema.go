package config

import "encoding/json"

// shape is a JSON Schema, or a part of one.
type shape map[string]any

const number = `[0-9]+(\.[0-9]*)?|\.[0-9]+`

var (
	// sizeShape and durationShape take what parseSize and time.ParseDuration do, but for the bounds.
	sizeShape = shape{"anyOf": []shape{
		{"type": "string", "pattern": `^\s*(` + number + `)\s*(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)\s*$`}, {"enum": []any{0, "0"}},
	}}
	durationShape = shape{"anyOf": []shape{
		{"type": "string", "pattern": `^\s*[+-]?((` + number + `)(ns|us|µs|μs|ms|s|m|h))+\s*$`}, {"enum": []any{0, "0"}},
	}}
	// variableShape is a text with a variable in it, which stands for any single value.
	variableShape = shape{"type": "string", "pattern": `\$\{`}
)

// JSONSchema returns a JSON Schema (draft 2020-12) of configurations, for editors. It takes every configuration that
// [Load] takes; conflicts between values, which Load reports, are beyond it.
func JSONSchema() []byte {
	c := Default()
	s := objectShape("", rootSchema(&c))
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "urlmill configuration"
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // there is nothing in it that JSON does not have
	}
	return append(out, '\n')
}

func objectShape(path string, o object) shape {
	properties := map[string]shape{}
	var required []string
	for _, f := range o.fields {
		at := join(path, f.name)
		s := valueShape(at, f.value)
		if doc := keyDoc(at); doc != "" {
			s["description"] = doc
		}
		properties[f.name] = s
		if f.example != "" {
			required = append(required, f.name)
		}
	}
	out := shape{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		out["required"] = required
	}
	if len(o.oneOf) > 0 {
		var one []shape
		for _, name := range o.oneOf {
			one = append(one, shape{"required": []string{name}})
		}
		out["oneOf"] = one
	}
	return out
}

func valueShape(path string, v value) shape {
	switch v := v.(type) {
	case sectionValue:
		return objectShape(path, v.object())
	case scalarValue:
		return scalarShape(v)
	case listValue:
		return listShape(path, v)
	case pairsValue:
		return shape{"type": "object", "additionalProperties": shape{"type": "string", "minLength": 1}}
	case deadLettersValue:
		topic := objectShape(path, v.object())
		if v.folder == nil {
			return topic
		}
		return shape{"anyOf": []shape{{"type": "string", "minLength": 1}, topic}}
	}
	return shape{}
}

func scalarShape(v scalarValue) shape {
	out := shape{"anyOf": []shape{v.shape, variableShape}}
	if s := v.standard(); s != "" {
		out["default"] = typed(v.shape, s)
	}
	return out
}

// typed returns the default s as JSON has it.
func typed(want shape, s string) any {
	var v any
	switch want["type"] {
	case "integer", "number", "boolean":
		if json.Unmarshal([]byte(s), &v) == nil {
			return v
		}
	}
	return s
}

func listShape(path string, v listValue) shape {
	items := shape{"type": "array", "minItems": 1}
	switch item := v.item().(type) {
	case sectionValue:
		items["items"] = objectShape(path+"[]", item.object())
	case scalarValue:
		items["items"] = scalarShape(item)
	}
	if !v.split {
		return items
	}
	return shape{"anyOf": []shape{items, variableShape}}
}
