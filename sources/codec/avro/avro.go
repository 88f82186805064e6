// Package avro takes records apart that are written in Avro's binary encoding.
package avro

import (
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/avro"

	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/schema"
)

// New returns the codec of Avro records; see [schema.New]. Of a union it is the branch that the record has that counts;
// a field is found by its name or by one of its aliases.
func New(o schema.Options) (codec.Factory, error) {
	return schema.New(schema.Format{Type: "AVRO", Compile: compile}, o)
}

// op is how a value is written.
type op uint8

const (
	opNull op = iota
	opBool
	opInt // and long
	opFloat
	opDouble
	opBytes
	opString
	opFixed
	opEnum
	opArray
	opMap
	opUnion
	opRecord
)

// logical is what a value means beyond that.
type logical uint8

const (
	plain logical = iota
	decimal
	date
	clockMillis
	clockMicros
	instantMillis
	instantMicros
	instantNanos
	uuid
)

// logicals are the logical types on the types that they may be on. A uuid on a string is text already.
var logicals = map[[2]string]logical{
	{"decimal", "bytes"}: decimal, {"decimal", "fixed"}: decimal, {"uuid", "fixed"}: uuid,
	{"date", "int"}: date, {"time-millis", "int"}: clockMillis, {"time-micros", "long"}: clockMicros,
	{"timestamp-millis", "long"}: instantMillis, {"local-timestamp-millis", "long"}: instantMillis,
	{"timestamp-micros", "long"}: instantMicros, {"local-timestamp-micros", "long"}: instantMicros,
	{"timestamp-nanos", "long"}: instantNanos, {"local-timestamp-nanos", "long"}: instantNanos,
}

// node is a place in a schema, and what is wanted of it. Places of which nothing is wanted are shared, and may be within
// themselves.
type node struct {
	op      op
	logical logical
	scale   int32
	size    int      // of a fixed
	symbols []string // of an enum
	names   []string // of a record
	next    []*node  // the fields of a record, the branches of a union, the items or values of the rest

	slots  []int // values that are this place
	within []int // values that are this place or within: those that a second key of the same name has to forget
	// Of an array, what is wanted of single items; of a map, of single values.
	picks []pick
	empty bool // it takes no bytes
}

// pick is an item of an array, or a value of a map, of which something is wanted.
type pick struct {
	index int
	key   string
	node  *node
}

// compile makes a schema ready.
func compile(s schemaregistry.Schema, pointers [][]string) (schema.Compiled, error) {
	var cache avro.SchemaCache
	for _, ref := range s.References {
		if _, err := cache.Parse(ref.Text); err != nil {
			return nil, fmt.Errorf("the schema %s: %w", ref.Name, err)
		}
	}
	parsed, err := cache.Parse(s.Text)
	if err != nil {
		return nil, err
	}
	c := compiler{named: map[string]*avro.SchemaNode{}, skips: map[string]*node{}}
	root := parsed.Root()
	c.collect(root)
	n, err := c.node(root, "", schema.Paths(pointers), 0)
	if err != nil {
		return nil, err
	}
	return &reader{n}, nil
}

// compiler turns the tree of a schema into nodes.
type compiler struct {
	named map[string]*avro.SchemaNode // definitions by their full names
	skips map[string]*node            // of named types of which nothing is wanted
}

// qualified returns the full name of a name in a namespace.
func qualified(name, namespace string) string {
	if namespace == "" || strings.Contains(name, ".") {
		return name
	}
	return namespace + "." + name
}

func fullName(s *avro.SchemaNode) string { return qualified(s.Name, s.Namespace) }

// namespaceOf returns the namespace of a full name.
func namespaceOf(name string) string { return name[:max(strings.LastIndexByte(name, '.'), 0)] }

