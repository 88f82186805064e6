package ndjson

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// appender appends value i of an array, which is not null, as JSON.
type appender func(dst []byte, i int) []byte

// column is a column of a record, ready to be read row by row. It is valid as long as the record, and for one goroutine
// at a time.
type column struct {
	valid []byte // bitmap; empty if there are no nulls
	at    int    // bit of the first value there
	texts texts  // of a column of texts, which are most; else value appends
	value appender
}

// texts are the values of a column of strings.
type texts struct {
	offsets []int32 // begins with that of the first value
	data    []byte
}

func (c *column) isNull(i int) bool {
	at := c.at + i
	return len(c.valid) > 0 && c.valid[at>>3]>>(at&7)&1 == 0
}

// append appends value i, as an element of a list.
func (c *column) append(dst []byte, i int) []byte {
	if c.isNull(i) {
		return null.append(dst)
	}
	if c.value == nil {
		from, to := c.texts.offsets[i], c.texts.offsets[i+1]
		return appendText(dst, &quote, c.texts.data[from:], int(to-from))
	}
	return c.value(dst, i)
}

// key is what stands before the value of a column: its name, and the brace or comma before that.
type key struct {
	name fixed
	text fixed // with the quote that opens a text
	null fixed // with the null
}

// namesOf returns the keys of a record.
func namesOf(s *arrow.Schema) []key { return keysOf(s.Fields()) }

func keysOf(fields []arrow.Field) []key {
	keys := make([]key, len(fields))
	for i, f := range fields {
		before := byte(',')
		if i == 0 {
			before = '{'
		}
		name := append(appendString([]byte{before}, []byte(f.Name)), ':')
		name = name[:len(name):len(name)]
		keys[i] = key{name: fixedOf(name), text: fixedOf(append(name, '"')), null: fixedOf(append(name, "null"...))}
	}
	return keys
}

func columnsOf(r arrow.Record) []column {
	cols := make([]column, r.NumCols())
	for i := range cols {
		cols[i] = columnOf(r.Column(i))
	}
	return cols
}

func columnOf(a arrow.Array) column {
	c := column{at: a.Data().Offset()}
	if a.NullN() > 0 {
		c.valid = a.NullBitmapBytes()
	}
	if t, ok := a.(*array.String); ok {
		c.texts = textsOf(t)
	} else {
		c.value = appenderOf(a)
	}
	return c
}

func textsOf(a *array.String) texts {
	if a.Len() == 0 {
		return texts{}
	}
	buffers := a.Data().Buffers()
	t := texts{offsets: arrow.Int32Traits.CastFromBytes(buffers[1].Bytes())[a.Data().Offset():]}
	if buffers[2] != nil { // it may be missing when all are empty
		t.data = buffers[2].Bytes()
	}
	return t
}

// appendRow appends row i as an object and a newline.
func appendRow(dst []byte, names []key, cols []column, i int) []byte {
	return append(appendObject(dst, names, cols, i), '\n')
}

func appendObject(dst []byte, keys []key, cols []column, i int) []byte {
	if len(cols) == 0 {
		dst = append(dst, '{')
	}
	for j := range cols {
		c, k := &cols[j], &keys[j]
		switch {
		case c.isNull(i):
			dst = k.null.append(dst)
		case c.value == nil:
			from, to := c.texts.offsets[i], c.texts.offsets[i+1]
			dst = appendText(dst, &k.text, c.texts.data[from:], int(to-from))
		default:
			dst = c.value(k.name.append(dst), i)
		}
	}
	return append(dst, '}')
}

// check refuses types that appenderOf does not know.
func check(s *arrow.Schema) error {
	for _, f := range s.Fields() {
		if err := checkType(f.Type); err != nil {
			return fmt.Errorf("column %s: %w; leave the column out", f.Name, err)
		}
	}
	return nil
}

