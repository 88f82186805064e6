package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// shape is what is known of the type of a JSON value.
type shape struct {
	kind   kind
	elem   *shape   // of a list
	fields []*field // of a struct, in the order in which they were first seen
	byName map[string]*field
	ints   integers
}

// integers is what is known of the numbers of a shape that are written without fraction and exponent.
type integers struct {
	negative bool // one is
	unsigned bool // one is too large for int64, and not for uint64
	beyond   bool // one is neither
	unsafe   bool // one has more digits than float64 has of every integer
}

type field struct {
	name string
	shape
}

type kind uint8

const (
	unknown kind = iota // nothing but null so far
	boolean
	integer
	float
	text
	listOf
	structOf
)

func (k kind) String() string {
	return [...]string{"null", "a boolean", "an integer", "a number", "a string", "an array", "an object"}[k]
}

// inferSchema reads NDJSON to its end. A field that is null in every row is text, and so are numbers among which there are
// integers that no type holds to their last digit: see numberType.
func inferSchema(in io.Reader) (*arrow.Schema, error) {
	lines := newLines(in)
	root, fields := shape{kind: structOf}, 0
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		t := taker{d, &fields}
		if err := t.take(&root, nil); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return arrow.NewSchema(root.arrowFields(), nil), nil
}

// A table has as many cells as rows times columns, and its type is as deep as its values: a short file could ask for more of both
// than any memory has.
const (
	maxFields = 10_000
	maxNested = 64 // as in Arrow's own files
)

// place is where a value is: below what, and there a field or, without a name, a list. Nil is the line. It becomes text in errors alone.
type place struct {
	in    *place
	name  string
	depth int
}

func (p *place) below(name string) (*place, error) {
	q := &place{in: p, name: name, depth: 1}
	if p != nil {
		q.depth = p.depth + 1
	}
	if q.depth > maxNested {
		return nil, fmt.Errorf("values more than %d levels below each other; a table has no columns for them", maxNested)
	}
	return q, nil
}

// String is like a.b[].c.
func (p *place) String() string {
	switch {
	case p == nil:
		return ""
	case p.name == "":
		return p.in.String() + "[]"
	case p.in == nil:
		return p.name
	}
	return p.in.String() + "." + p.name
}

// taker adds the values of a line to shapes.
type taker struct {
	*json.Decoder
	fields *int // of all shapes
}

// take adds the next value, which is at p.
func (d *taker) take(s *shape, p *place) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch v := t.(type) {
	case nil:
		if p == nil {
			return errors.New("no JSON object")
		}
		return nil
	case bool:
		return s.is(boolean, p)
	case string:
		return s.is(text, p)
	case json.Number:
		return s.takeNumber(v, p)
	case json.Delim:
		if v == '[' {
			return d.takeList(s, p)
		}
	}
	return d.takeStruct(s, p)
}

func (s *shape) takeNumber(v json.Number, p *place) error {
	if !strings.ContainsAny(v.String(), ".eE") {
		s.ints.take(v.String())
		return s.is(integer, p)
	}
	if f, err := v.Float64(); err != nil || math.IsInf(f, 0) {
		return fmt.Errorf("%s: the number %s is beyond any type; give --schema FILE with a Parquet or Arrow file that has the column as text", p, v)
	}
	return s.is(float, p)
}

// take adds an integer.
func (n *integers) take(digits string) {
	if strings.HasPrefix(digits, "-") {
		n.negative = true
	}
	if i, err := strconv.ParseInt(digits, 10, 64); err == nil {
		n.unsafe = n.unsafe || i > maxSafe || i < -maxSafe
		return
	}
	n.unsafe = true
	if _, err := strconv.ParseUint(digits, 10, 64); err == nil {
		n.unsigned = true
	} else {
		n.beyond = true
	}
}

// maxSafe is the integer up to which float64 has every one.
const maxSafe = 1 << 53

// numberType returns the type that holds every integer of the shape to its last digit: int64, uint64 for those without a
// sign, float64 where there are fractions too, and text where none of them does.
func (s *shape) numberType() arrow.DataType {
	n := s.ints
	switch {
	case s.kind == float && !n.unsafe:
		return arrow.PrimitiveTypes.Float64
	case s.kind == float || n.beyond || n.unsigned && n.negative:
		return arrow.BinaryTypes.String
	case n.unsigned:
		return arrow.PrimitiveTypes.Uint64
	}
	return arrow.PrimitiveTypes.Int64
}

// is merges a kind into the shape.
func (s *shape) is(k kind, p *place) error {
	switch {
	case s.kind == unknown || s.kind == integer && k == float:
		s.kind = k
	case s.kind == k || s.kind == float && k == integer:
	case p == nil:
		return fmt.Errorf("%s, and not an object", k)
	default:
		return fmt.Errorf("%s is %s here and %s before; give --schema FILE with a Parquet or Arrow file that has the columns", p, k, s.kind)
	}
	return nil
}

func (d *taker) takeList(s *shape, p *place) error {
	if err := s.is(listOf, p); err != nil {
		return err
	}
	if s.elem == nil {
		s.elem = new(shape)
	}
	elem, err := p.below("")
	if err != nil {
		return err
	}
	for d.More() {
		if err := d.take(s.elem, elem); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func (d *taker) takeStruct(s *shape, p *place) error {
	if err := s.is(structOf, p); err != nil {
		return err
	}
	if s.byName == nil {
		s.byName = map[string]*field{}
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		f := s.byName[name]
		if f == nil {
			if *d.fields++; *d.fields > maxFields {
				return fmt.Errorf("more than %d fields; give --schema FILE with a Parquet or Arrow file that has the columns", maxFields)
			}
			f = &field{name: name}
			s.byName[name], s.fields = f, append(s.fields, f)
		}
		below, err := p.below(name)
		if err != nil {
			return err
		}
		if err := d.take(&f.shape, below); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func (s *shape) arrowFields() []arrow.Field {
	fields := make([]arrow.Field, len(s.fields))
	for i, f := range s.fields {
		fields[i] = arrow.Field{Name: f.name, Type: f.arrowType(), Nullable: true}
	}
	return fields
}

func (s *shape) arrowType() arrow.DataType {
	switch s.kind {
	case boolean:
		return arrow.FixedWidthTypes.Boolean
	case integer, float:
		return s.numberType()
	case listOf:
		return arrow.ListOf(s.elem.arrowType())
	case structOf:
		return arrow.StructOf(s.arrowFields()...)
	}
	return arrow.BinaryTypes.String
}
