package avrorow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
)

// Rows is the form of rows of one Arrow schema. It does not change, and may be used by several goroutines at once.
type Rows struct {
	text    string
	columns []column // templates of those of encoders
}

// New returns the form of rows of s as a record with that full name. The errors, joined, each on a line, are about columns
// that have no form in Avro.
func New(s *arrow.Schema, fullName string) (*Rows, error) {
	namespace, name := "", fullName
	if i := strings.LastIndexByte(fullName, '.'); i >= 0 {
		namespace, name = fullName[:i], fullName[i+1:]
	}
	if err := CheckFullName(fullName); err != nil {
		return nil, err
	}
	c := compiler{named: map[string]string{}}
	record := avroType{Type: "record", Name: name, Namespace: namespace, Fields: []avroField{}}
	rows := &Rows{}
	var errs []error
	for _, f := range s.Fields() {
		if !isName(f.Name) {
			errs = append(errs, pipeline.FieldErrorf("", "column %q: %s; columns.rename can call it %s", pipeline.Column(f.Name), nameRule, nameFor(f.Name)))
			continue
		}
		field, col, err := c.field(f, name+"_"+f.Name, f.Name)
		if err != nil {
			errs = append(errs, pipeline.FieldErrorf("", "column %s: %w", pipeline.Column(f.Name), err))
			continue
		}
		record.Fields = append(record.Fields, field)
		rows.columns = append(rows.columns, col)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(record); err != nil {
		return nil, err
	}
	rows.text = strings.TrimSuffix(out.String(), "\n")
	return rows, nil
}

// Schema returns the text of the schema. It is the same for the same columns.
func (r *Rows) Schema() string { return r.text }

// avroType is a type in the text of a schema. Each kind has some of the members; numbers are any, so that 0 is there.
type avroType struct {
	Type        string      `json:"type"`
	LogicalType string      `json:"logicalType,omitempty"`
	Name        string      `json:"name,omitempty"`
	Namespace   string      `json:"namespace,omitempty"`
	Fields      []avroField `json:"fields,omitzero"`
	Items       any         `json:"items,omitempty"`
	Values      any         `json:"values,omitempty"`
	Size        any         `json:"size,omitempty"`
	Precision   any         `json:"precision,omitempty"`
	Scale       any         `json:"scale,omitempty"`
}

type avroField struct {
	Name    string          `json:"name"`
	Type    any             `json:"type"`
	Doc     string          `json:"doc,omitempty"`
	Default json.RawMessage `json:"default,omitempty"`
}

func logical(typ, name string) avroType { return avroType{Type: typ, LogicalType: name} }

func decimal(precision, scale int32) avroType {
	return avroType{Type: "bytes", LogicalType: "decimal", Precision: precision, Scale: scale}
}

const nameRule = "a name in Avro has letters of ASCII, digits and _, and begins with no digit"

// isName reports whether s may be the name of a field or of a type.
//
// Source: https://avro.apache.org/docs/1.12.0/specification/#names
func isName(s string) bool {
	for i := range len(s) {
		letter := 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z' || s[i] == '_'
		if !letter && (i == 0 || s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != ""
}

// nameFor returns a name that is like s.
func nameFor(s string) string {
	out := strings.Map(func(r rune) rune {
		if isName("_" + string(r)) {
			return r
		}
		return '_'
	}, s)
	if !isName(out) {
		out = "_" + out
	}
	return out
}

// CheckFullName returns what is wrong with the name of a record, which is one name, or several with dots between.
func CheckFullName(s string) error {
	for part := range strings.SplitSeq(s, ".") {
		if !isName(part) {
			return fmt.Errorf("%q is no name of a record: %s; several are joined by dots, such as org.example.Click", s, nameRule)
		}
	}
	return nil
}

// compiler makes the form of columns.
type compiler struct {
	named map[string]string // where each named type is
}

// field returns the form of a field whose type, if it needs a name, has that one.
func (c *compiler) field(f arrow.Field, typeName, path string) (avroField, column, error) {
	t, col, err := c.value(f, typeName, path)
	out := avroField{Name: f.Name, Type: t}
	if f.Nullable {
		out.Default = json.RawMessage("null")
	}
	if i := f.Metadata.FindKey("comment"); i >= 0 {
		out.Doc = f.Metadata.Values()[i]
	}
	return out, col, err
}

// value returns the form of what a field holds.
func (c *compiler) value(f arrow.Field, typeName, path string) (t any, col column, err error) {
	if t, col, err = c.typeOf(f.Type, typeName, path); err != nil {
		return nil, col, err
	}
	col.path = path
	if f.Nullable && col.op != opNull {
		col.nullable = true
		t = []any{"null", t}
	}
	return t, col, nil
}

// name notes that the type at path is called that.
func (c *compiler) name(typeName, path string) error {
	if other, taken := c.named[typeName]; taken {
		return fmt.Errorf("its type would be called %s, as is that of %s: rename one of the columns", typeName, other)
	}
	c.named[typeName] = path
	return nil
}

// nested returns the form of a list, map or struct.
func (c *compiler) nested(t arrow.DataType, typeName, path string) (any, column, error) {
	switch t := t.(type) {
	case *arrow.ListType:
		return c.array(t.ElemField(), column{op: opList}, typeName, path)
	case *arrow.LargeListType:
		return c.array(t.ElemField(), column{op: opLargeList}, typeName, path)
	case *arrow.FixedSizeListType:
		return c.array(t.ElemField(), column{op: opFixedList, width: int(t.Len())}, typeName, path)
	case *arrow.MapType:
		return c.mapping(t, typeName, path)
	case *arrow.StructType:
		return c.record(t, typeName, path)
	}
	return nil, column{}, fmt.Errorf("the type %s has no form in Avro; leave the column out", t)
}

func (c *compiler) array(elem arrow.Field, col column, typeName, path string) (any, column, error) {
	items, inner, err := c.value(elem, typeName, path)
	col.next = []column{inner}
	return avroType{Type: "array", Items: items}, col, err
}

func (c *compiler) mapping(t *arrow.MapType, typeName, path string) (any, column, error) {
	key := t.KeyField()
	if id := key.Type.ID(); id != arrow.STRING && id != arrow.LARGE_STRING {
		return c.array(arrow.Field{Type: t.Elem()}, column{op: opList}, typeName, path)
	}
	key.Nullable = false
	_, keys, err := c.value(key, typeName, path)
	if err != nil {
		return nil, column{}, err
	}
	values, inner, err := c.value(t.ItemField(), typeName, path)
	return avroType{Type: "map", Values: values}, column{op: opMap, next: []column{keys, inner}}, err
}

func (c *compiler) record(t *arrow.StructType, typeName, path string) (any, column, error) {
	if err := c.name(typeName, path); err != nil {
		return nil, column{}, err
	}
	record, col := avroType{Type: "record", Name: typeName, Fields: []avroField{}}, column{op: opRecord}
	seen := map[string]bool{}
	for _, f := range t.Fields() {
		if !isName(f.Name) {
			return nil, col, fmt.Errorf("its field %q: %s; leave the column out", f.Name, nameRule)
		}
		if seen[f.Name] {
			return nil, col, fmt.Errorf("its field %s is there twice; leave the column out", f.Name)
		}
		seen[f.Name] = true
		field, inner, err := c.field(f, typeName+"_"+f.Name, path+"."+f.Name)
		if err != nil {
			return nil, col, fmt.Errorf("its field %s: %w", f.Name, err)
		}
		record.Fields = append(record.Fields, field)
		col.next = append(col.next, inner)
	}
	return record, col, nil
}