func checkType(t arrow.DataType) error {
	switch t := t.(type) {
	case *arrow.BooleanType, *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type,
		*arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type, *arrow.Float32Type, *arrow.Float64Type,
		*arrow.StringType, *arrow.LargeStringType, *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.FixedSizeBinaryType,
		*arrow.Date32Type, *arrow.TimestampType:
		return nil
	case *arrow.ListType, *arrow.LargeListType, *arrow.MapType, *arrow.StructType:
		for _, f := range t.(arrow.NestedType).Fields() {
			if err := checkType(f.Type); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("the type %s has no form in JSON here", t)
}

// appenderOf returns the appender of an array of a type that checkType accepts.
func appenderOf(a arrow.Array) appender {
	switch a := a.(type) {
	case *array.LargeString:
		return appendLarge(a)
	case *array.Binary:
		return func(dst []byte, i int) []byte { return appendBase64(dst, a.Value(i)) }
	case *array.LargeBinary:
		return func(dst []byte, i int) []byte { return appendBase64(dst, a.Value(i)) }
	case *array.FixedSizeBinary:
		return func(dst []byte, i int) []byte { return appendBase64(dst, a.Value(i)) }
	case *array.Boolean:
		return func(dst []byte, i int) []byte { return strconv.AppendBool(dst, a.Value(i)) }
	case *array.Float32:
		return func(dst []byte, i int) []byte { return appendFloat(dst, float64(a.Value(i)), 32) }
	case *array.Float64:
		return func(dst []byte, i int) []byte { return appendFloat(dst, a.Value(i), 64) }
	case *array.Date32:
		return func(dst []byte, i int) []byte { return appendDate(dst, int64(a.Value(i))) }
	case *array.Timestamp:
		c := newClock(a.DataType().(*arrow.TimestampType).Unit)
		return func(dst []byte, i int) []byte { return c.append(dst, int64(a.Value(i))) }
	case *array.Struct:
		return appendStruct(a)
	case *array.List:
		return appendList(a.ListValues(), a.Offsets(), a.Data().Offset())
	case *array.Map:
		return appendList(a.ListValues(), a.Offsets(), a.Data().Offset())
	case *array.LargeList:
		return appendList(a.ListValues(), a.Offsets(), a.Data().Offset())
	}
	return integerAppender(a)
}

func integerAppender(a arrow.Array) appender {
	switch a := a.(type) {
	case *array.Int8:
		return func(dst []byte, i int) []byte { return appendInt(dst, int64(a.Value(i))) }
	case *array.Int16:
		return func(dst []byte, i int) []byte { return appendInt(dst, int64(a.Value(i))) }
	case *array.Int32:
		return func(dst []byte, i int) []byte { return appendInt(dst, int64(a.Value(i))) }
	case *array.Int64:
		return func(dst []byte, i int) []byte { return appendInt(dst, a.Value(i)) }
	case *array.Uint8:
		return func(dst []byte, i int) []byte { return appendUint(dst, uint64(a.Value(i))) }
	case *array.Uint16:
		return func(dst []byte, i int) []byte { return appendUint(dst, uint64(a.Value(i))) }
	case *array.Uint32:
		return func(dst []byte, i int) []byte { return appendUint(dst, uint64(a.Value(i))) }
	case *array.Uint64:
		return func(dst []byte, i int) []byte { return appendUint(dst, a.Value(i)) }
	}
	panic(fmt.Sprintf("ndjson: type %s was not refused by check", a.DataType()))
}

// appendLarge takes the texts from the buffer: appendString reads bytes.
func appendLarge(a *array.LargeString) appender {
	var data []byte
	if b := a.Data().Buffers()[2]; b != nil {
		data = b.Bytes()
	}
	return func(dst []byte, i int) []byte {
		from := a.ValueOffset64(i)
		return appendString(dst, data[from:][:a.ValueLen(i)])
	}
}

// appendList appends list i, whose elements begin at offset at+i.
func appendList[N int32 | int64](values arrow.Array, offsets []N, at int) appender {
	elems := columnOf(values)
	return func(dst []byte, i int) []byte {
		start, end := int(offsets[at+i]), int(offsets[at+i+1])
		dst = append(dst, '[')
		for j := start; j < end; j++ {
			if j > start {
				dst = append(dst, ',')
			}
			dst = elems.append(dst, j)
		}
		return append(dst, ']')
	}
}

func appendStruct(a *array.Struct) appender {
	keys := keysOf(a.DataType().(*arrow.StructType).Fields())
	fields := make([]column, a.NumField())
	for j := range fields {
		fields[j] = columnOf(a.Field(j))
	}
	return func(dst []byte, i int) []byte { return appendObject(dst, keys, fields, i) }
}

func appendBase64(dst, v []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, v)
	return append(dst, '"')
}
