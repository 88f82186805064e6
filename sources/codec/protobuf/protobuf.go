// Package protobuf takes records apart that are written in the wire format of Protocol Buffers.
package protobuf

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// Options configures the codec.
type Options struct {
	schema.Options
	// Message is the full name of the message that records are, without a registry. Not needed where the schema has but
	// one. With a registry the record says it.
	Message string
	// SchemaFile is what Factory reads Schema from, unless there is a registry. New does not look at it.
	SchemaFile string
}

// New returns the codec of Protobuf records; see [schema.New]. Fields are found by their names in the schema, or by those
// that they have in JSON. A field without presence that is not in the record has its default value, one with presence is
// null. Timestamps, durations and the wrappers of google.protobuf, and confluent.type.Decimal, are what they stand for.
// Of messages that nobody wants anything of no more is read than how long they are.
func New(o Options) (codec.Factory, error) {
	if o.Message != "" && o.Registry != nil {
		return nil, pipeline.FieldErrorf("message", "records of a registry say which message they are").Advise("take it out")
	}
	framed := o.Framed || o.Registry != nil
	return schema.New(schema.Format{Type: "PROTOBUF", Compile: func(s schemaregistry.Schema, pointers [][]string) (schema.Compiled, error) {
		file, err := parse(s)
		if err != nil {
			return nil, err
		}
		c := &compiled{file: file, pointers: pointers, framed: framed, readers: map[string]*reader{}}
		if o.Registry == nil {
			m, err := find(file, o.Message)
			if err != nil {
				return nil, err
			}
			c.only = newReader(m, pointers)
		}
		return c, nil
	}}, o.Options)
}

// mainFile is the name of the schema itself, which no import has.
const mainFile = "urlmill-record.proto"

// builtIn are imports that registries know without a reference.
var builtIn = map[string]string{
	"confluent/meta.proto": `syntax = "proto3"; package confluent; import "google/protobuf/descriptor.proto";
		message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; }
		extend google.protobuf.FileOptions { Meta file_meta = 1088; } extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
		extend google.protobuf.FieldOptions { Meta field_meta = 1088; } extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
		extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }`,
	"confluent/type/decimal.proto": `syntax = "proto3"; package confluent.type;
		message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }`,
}

// parse compiles the schema with its imports.
func parse(s schemaregistry.Schema) (protoreflect.FileDescriptor, error) {
	sources := map[string]string{mainFile: s.Text}
	for _, ref := range s.References {
		sources[ref.Name] = ref.Text
	}
	c := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
		Accessor: func(path string) (io.ReadCloser, error) {
			for _, from := range []map[string]string{sources, builtIn} {
				if text, ok := from[path]; ok {
					return io.NopCloser(strings.NewReader(text)), nil
				}
			}
			return nil, fmt.Errorf("the import %s is not there", path)
		},
	})}
	files, err := c.Compile(context.Background(), mainFile)
	if err != nil {
		return nil, err
	}
	return files[0], nil
}

// ReadFile reads a schema and the files beside it that it imports, directly or not.
func ReadFile(path string) (s schemaregistry.Schema, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	s.Text = string(text)
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return s, err
	}
	defer root.Close()
	seen := map[string]bool{}
	var add func(text string)
	add = func(text string) {
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			name := m[1]
			if seen[name] {
				continue
			}
			seen[name] = true
			found, err := root.ReadFile(name)
			if err != nil {
				continue // the compiler knows some by itself, and names the others
			}
			add(string(found))
			s.References = append(s.References, schemaregistry.Reference{Name: name, Text: string(found)})
		}
	}
	add(s.Text)
	return s, nil
}

// imports finds what may be imports. One in a comment is of no harm.
var imports = regexp.MustCompile(`\bimport\s+(?:public\s+|weak\s+)?["']([^"']+)["']`)

// find returns the message with that name, the only one where there is none.
func find(file protoreflect.FileDescriptor, name string) (protoreflect.MessageDescriptor, error) {
	var names []string
	var found protoreflect.MessageDescriptor
	var walk func(all protoreflect.MessageDescriptors)
	walk = func(all protoreflect.MessageDescriptors) {
		for i := range all.Len() {
			m := all.Get(i)
			if string(m.FullName()) == name {
				found = m
			}
			names = append(names, string(m.FullName()))
			walk(m.Messages())
		}
	}
	walk(file.Messages())
	switch {
	case found != nil:
		return found, nil
	case name != "":
		return nil, fmt.Errorf("there is no message %s; there are %s", name, strings.Join(names, ", "))
	case file.Messages().Len() != 1:
		return nil, fmt.Errorf("give message, since there are several: %s", strings.Join(names, ", "))
	}
	return file.Messages().Get(0), nil
}

