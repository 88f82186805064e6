package avrorow

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/float16"
)

// Encoder writes rows. It is for one goroutine at a time.
type Encoder struct {
	columns []column
	err     error // the first of the current record
}

// NewEncoder returns an encoder of rows of that form.
func (r *Rows) NewEncoder() *Encoder {
	e := &Encoder{}
	for _, c := range r.columns {
		e.columns = append(e.columns, c.clone())
	}
	return e
}

// Append appends each row of r, whose schema is that of the form, after prefix, and to ends where in dst each ends. Both
// are the caller's, and so is the memory of r when it returns. It allocates nothing but room in the two. The error is about a
// value that its type does not allow: a null in a column without nulls, or a time in seconds that milliseconds cannot say.
func (e *Encoder) Append(dst []byte, ends []int, prefix []byte, r arrow.Record) ([]byte, []int, error) {
	e.err = nil
	for i := range e.columns {
		e.columns[i].bind(r.Column(i))
	}
	for row := range int(r.NumRows()) {
		dst = append(dst, prefix...)
		for i := range e.columns {
			dst = e.value(dst, &e.columns[i], row)
		}
		ends = append(ends, len(dst))
	}
	for i := range e.columns {
		e.columns[i].release()
	}
	return dst, ends, e.err
}

// fail notes that a value cannot be written. The bytes are of no use then.
func (e *Encoder) fail(c *column, reason string) {
	if e.err == nil {
		e.err = c.describe(reason)
	}
}

// isNull reports whether value i is null.
func (c *column) isNull(i int) bool {
	return c.valid != nil && !bitutil.BitIsSet(c.valid, c.at+i)
}

// value appends value i of a column. It is longer than others, because a call for every value would cost as much as
// writing it.
func (e *Encoder) value(dst []byte, c *column, i int) []byte {
	if c.op == opDictionary {
		return e.entry(dst, c, i)
	}
	if c.isNull(i) && c.op != opNull {
		if !c.nullable {
			e.fail(c, "a null, and the schema says that there are none")
		}
		return append(dst, 0)
	}
	if c.nullable {
		dst = append(dst, 2)
	}
	switch c.op {
	case opText:
		from, to := c.offsets[i], c.offsets[i+1]
		dst = appendLong(dst, int64(to-from))
		return append(dst, c.data[from:to]...)
	case opInt64:
		return appendLong(dst, int64(binary.NativeEndian.Uint64(c.data[8*i:])))
	case opInt32:
		return appendLong(dst, int64(int32(binary.NativeEndian.Uint32(c.data[4*i:]))))
	case opBool:
		if bitutil.BitIsSet(c.data, c.at+i) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case opList, opLargeList, opFixedList, opMap:
		from, to := c.span(i)
		if to > from {
			dst = appendLong(dst, int64(to-from))
		}
		for ; from < to; from++ {
			for j := range c.next { // the items, or keys and values
				dst = e.value(dst, &c.next[j], from)
			}
		}
		return append(dst, 0)
	case opRecord:
		for j := range c.next {
			dst = e.value(dst, &c.next[j], i)
		}
		return dst
	}
	return e.rare(dst, c, i)
}

// entry appends the value that entry i of a dictionary column stands for. Either of the two may be null.
func (e *Encoder) entry(dst []byte, c *column, i int) []byte {
	index, values := &c.next[0], &c.next[1]
	null := c.isNull(i)
	j := 0
	if !null {
		j = int(index.integer(i))
		null = values.isNull(j)
	}
	if null {
		if !c.nullable {
			e.fail(c, "a null, and the schema says that there are none")
		}
		return append(dst, 0)
	}
	if c.nullable {
		dst = append(dst, 2)
	}
	return e.value(dst, values, j)
}

// rare appends what rows of URLs hardly have.
func (e *Encoder) rare(dst []byte, c *column, i int) []byte {
	switch c.op {
	case opNull:
		return dst
	case opInt8, opInt16, opUint8, opUint16, opUint32:
		return appendLong(dst, c.integer(i))
	case opUint64:
		var digits [9]byte
		binary.BigEndian.PutUint64(digits[1:], binary.NativeEndian.Uint64(c.data[8*i:]))
		return appendDecimal(dst, digits[:])
	case opHalf:
		half := float16.FromBits(binary.NativeEndian.Uint16(c.data[2*i:]))
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(half.Float32()))
	case opFloat:
		return binary.LittleEndian.AppendUint32(dst, binary.NativeEndian.Uint32(c.data[4*i:]))
	case opDouble:
		return binary.LittleEndian.AppendUint64(dst, binary.NativeEndian.Uint64(c.data[8*i:]))
	case opDecimal: // words, the lowest first
		var digits [32]byte
		words := c.data[c.width*i:][:c.width]
		for at := 0; at < c.width; at += 8 {
			binary.BigEndian.PutUint64(digits[c.width-8-at:], binary.NativeEndian.Uint64(words[at:]))
		}
		return appendDecimal(dst, digits[:c.width])
	case opLargeText:
		from, to := c.span(i)
		dst = appendLong(dst, int64(to-from))
		return append(dst, c.data[from:to]...)
	case opFixed:
		return append(dst, c.data[c.width*i:][:c.width]...)
	case opMillisOfDays:
		const perDay = 24 * 60 * 60 * 1000
		millis := int64(binary.NativeEndian.Uint64(c.data[8*i:]))
		days := millis / perDay
		if millis%perDay < 0 {
			days--
		}
		if int64(int32(days)) != days {
			e.fail(c, "a date that does not fit into 32 bits of days")
		}
		return appendLong(dst, days)
	default: // opSeconds
		seconds := c.seconds(i)
		if seconds > math.MaxInt64/1000 || seconds < math.MinInt64/1000 {
			e.fail(c, "a time in seconds that does not fit into 64 bits of milliseconds")
		}
		return appendLong(dst, seconds*1000)
	}
}

func (c *column) seconds(i int) int64 {
	if c.width == 4 {
		return int64(int32(binary.NativeEndian.Uint32(c.data[4*i:])))
	}
	return int64(binary.NativeEndian.Uint64(c.data[8*i:]))
}

// integer returns value i of a column of whole numbers.
func (c *column) integer(i int) int64 {
	switch c.op {
	case opInt8:
		return int64(int8(c.data[i]))
	case opUint8:
		return int64(c.data[i])
	case opInt16:
		return int64(int16(binary.NativeEndian.Uint16(c.data[2*i:])))
	case opUint16:
		return int64(binary.NativeEndian.Uint16(c.data[2*i:]))
	case opInt32:
		return int64(int32(binary.NativeEndian.Uint32(c.data[4*i:])))
	case opUint32:
		return int64(binary.NativeEndian.Uint32(c.data[4*i:]))
	default:
		return int64(binary.NativeEndian.Uint64(c.data[8*i:]))
	}
}

// appendLong appends a number, by turns positive and negative, in groups of seven bits.
//
// Source: https://avro.apache.org/docs/1.12.0/specification/#binary-encoding
func appendLong(dst []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	if u < 0x80 { // most are short
		return append(dst, byte(u))
	}
	return binary.AppendUvarint(dst, u)
}

// appendDecimal appends a number, big-endian in two's complement, without the bytes that its sign repeats.
func appendDecimal(dst, digits []byte) []byte {
	for len(digits) > 1 && (digits[0] == 0 && digits[1] < 0x80 || digits[0] == 0xff && digits[1] >= 0x80) {
		digits = digits[1:]
	}
	dst = appendLong(dst, int64(len(digits)))
	return append(dst, digits...)
}
