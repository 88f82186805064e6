package codec

import (
	"math"
	"strconv"
	"unsafe"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/charset"
)

// carryField appends the value at v to the column of field i, null when it is missing, null or of another type.
func (c *ndjson) carryField(b *pipeline.Batch, i int, v capture) {
	column, format, ok := &b.Carried[i], c.times[i], true
	switch value := c.data[v.start:v.end]; column.Field.Type {
	case pipeline.JSON:
		if ok = v.kind > missing; ok {
			column.Text.Data = c.appendJSON(column.Text.Data, v)
			column.Text.End()
		}
	case pipeline.String:
		if ok = v.kind == text; ok {
			column.Text.Data = c.appendText(column.Text.Data, v)
			column.Text.End()
		}
	case pipeline.Int64:
		var i int64
		if ok = v.kind == number; ok {
			i, ok = parseInt(value)
		}
		if ok {
			column.Ints = append(column.Ints, i)
		}
	case pipeline.Float64:
		var f float64
		if ok = v.kind == number; ok {
			f, ok = parseFloat(value)
		}
		if ok {
			column.Floats = append(column.Floats, f)
		}
	case pipeline.Bool:
		if ok = v.kind == boolean; ok {
			column.Bools = append(column.Bools, value[0] == 't')
		}
	case pipeline.Timestamp:
		var t int64
		if t, ok = c.timestamp(v, format); ok {
			column.Ints = append(column.Ints, t)
		}
	}
	if ok {
		column.Valid = append(column.Valid, true)
		return
	}
	if v.kind > null {
		c.fault.NoteField(i, valueAt(v))
	}
	column.AppendNull()
}

// appendText appends the string at v, unescaped, as well-formed UTF-8.
func (c *ndjson) appendText(dst []byte, v capture) []byte {
	value := c.data[v.start:v.end]
	if v.escaped {
		c.scratch = appendUnescaped(c.scratch[:0], value)
		value = c.scratch
	} else if c.ascii() {
		return append(dst, value...)
	}
	return charset.AppendUTF8(dst, value)
}

// appendJSON appends the text of the value at v as well-formed UTF-8.
func (c *ndjson) appendJSON(dst []byte, v capture) []byte {
	if v.kind == text {
		v.start, v.end = v.start-1, v.end+1
	}
	return charset.AppendUTF8(dst, c.data[v.start:v.end])
}

func (c *ndjson) timestamp(v capture, format TimeFormat) (int64, bool) {
	value := c.data[v.start:v.end]
	if format != RFC3339 {
		if v.kind != number {
			return 0, false
		}
		return parseEpoch(value, format)
	}
	if v.kind != text {
		return 0, false
	}
	if v.escaped {
		c.scratch = appendUnescaped(c.scratch[:0], value)
		value = c.scratch
	}
	return ParseRFC3339(value)
}

// parseInt reads a JSON number that is a whole number and fits.
func parseInt(s []byte) (int64, bool) {
	digits := s
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		digits = s[1:]
	}
	u := uint64(0)
	for _, d := range digits {
		d -= '0'
		if d > 9 {
			return wholeFloat(s)
		}
		if u > (math.MaxUint64-9)/10 {
			return wholeFloat(s)
		}
		u = u*10 + uint64(d)
	}
	if negative {
		return -int64(u), u <= 1<<63
	}
	return int64(u), u <= math.MaxInt64
}

// wholeFloat reads a JSON number with a fraction or an exponent that is nevertheless a whole number, such as
// 3.0 or 1e3, as long as every whole number of its size is a float64.
func wholeFloat(s []byte) (int64, bool) {
	f, ok := parseFloat(s)
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// ParseInt reads a whole number in decimal digits that fits.
func ParseInt(s []byte) (int64, bool) {
	if 0 < len(s) && len(s) <= 18 { // of that many digits every number fits
		n := uint64(0)
		for i, d := range s {
			if d -= '0'; d > 9 {
				break
			}
			n = n*10 + uint64(d)
			if i == len(s)-1 {
				return int64(n), true
			}
		}
	}
	if !isDecimal(s) {
		return 0, false
	}
	return parseInt(s)
}

// ParseNumber reads a number as JSON has it.
func ParseNumber(s []byte) (float64, bool) {
	if f, ok := shortFloat(s); ok {
		return f, true
	}
	grammar := scanner{data: s}
	if !grammar.number() || grammar.pos != len(s) {
		return 0, false
	}
	return parseFloat(s)
}

// ParseFloat reads a decimal number without an exponent.
func ParseFloat(s []byte) (float64, bool) {
	if f, ok := shortFloat(s); ok {
		return f, true
	}
	if !isDecimal(s) {
		return 0, false
	}
	return parseFloat(s)
}

// powers are those of ten which a float64 has exactly, as many as shortFloat needs.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14}

// shortFloat reads a JSON number that is at most 15 digits, with or without a point between. A float64 has both them as a whole
// number and the power of ten that divides it, so that the quotient is rounded once. It returns false for others, which may be
// numbers.
func shortFloat(s []byte) (float64, bool) {
	if len(s) < 2 || len(s) > 15 || s[0] == '0' && s[1] != '.' || s[0] == '.' || s[len(s)-1] == '.' {
		return 0, false
	}
	n, point := uint64(0), len(s)-1
	for i, d := range s {
		switch {
		case d-'0' <= 9:
			n = n*10 + uint64(d-'0')
		case d == '.' && point == len(s)-1:
			point = i
		default:
			return 0, false
		}
	}
	return float64(n) / powers[len(s)-1-point], true
}

// parseFloat reads a JSON number. Its text is passed as it is, since a copy of more than 32 bytes would be
// allocated; strconv keeps nothing of it, its errors hold copies.
func parseFloat(s []byte) (float64, bool) {
	if f, ok := shortFloat(s); ok {
		return f, true
	}
	f, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(s), len(s)), 64)
	return f, err == nil
}