// maxReaders is how many places of messages are kept.
const maxReaders = 256

// compiled implements [schema.Compiled].
type compiled struct {
	file     protoreflect.FileDescriptor
	pointers [][]string
	framed   bool
	only     *reader // without a registry

	mu      sync.RWMutex
	readers map[string]*reader // by the places of their messages, as records have them
}

// Reader implements [schema.Compiled].
func (c *compiled) Reader(payload []byte) (schema.Reader, int, bool) {
	skip := 0
	if c.framed {
		var ok bool
		if skip, ok = placeSize(payload); !ok {
			return nil, 0, false
		}
	}
	if c.only != nil {
		return c.only, skip, true
	}
	c.mu.RLock()
	r := c.readers[string(payload[:skip])]
	c.mu.RUnlock()
	if r == nil {
		if r = c.newReader(payload[:skip]); r == nil {
			return nil, 0, false
		}
	}
	return r, skip, true
}

// maxPlace bounds how deep messages are within others.
const maxPlace = 32

// placeSize returns how long the place of the message is: the number of its steps, and each as the number of a message
// within the one before. A single 0 stands for the first message.
func placeSize(payload []byte) (n int, ok bool) {
	steps, n := binary.Varint(payload)
	if n <= 0 || steps < 0 || steps > maxPlace {
		return 0, false
	}
	for range steps {
		_, size := binary.Varint(payload[n:])
		if size <= 0 {
			return 0, false
		}
		n += size
	}
	return n, true
}

// newReader returns the reader of the message at a place, nil where there is none.
func (c *compiled) newReader(place []byte) *reader {
	steps, n := binary.Varint(place)
	path := []int64{0}
	if steps > 0 {
		path = path[:0]
		for range steps {
			step, size := binary.Varint(place[n:])
			path, n = append(path, step), n+size
		}
	}
	var m protoreflect.MessageDescriptor
	all := c.file.Messages()
	for _, i := range path {
		if i < 0 || i >= int64(all.Len()) {
			return nil
		}
		m = all.Get(int(i))
		all = m.Messages()
	}
	r := newReader(m, c.pointers)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.readers) < maxReaders {
		c.readers[string(place)] = r
	}
	return r
}

// message is what is wanted of a message.
type message struct {
	fields   []*field
	byNumber []*field // of the low numbers
	defaults []initial
}

// initial is the value of a field that is not in the record.
type initial struct {
	slot  int
	value schema.Value
}

// field is a field of which something is wanted.
type field struct {
	number   protoreflect.FieldNumber
	desc     protoreflect.FieldDescriptor
	kind     protoreflect.Kind // asking desc takes longer than reading a value
	wire     protowire.Type    // of a single value
	symbols  map[int64]string  // of an enum
	special  special
	repeated bool
	keyed    bool
	parts    [3]*field // fields 1 to 3 of an entry of a map, or of a special message; nil for none

	slots   []int    // values that are the whole field
	within  []int    // values that are the field or within it
	others  []int    // values of the other fields of a oneof
	inner   *message // what is wanted within a single message
	picks   []pick   // and of elements of a list or values of a map
	counter int      // of the elements of a list
}

// pick is an element or a value of which something is wanted. Its field is that of the elements, without being repeated.
type pick struct {
	index int64
	key   string
	field *field
}

// special is a message that stands for something else.
type special uint8

const (
	none special = iota
	instant
	duration
	wrapper
	decimal
)

var specials = map[protoreflect.FullName]special{
	"google.protobuf.Timestamp": instant, "google.protobuf.Duration": duration, "confluent.type.Decimal": decimal,
	"google.protobuf.DoubleValue": wrapper, "google.protobuf.FloatValue": wrapper, "google.protobuf.Int64Value": wrapper,
	"google.protobuf.UInt64Value": wrapper, "google.protobuf.Int32Value": wrapper, "google.protobuf.UInt32Value": wrapper,
	"google.protobuf.BoolValue": wrapper, "google.protobuf.StringValue": wrapper, "google.protobuf.BytesValue": wrapper,
}

