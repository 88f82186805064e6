package protobuf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

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
func (r *reader) AppendJSON(dst []byte, v *schema.Value, room int) ([]byte, bool) {
	size := footprint(v.Data, r.desc, 2*room, 0)
	if size > 2*room {
		return dst, false
	}
	if size > minLarge {
		large.Lock()
		defer large.Unlock()
	}
	m := dynamicpb.NewMessage(r.desc)
	if err := unmarshal(v.Data, m); err != nil {
		return append(dst, "null"...), true
	}
	w := writer{dst, len(dst) + room}
	w.path(m, r.pointers[v.Num])
	return w.dst, len(w.dst) <= w.most
}

// large is held while a record that takes more than minLarge bytes as messages is made JSON: lanes take turns, since such memory
// is planned for nowhere.
var large sync.Mutex

const minLarge = 1 << 20

// unmarshal is proto.Unmarshal for records that anybody may have written: version 1.36.12 panics over an entry of a map
// that has its key once more, with another wire type.
func unmarshal(data []byte, m proto.Message) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the library fails: %v", r)
		}
	}()
	return proto.UnmarshalOptions{AllowPartial: true, RecursionLimit: maxNesting}.Unmarshal(data, m)
}

// writer writes JSON. It ends early when dst is longer than most, which it makes negative where a value does not fit.
type writer struct {
	dst  []byte
	most int
}

// path writes what the tokens lead to from m.
func (w *writer) path(m protoreflect.Message, tokens []string) {
	if len(tokens) == 0 {
		w.message(m)
		return
	}
	all := m.Descriptor().Fields()
	d := all.ByName(protoreflect.Name(tokens[0]))
	if d == nil {
		d = all.ByJSONName(tokens[0])
	}
	value, tokens := m.Get(d), tokens[1:]
	if len(tokens) == 0 {
		w.field(d, value)
		return
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
	w.path(value.Message(), tokens)
}

// field writes a field with all its elements.
func (w *writer) field(d protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch {
	case d.IsList():
		w.dst = append(w.dst, '[')
		for i := 0; i < v.List().Len() && len(w.dst) <= w.most; i++ {
			if i > 0 {
				w.dst = append(w.dst, ',')
			}
			w.one(d, v.List().Get(i))
		}
		w.dst = append(w.dst, ']')
	case d.IsMap():
		var keys []protoreflect.MapKey
		v.Map().Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
			keys = append(keys, k)
			return true
		})
		slices.SortFunc(keys, func(a, b protoreflect.MapKey) int { return strings.Compare(a.String(), b.String()) })
		w.dst = append(w.dst, '{')
		for i, k := range keys {
			if len(w.dst) > w.most {
				return
			}
			if i > 0 {
				w.dst = append(w.dst, ',')
			}
			w.dst = append(schema.AppendString(w.dst, k.String()), ':')
			w.one(d.MapValue(), v.Map().Get(k))
		}
		w.dst = append(w.dst, '}')
	default:
		w.one(d, v)
	}
}

// one writes a single value.
func (w *writer) one(d protoreflect.FieldDescriptor, v protoreflect.Value) {
	var out schema.Value
	switch x := v.Interface().(type) {
	case protoreflect.Message:
		w.message(x)
		return
	case protoreflect.EnumNumber:
		if value := d.Enum().Values().ByNumber(x); value != nil {
			w.dst = schema.AppendString(w.dst, string(value.Name()))
			return
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
	if !out.Fits(w.most - len(w.dst)) {
		w.most = -1
		return
	}
	w.dst = out.AppendJSON(w.dst)
}

// message writes a message without white space, in which the library's output differs from run to run.
func (w *writer) message(m protoreflect.Message) {
	text, err := protojson.MarshalOptions{UseProtoNames: true, AllowPartial: true}.Marshal(m.Interface())
	out := bytes.NewBuffer(w.dst)
	if err != nil || json.Compact(out, text) != nil {
		w.dst = append(w.dst, "null"...)
		return
	}
	w.dst = out.Bytes()
}
