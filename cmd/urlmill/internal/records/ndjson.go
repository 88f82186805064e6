package records

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/go-json-experiment/json/jsontext"
)

// maxLine is the longest line of NDJSON that is read.
const maxLine = 256 << 20

// jsonLines reads a JSON object a line. Fields that are not in the schema are left out, and those that are missing are
// null. (arrow's own JSONReader rounds large integers, which it reads as floats, and takes quadratic time for long strings.)
type jsonLines struct {
	projection
	lines *bufio.Scanner
	b     *array.RecordBuilder
	line  int64
	batch int64
	now   arrow.Record
}

func newNDJSON(in io.Reader, o Options) (Reader, error) {
	o.Schema = newUnpacker(o.Schema).schema // that of another file may have dictionaries
	p, err := newProjection(o.Schema, o.Columns)
	if err != nil {
		return nil, err
	}
	return &jsonLines{
		projection: p, lines: newLines(in), batch: o.BatchRows,
		b: array.NewRecordBuilder(memory.DefaultAllocator, o.Schema),
	}, nil
}

func newLines(in io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(in)
	s.Buffer(make([]byte, 64<<10), maxLine)
	return s
}

func (n *jsonLines) Schema() *arrow.Schema { return n.schema }

func (n *jsonLines) Next() (arrow.Record, error) {
	n.drop()
	rows := int64(0)
	for rows < n.batch && n.lines.Scan() {
		n.line++
		line := bytes.TrimSpace(n.lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := appendObject(n.b, line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n.line, err)
		}
		rows++
	}
	if err := n.lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n.line+1, err)
	}
	if rows == 0 {
		return nil, io.EOF
	}
	n.now = n.b.NewRecord()
	return n.of(n.now), nil
}

func (n *jsonLines) drop() {
	n.release()
	if n.now != nil {
		n.now.Release()
		n.now = nil
	}
}

func (n *jsonLines) Close() error {
	n.drop()
	n.b.Release()
	return nil
}

// appendObject adds the row of an object.
func appendObject(b *array.RecordBuilder, line []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(line))
	if d.PeekKind() != '{' {
		_, err := d.ReadToken()
		return errors.Join(errors.New("no JSON object"), err)
	}
	place := func(name string) int {
		if found := b.Schema().FieldIndices(name); len(found) > 0 {
			return found[0]
		}
		return -1
	}
	if err := appendFields(d, b.Fields(), place); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.Join(errors.New("there is more than an object"), err)
	}
	return nil
}

// appendFields adds an object to the builders of its fields, whose places are known by their names, -1 for none.
func appendFields(d *jsontext.Decoder, fields []array.Builder, place func(string) int) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	seen := make([]bool, len(fields))
	for d.PeekKind() != '}' {
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := t.String()
		i := place(name)
		if i < 0 {
			err = d.SkipValue()
		} else {
			seen[i] = true // names are not there twice: the decoder sees to that
			err = appendValue(d, fields[i])
		}
		if err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
	}
	for i, there := range seen {
		if !there {
			fields[i].AppendNull()
		}
	}
	_, err := d.ReadToken()
	return err
}

// appendValue adds the next value.
func appendValue(d *jsontext.Decoder, b array.Builder) error {
	kind := d.PeekKind()
	switch kind {
	case '[':
		return appendList(d, b)
	case '{':
		s, ok := b.(*array.StructBuilder)
		if !ok {
			return fmt.Errorf("an object, where %s is expected", b.Type())
		}
		s.Append(true)
		fields := make([]array.Builder, s.NumField())
		for i := range fields {
			fields[i] = s.FieldBuilder(i)
		}
		return appendFields(d, fields, func(name string) int {
			if i, ok := s.Type().(*arrow.StructType).FieldIdx(name); ok {
				return i
			}
			return -1
		})
	}
	t, err := d.ReadToken()
	if err != nil {
		return err
	}
	if kind == 'n' {
		b.AppendNull()
		return nil
	}
	text := isText(b.Type())
	if kind == '0' && isString(b.Type()) {
		return b.AppendValueFromString(t.String()) // as it is written: the column holds what no type of numbers does
	}
	if text != (kind == '"') {
		return fmt.Errorf("%s, where %s is expected", t.Kind(), b.Type())
	}
	return b.AppendValueFromString(t.String())
}

func isString(t arrow.DataType) bool { return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING }

// isText reports whether values of a type are JSON strings.
func isText(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY, arrow.TIMESTAMP, arrow.DATE32, arrow.DATE64:
		return true
	}
	return false
}

// appendList adds an array to a list, or to a map as the objects {"key","value"} that it consists of.
func appendList(d *jsontext.Decoder, b array.Builder) error {
	l, ok := b.(array.ListLikeBuilder)
	if !ok {
		return fmt.Errorf("an array, where %s is expected", b.Type())
	}
	l.Append(true)
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		if err := appendValue(d, l.ValueBuilder()); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}
