package postgres

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/sinks/database"
)

// The binary form of COPY: a header, then for each row the number of its values, and for each value its length, -1 for null, and
// what the receive function of its type reads.
//
// Source: https://www.postgresql.org/docs/current/sql-copy.html
const (
	copyHeader = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" // no flags, no extension
	copyEnd    = "\xff\xff"
	nullLength = "\xff\xff\xff\xff"
	// piece is about how much is encoded at once, which is what pgconn sends at once.
	piece = 64 << 10
	// epochMicros and epochDays are the time from 1970 to 2000, from where PostgreSQL counts.
	epochMicros = 946_684_800_000_000
	epochDays   = 10_957
	// textOID is the type of the elements of text[].
	textOID = 25
)

// field appends the length and the content of a value that is not null.
type field func(b []byte, i int) []byte

// rows are records as COPY takes them. It implements [io.Reader].
type rows struct {
	columns []column
	left    []arrow.Record // the first of them is being read
	at      int            // row of the first
	fields  []field        // of the first
	buf     []byte
	sent    int // of buf
	ended   bool
}

func newRows(columns []column, records []arrow.Record) *rows {
	return &rows{columns: columns, left: records, buf: append(make([]byte, 0, 2*piece), copyHeader...)}
}

// Read implements [io.Reader].
func (r *rows) Read(p []byte) (int, error) {
	if r.sent == len(r.buf) {
		if r.ended {
			return 0, io.EOF
		}
		r.buf, r.sent = r.fill(r.buf[:0]), 0
	}
	n := copy(p, r.buf[r.sent:])
	r.sent += n
	return n, nil
}

// fill appends about a piece of rows, or the end.
func (r *rows) fill(b []byte) []byte {
	for len(b) < piece {
		if len(r.left) == 0 {
			r.ended = true
			return append(b, copyEnd...)
		}
		first := r.left[0]
		if r.at == 0 {
			r.open(first)
		}
		for ; r.at < int(first.NumRows()) && len(b) < piece; r.at++ {
			b = r.row(b, r.at)
		}
		if r.at == int(first.NumRows()) {
			r.left, r.at = r.left[1:], 0
		}
	}
	return b
}

// open gets ready for the values of a record.
func (r *rows) open(first arrow.Record) {
	r.fields = r.fields[:0]
	for i, c := range r.columns {
		a := first.Column(i)
		f := fieldOf(a, c.as)
		if a.NullN() > 0 {
			some := f
			f = func(b []byte, i int) []byte {
				if a.IsNull(i) {
					return append(b, nullLength...)
				}
				return some(b, i)
			}
		}
		r.fields = append(r.fields, f)
	}
}

func (r *rows) row(b []byte, i int) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(r.fields)))
	for _, f := range r.fields {
		b = f(b, i)
	}
	return b
}

// fieldOf returns the field of an array for a column of a type, which is that of [kindOf] or one of its others.
func fieldOf(a arrow.Array, as string) field {
	if get := database.Integers(a); get != nil {
		return integerField(get, as)
	}
	switch a := a.(type) {
	case *array.Boolean:
		return func(b []byte, i int) []byte {
			if a.Value(i) {
				return append(b, 0, 0, 0, 1, 1)
			}
			return append(b, 0, 0, 0, 1, 0)
		}
	case *array.Float32:
		return floatField(func(i int) float64 { return float64(a.Value(i)) }, as)
	case *array.Float64:
		return floatField(a.Value, as)
	case *array.Date32:
		days := a.Date32Values()
		return func(b []byte, i int) []byte { return put4(b, uint32(days[i]-epochDays)) }
	case *array.Timestamp:
		micros := database.Micros(a)
		return func(b []byte, i int) []byte { return put8(b, uint64(micros(i)-epochMicros)) }
	case *array.List:
		return textsField(a)
	}
	get := database.Bytes(a)
	switch as {
	case "bytea":
		return func(b []byte, i int) []byte { return putBytes(b, get(i)) }
	case "jsonb":
		return func(b []byte, i int) []byte { // version 1 of its binary form is a byte before the text
			v := get(i)
			return cleanJSON(append(append(binary.BigEndian.AppendUint32(b, uint32(len(v)+1)), 1), v...), len(v))
		}
	case "json":
		return func(b []byte, i int) []byte { v := get(i); return cleanJSON(putBytes(b, v), len(v)) }
	}
	return func(b []byte, i int) []byte { return putText(b, get(i)) }
}

func put4(b []byte, v uint32) []byte {
	return binary.BigEndian.AppendUint32(append(b, 0, 0, 0, 4), v)
}

func put8(b []byte, v uint64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 8), v)
}

func putBytes(b, v []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
}

// putText puts U+FFFD in the place of NUL, which PostgreSQL does not have in texts.
func putText(b, v []byte) []byte {
	if bytes.IndexByte(v, 0) >= 0 {
		v = bytes.ReplaceAll(v, []byte{0}, []byte("\uFFFD"))
	}
	return putBytes(b, v)
}

func integerField(get func(i int) int64, as string) field {
	switch as {
	case "smallint":
		return func(b []byte, i int) []byte {
			return binary.BigEndian.AppendUint16(append(b, 0, 0, 0, 2), uint16(get(i)))
		}
	case "integer":
		return func(b []byte, i int) []byte { return put4(b, uint32(get(i))) }
	}
	return func(b []byte, i int) []byte { return put8(b, uint64(get(i))) }
}

func floatField(get func(i int) float64, as string) field {
	if as == "real" {
		return func(b []byte, i int) []byte { return put4(b, math.Float32bits(float32(get(i)))) }
	}
	return func(b []byte, i int) []byte { return put8(b, math.Float64bits(get(i))) }
}

// textsField appends lists of texts: dimensions, whether there are nulls, the type of the elements, and for the only dimension its
// length and first index; then the elements as fields. An empty list has no dimension.
func textsField(a *array.List) field {
	get := database.Bytes(a.ListValues())
	return func(b []byte, i int) []byte {
		from, to := a.ValueOffsets(i)
		start := len(b)
		b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, textOID)
		if to > from {
			b[start+7] = 1
			b = append(binary.BigEndian.AppendUint32(b, uint32(to-from)), 0, 0, 0, 1)
		}
		for j := int(from); j < int(to); j++ {
			b = putText(b, get(j))
		}
		binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-4))
		return b
	}
}

// cleanJSON puts U+FFFD in the place of NUL within JSON, which the last n bytes of b are. Its escape is as long.
func cleanJSON(b []byte, n int) []byte {
	nul, text := []byte("u0000"), b[len(b)-n:]
	if !bytes.Contains(text, nul) {
		return b
	}
	for i := 0; i+1 < n; i++ {
		if text[i] != '\\' {
			continue
		}
		i++ // what is escaped
		if bytes.HasPrefix(text[i:], nul) {
			copy(text[i+1:], "fffd")
		}
	}
	return b
}