// newReader makes what reads m.
func newReader(m protoreflect.MessageDescriptor, pointers [][]string) *reader {
	r, paths := &reader{desc: m, pointers: pointers}, schema.Paths(pointers)
	r.whole, _ = schema.Slots(paths)
	r.root = r.message(m, paths)
	return r
}

// maxDense is up to which number fields are found without a search.
const maxDense = 128

func (r *reader) message(m protoreflect.MessageDescriptor, paths []schema.Path) *message {
	plan := &message{}
	all := m.Fields()
	for i := range all.Len() {
		d := all.Get(i)
		inner := schema.Within(paths, string(d.Name()), d.JSONName())
		if len(inner) == 0 {
			continue
		}
		f := r.field(d, inner, true)
		plan.fields = append(plan.fields, f)
		if f.number < maxDense {
			plan.byNumber = append(plan.byNumber, make([]*field, max(0, int(f.number)+1-len(plan.byNumber)))...)
			plan.byNumber[f.number] = f
		}
		if !d.HasPresence() && !f.repeated && !f.keyed {
			for _, slot := range f.slots {
				plan.defaults = append(plan.defaults, initial{slot, f.initial()})
			}
		}
	}
	for _, f := range plan.fields {
		for _, g := range plan.fields {
			if o := f.desc.ContainingOneof(); o != nil && f != g && g.desc.ContainingOneof() == o {
				f.others = append(f.others, g.within...)
			}
		}
	}
	return plan
}

// newField makes the field d, of which nothing is wanted yet.
func newField(d protoreflect.FieldDescriptor) *field {
	return &field{number: d.Number(), desc: d, kind: d.Kind(), wire: wireType(d)}
}

// field makes the field d, of which the paths want something. whole tells that it is all of a repeated one.
func (r *reader) field(d protoreflect.FieldDescriptor, paths []schema.Path, whole bool) *field {
	f := newField(d)
	f.repeated, f.keyed = whole && d.IsList(), whole && d.IsMap()
	f.slots, f.within = schema.Slots(paths)
	if e := d.Enum(); e != nil {
		f.symbols = map[int64]string{}
		for i := e.Values().Len() - 1; i >= 0; i-- { // of several names of a number, the first
			v := e.Values().Get(i)
			f.symbols[int64(v.Number())] = string(v.Name())
		}
	}
	switch {
	case f.repeated, f.keyed:
		r.picks(f, paths)
	case d.Message() != nil:
		f.special = specials[d.Message().FullName()]
		f.inner = r.message(d.Message(), paths)
	}
	if f.keyed || f.special != none {
		for i := range f.parts {
			if part := d.Message().Fields().ByNumber(protowire.Number(i + 1)); part != nil {
				f.parts[i] = newField(part)
			}
		}
	}
	return f
}

// picks adds what is wanted of single elements of a list, or values of a map.
func (r *reader) picks(f *field, paths []schema.Path) {
	element := f.desc
	if f.keyed {
		element = f.desc.MapValue()
	}
	for _, key := range schema.Steps(paths) {
		index := codec.ArrayIndex(key)
		if f.repeated && index < 0 {
			continue
		}
		f.picks = append(f.picks, pick{int64(index), key, r.field(element, schema.Within(paths, key), false)})
	}
	if f.repeated {
		f.counter = r.counters
		r.counters++
	}
}

// initial returns the value of the field where the record does not have it.
func (f *field) initial() schema.Value {
	switch f.kind {
	case protoreflect.StringKind:
		return schema.Value{Kind: schema.Text}
	case protoreflect.BytesKind:
		return schema.Value{Kind: schema.Bytes}
	case protoreflect.BoolKind:
		return schema.Value{Kind: schema.Bool}
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return schema.Value{Kind: schema.Float}
	case protoreflect.EnumKind:
		return f.enum(int64(f.desc.Default().Enum()))
	default:
		return schema.Value{Kind: schema.Int}
	}
}

// enum returns a value of an enum; one that the schema does not name is a number.
func (f *field) enum(n int64) schema.Value {
	if name, ok := f.symbols[n]; ok {
		return schema.Value{Kind: schema.Enum, Num: n, Symbol: name}
	}
	return schema.Value{Kind: schema.Int, Num: n}
}
