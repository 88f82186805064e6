package protobuf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// AppendJSON implements [schema.Reader], in Protobuf's own mapping with the names of the schema. Parts of a message may be
// anywhere in a record: it is read once more as a whole, and that costs memory. What the library does not take for a record
// is null.
func (r *reader) AppendJSON(dst []byte, v *schema.Value) []byte {
	m := dynamicpb.NewMessage(r.desc)
	if err := unmarshal(v.Data, m); err != nil {
		return append(dst, "null"...)
	}
	return appendPath(dst, m, r.pointers[v.Num])
}

// unmarshal is proto.Unmarshal for records that anybody may have written: version 1.36.12 panics over an entry of a map
// that has its key once more, with another wire type.
func unmarshal(data []byte, m proto.Message) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the library fails: %v", r)
		}
	}()
	return proto.UnmarshalOptions{AllowPartial: true}.Unmarshal(data, m)
}

// appendPath appends what the tokens lead to from m.
func appendPath(dst []byte, m protoreflect.Message, tokens []string) []byte {
	if len(tokens) == 0 {
		return appendMessage(dst, m)
	}
	all := m.Descriptor().Fields()
	d := all.ByName(protoreflect.Name(tokens[0]))
	if d == nil {
		d = all.ByJSONName(tokens[0])
	}
	value, tokens := m.Get(d), tokens[1:]
	if len(tokens) == 0 {
		return appendField(dst, d, value)
	}
	switch {
	case d.IsList():
		if i := codec.ArrayIndex(tokens[0]); i < value.List().Len() {
			value, tokens = value.List().Get(i), tokens[1:]
		}
	case d.IsMap():
		value.Map().Range(func(k protoreflect.MapKey, element protoreflect.Value) bool {
			if k.String() != tokens[0] {
				return true
			}
			value, tokens = element, tokens[1:]
			return false
		})
	}
	return appendPath(dst, value.Message(), tokens)
}

// appendField appends a field with all its elements.
func appendField(dst []byte, d protoreflect.FieldDescriptor, v protoreflect.Value) []byte {
	switch {
	case d.IsList():
		dst = append(dst, '[')
		for i := range v.List().Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendOne(dst, d, v.List().Get(i))
		}
		return append(dst, ']')
	case d.IsMap():
		var keys []protoreflect.MapKey
		v.Map().Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
			keys = append(keys, k)
			return true
		})
		slices.SortFunc(keys, func(a, b protoreflect.MapKey) int { return strings.Compare(a.String(), b.String()) })
		dst = append(dst, '{')
		for i, k := range keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(schema.AppendString(dst, k.String()), ':')
			dst = appendOne(dst, d.MapValue(), v.Map().Get(k))
		}
		return append(dst, '}')
	default:
		return appendOne(dst, d, v)
	}
}

// appendOne appends a single value.
func appendOne(dst []byte, d protoreflect.FieldDescriptor, v protoreflect.Value) []byte {
	var out schema.Value
	switch x := v.Interface().(type) {
	case protoreflect.Message:
		return appendMessage(dst, x)
	case protoreflect.EnumNumber:
		if value := d.Enum().Values().ByNumber(x); value != nil {
			return schema.AppendString(dst, string(value.Name()))
		}
		out = schema.Value{Kind: schema.Int, Num: int64(x)}
	case string:
		out = schema.Value{Kind: schema.Text, Data: []byte(x)}
	case []byte:
		out = schema.Value{Kind: schema.Bytes, Data: x}
	case bool:
		out = schema.Value{Kind: schema.Bool}
		if x {
			out.Num = 1
		}
	case float32:
		out = schema.Value{Kind: schema.Float, Float: float64(x)}
	case float64:
		out = schema.Value{Kind: schema.Float, Float: x}
	case int32, int64:
		out = schema.Value{Kind: schema.Int, Num: v.Int()}
	default:
		out = schema.Value{Kind: schema.Uint, Num: int64(v.Uint())}
	}
	return out.AppendJSON(dst)
}

// appendMessage appends a message without white space, in which the library's output differs from run to run.
func appendMessage(dst []byte, m protoreflect.Message) []byte {
	text, err := protojson.MarshalOptions{UseProtoNames: true, AllowPartial: true}.Marshal(m.Interface())
	if err != nil {
		return append(dst, "null"...)
	}
	out := bytes.NewBuffer(dst)
	if err := json.Compact(out, text); err != nil {
		return append(dst, "null"...)
	}
	return out.Bytes()
}