// collect notes the definitions.
func (c *compiler) collect(s *avro.SchemaNode) {
	if s.Name != "" {
		c.named[fullName(s)] = s
	}
	for i := range s.Fields {
		c.collect(&s.Fields[i].Type)
	}
	for i := range s.Branches {
		c.collect(&s.Branches[i])
	}
	if s.Items != nil {
		c.collect(s.Items)
	}
	if s.Values != nil {
		c.collect(s.Values)
	}
}

// maxNesting bounds how deep a schema is nested, and how deep what it describes is read.
const maxNesting = 1000

var primitives = map[string]op{
	"null": opNull, "boolean": opBool, "int": opInt, "long": opInt, "float": opFloat, "double": opDouble, "bytes": opBytes, "string": opString,
}

// node returns the node of s, which stands in that namespace, for what is wanted of it.
func (c *compiler) node(s *avro.SchemaNode, namespace string, paths []schema.Path, depth int) (*node, error) {
	if depth > maxNesting {
		return nil, errors.New("the schema is nested too deep")
	}
	if o, ok := primitives[s.Type]; ok {
		n := &node{op: o, logical: logicalOf(s), scale: int32(s.Scale), empty: o == opNull}
		n.slots, n.within = schema.Slots(paths)
		return n, nil
	}
	switch s.Type {
	case "record", "error", "enum", "fixed", "array", "map", "union":
	default: // the name of a type
		def := c.named[qualified(s.Type, namespace)]
		if def == nil {
			def = c.named[s.Type]
		}
		if def == nil {
			return nil, fmt.Errorf("there is no type %s", s.Type)
		}
		s = def
	}
	name := fullName(s)
	if s.Name != "" && len(paths) == 0 {
		if n := c.skips[name]; n != nil {
			return n, nil
		}
	}
	n := &node{logical: logicalOf(s), scale: int32(s.Scale), size: s.Size, symbols: s.Symbols}
	if s.Name != "" && len(paths) == 0 {
		c.skips[name] = n // before its fields, which may be of the same type
	}
	n.slots, n.within = schema.Slots(paths)
	if s.Name != "" {
		namespace = namespaceOf(name)
	}
	return n, c.fill(n, s, namespace, paths, depth)
}

// fill adds what is within n.
func (c *compiler) fill(n *node, s *avro.SchemaNode, namespace string, paths []schema.Path, depth int) error {
	add := func(s *avro.SchemaNode, paths []schema.Path) error {
		child, err := c.node(s, namespace, paths, depth+1)
		n.next = append(n.next, child)
		return err
	}
	switch s.Type {
	case "enum":
		n.op = opEnum
	case "fixed":
		n.op, n.empty = opFixed, s.Size == 0
	case "array":
		n.op = opArray
		return errors.Join(add(s.Items, nil), c.picks(n, s.Items, namespace, paths, depth))
	case "map":
		n.op = opMap
		return errors.Join(add(s.Values, nil), c.picks(n, s.Values, namespace, paths, depth))
	case "union":
		n.op = opUnion
		for i := range s.Branches {
			if err := add(&s.Branches[i], paths); err != nil {
				return err
			}
		}
	default:
		n.op = opRecord
		n.empty = true
		for i := range s.Fields {
			f := &s.Fields[i]
			n.names = append(n.names, f.Name)
			if err := add(&f.Type, schema.Within(paths, append([]string{f.Name}, f.Aliases...)...)); err != nil {
				return err
			}
			n.empty = n.empty && n.next[i].empty
		}
	}
	return nil
}

// picks adds what is wanted of single items or values.
func (c *compiler) picks(n *node, s *avro.SchemaNode, namespace string, paths []schema.Path, depth int) error {
	for _, key := range schema.Steps(paths) {
		child, err := c.node(s, namespace, schema.Within(paths, key), depth+1)
		if err != nil {
			return err
		}
		n.picks = append(n.picks, pick{codec.ArrayIndex(key), key, child})
	}
	return nil
}

func logicalOf(s *avro.SchemaNode) logical {
	l := logicals[[2]string{s.LogicalType, s.Type}]
	if l == uuid && s.Size != 16 {
		return plain
	}
	return l
}
