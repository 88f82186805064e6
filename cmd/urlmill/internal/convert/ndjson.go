package convert

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
	lines *bufio.Scanner
	b     *array.RecordBuilder
	line  int64
	batch int64
	now   arrow.Record
}

func newNDJSON(in io.Reader, o Options) decoder {
	schema := newUnpacker(o.Schema).schema // that of another file may have dictionaries
	n := &jsonLines{lines: newLines(in), batch: o.BatchRows, b: array.NewRecordBuilder(memory.DefaultAllocator, schema)}
	return decoder{schema, n.next, n.close}
}

func newLines(in io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(in)
	s.Buffer(make([]byte, 64<<10), maxLine)
	return s
}

func (n *jsonLines) next() (arrow.Record, error) {
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
	return n.now, nil
}

func (n *jsonLines) drop() {
	if n.now != nil {
		n.now.Release()
		n.now = nil
	}
}

func (n *jsonLines) close() error {
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
	if err := appendFields(d, b.Schema().Fields(), b.Fields(), place); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.Join(errors.New("there is more than an object"), err)
	}
	return nil
}

// appendFields adds an object to the builders of its fields, whose places are known by their names, -1 for none. Types go along with
// builders: a builder of structs makes its type anew when it is asked, with all that is below.
func appendFields(d *jsontext.Decoder, types []arrow.Field, fields []array.Builder, place func(string) int) error {
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
			err = appendValue(d, types[i].Type, fields[i])
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

// appendValue adds the next value to a builder of type typ.
func appendValue(d *jsontext.Decoder, typ arrow.DataType, b array.Builder) error {
	kind := d.PeekKind()
	switch kind {
	case '[':
		return appendList(d, typ, b)
	case '{':
		s, ok := b.(*array.StructBuilder)
		if !ok {
			return fmt.Errorf("an object, where %s is expected", typ)
		}
		s.Append(true)
		fields := make([]array.Builder, s.NumField())
		for i := range fields {
			fields[i] = s.FieldBuilder(i)
		}
		of := typ.(*arrow.StructType)
		return appendFields(d, of.Fields(), fields, func(name string) int {
			if i, ok := of.FieldIdx(name); ok {
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
	text := isText(typ)
	if kind == '0' && isString(typ) {
		return b.AppendValueFromString(t.String()) // as it is written: the column holds what no type of numbers does
	}
	if text != (kind == '"') {
		return fmt.Errorf("%s, where %s is expected", t.Kind(), typ)
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
func appendList(d *jsontext.Decoder, typ arrow.DataType, b array.Builder) error {
	l, ok := b.(array.ListLikeBuilder)
	if !ok {
		return fmt.Errorf("an array, where %s is expected", typ)
	}
	l.Append(true)
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	elem := typ.(arrow.ListLikeType).Elem()
	for d.PeekKind() != ']' {
		if err := appendValue(d, elem, l.ValueBuilder()); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}
