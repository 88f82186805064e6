package clickhouse

import (
	"encoding/binary"
	"io"
	"math"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/sinks/database"
)

// piece is about how many rows are encoded at once.
const piece = 8 << 10

// block is a load in the format Native: the numbers of columns and of rows, and for each column its name, its type and its values. A
// block that is cut off is no block, so that a connection which breaks loads nothing. It implements [io.Reader], and encodes what
// is read, so that the server works while the rest is made.
//
// Source: https://clickhouse.com/docs/interfaces/formats/Native
type block struct {
	next func(b []byte) (_ []byte, more bool) // appends the next part
	buf  []byte
	sent int
	more bool
}

// Read implements [io.Reader].
func (k *block) Read(p []byte) (int, error) {
	for k.sent == len(k.buf) {
		if !k.more {
			return 0, io.EOF
		}
		k.buf, k.more = k.next(k.buf[:0])
		k.sent = 0
	}
	n := copy(p, k.buf[k.sent:])
	k.sent += n
	return n, nil
}

// part appends a part of a block.
type part func(b []byte) []byte

// newBlock returns the rows of records, whose number it is given, with columns whose value is the same in all rows.
func newBlock(rows int, columns []column, records []arrow.Record, same []same) *block {
	parts := []part{func(b []byte) []byte {
		return binary.AppendUvarint(binary.AppendUvarint(b, uint64(len(columns)+len(same))), uint64(rows))
	}}
	for i, c := range columns {
		arrays := make([]arrow.Array, len(records))
		for j, r := range records {
			arrays[j] = r.Column(i)
		}
		parts = append(parts, func(b []byte) []byte { return putText(putText(b, c.name), c.kind) })
		if c.nullable {
			parts = each(parts, arrays, func(a arrow.Array) values { return nulls(a) })
		}
		if strings.HasPrefix(c.kind, "Array(") {
			end := uint64(0)
			parts = each(parts, arrays, func(a arrow.Array) values { return ends(a.(*array.List), &end) })
		}
		parts = each(parts, arrays, valuesOf)
	}
	for _, s := range same {
		parts = append(parts, func(b []byte) []byte { return putText(putText(b, s.name), s.kind) })
		for from := 0; from < rows; from += piece {
			parts = append(parts, func(b []byte) []byte {
				for range min(piece, rows-from) {
					b = append(b, s.value...)
				}
				return b
			})
		}
	}
	return &block{more: true, next: func(b []byte) ([]byte, bool) {
		b = parts[0](b)
		parts = parts[1:]
		return b, len(parts) > 0
	}}
}

// same is a column with one value, as it is encoded.
type same struct {
	name, kind string
	value      []byte
}

// place returns the columns that are the same in all rows of a load.
func place(lane string, l database.Load) []same {
	return []same{
		{laneColumn, "String", putText(nil, lane)},
		{nextColumn, "Int64", binary.LittleEndian.AppendUint64(nil, uint64(l.Next))},
		{loadColumn, "String", putText(nil, l.ID)},
	}
}

// values appends the values [from, to) of an array.
type values func(b []byte, from, to int) []byte

// each adds the parts of the arrays of a column.
func each(parts []part, arrays []arrow.Array, of func(a arrow.Array) values) []part {
	for _, a := range arrays {
		var put values
		for from := 0; from < a.Len(); from += piece {
			parts = append(parts, func(b []byte) []byte {
				if put == nil {
					put = of(a)
				}
				return put(b, from, min(from+piece, a.Len()))
			})
		}
	}
	return parts
}

// nulls appends which values are null.
func nulls(a arrow.Array) values {
	return func(b []byte, from, to int) []byte {
		if a.NullN() == 0 {
			return append(b, make([]byte, to-from)...)
		}
		for i := from; i < to; i++ {
			null := byte(0)
			if a.IsNull(i) {
				null = 1
			}
			b = append(b, null)
		}
		return b
	}
}

// ends appends where the lists of a column end. end is where the last one before them does.
func ends(a *array.List, end *uint64) values {
	return func(b []byte, from, to int) []byte {
		for i := from; i < to; i++ {
			if a.IsValid(i) {
				first, last := a.ValueOffsets(i)
				*end += uint64(last - first)
			}
			b = binary.LittleEndian.AppendUint64(b, *end)
		}
		return b
	}
}

// valuesOf returns what appends the values of an array. Those of nulls are zero.
func valuesOf(a arrow.Array) values {
	if get := database.Integers(a); get != nil {
		width := a.DataType().(arrow.FixedWidthDataType).BitWidth() / 8
		return fixed(a, width, func(i int) uint64 { return uint64(get(i)) })
	}
	switch a := a.(type) {
	case *array.Boolean:
		return fixed(a, 1, func(i int) uint64 {
			if a.Value(i) {
				return 1
			}
			return 0
		})
	case *array.Float32:
		return fixed(a, 4, func(i int) uint64 { return uint64(math.Float32bits(a.Value(i))) })
	case *array.Float64:
		return fixed(a, 8, func(i int) uint64 { return math.Float64bits(a.Value(i)) })
	case *array.Date32:
		return fixed(a, 2, func(i int) uint64 { return uint64(a.Value(i)) })
	case *array.Timestamp:
		micros := database.Micros(a)
		return fixed(a, 8, func(i int) uint64 { return uint64(micros(i)) })
	case *array.FixedSizeBinary:
		zero := make([]byte, a.DataType().(*arrow.FixedSizeBinaryType).ByteWidth)
		return func(b []byte, from, to int) []byte {
			for i := from; i < to; i++ {
				if a.IsValid(i) {
					b = append(b, a.Value(i)...)
				} else {
					b = append(b, zero...)
				}
			}
			return b
		}
	case *array.List:
		get := database.Bytes(a.ListValues())
		return func(b []byte, from, to int) []byte {
			for i := from; i < to; i++ {
				if a.IsValid(i) {
					first, last := a.ValueOffsets(i)
					b = texts(b, get, int(first), int(last))
				}
			}
			return b
		}
	}
	get := database.Bytes(a)
	if a.NullN() == 0 {
		return func(b []byte, from, to int) []byte { return texts(b, get, from, to) }
	}
	return func(b []byte, from, to int) []byte {
		for i := from; i < to; i++ {
			if a.IsNull(i) {
				b = append(b, 0)
				continue
			}
			b = putText(b, get(i))
		}
		return b
	}
}

// fixed returns what appends numbers of a width.
func fixed(a arrow.Array, width int, get func(i int) uint64) values {
	return func(b []byte, from, to int) []byte {
		for i := from; i < to; i++ {
			v := uint64(0)
			if a.IsValid(i) {
				v = get(i)
			}
			b = binary.LittleEndian.AppendUint64(b, v)
			b = b[:len(b)-8+width]
		}
		return b
	}
}

func texts(b []byte, get func(i int) []byte, from, to int) []byte {
	for i := from; i < to; i++ {
		b = putText(b, get(i))
	}
	return b
}

func putText[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
