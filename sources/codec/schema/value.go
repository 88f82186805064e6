package schema

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"time"
)

// Kind is what a value is, whatever format it was written in.
type Kind uint8

// The kinds of values.
const (
	Missing Kind = iota // Missing is a value that the record, or its schema, does not have.
	Null                // Null is there and says that there is nothing.
	Bool                // Bool is Num != 0.
	Int                 // Int is Num.
	Uint                // Uint is Num as a number without sign, which as an Int it would be negative.
	Float               // Float is Float.
	Text                // Text is Data, in UTF-8 or not.
	Bytes               // Bytes is Data.
	Enum                // Enum is Symbol, and the number Num.
	Decimal             // Decimal is Data, big-endian in two's complement, by 10 to the power of Scale.
	Date                // Date is Num days since 1970.
	Clock               // Clock is Num microseconds since midnight.
	Instant             // Instant is Num microseconds since 1970 UTC.
	UUID                // UUID is the 16 bytes of Data.
	Complex             // Complex is what only JSON can show: the reader does, from Data and Node.
)

// Value is a value of a record. Data aliases the record.
type Value struct {
	Kind   Kind
	Scale  int32
	At     int // where it begins in what the reader was given
	Num    int64
	Float  float64
	Data   []byte
	Symbol string
	Node   any // of the reader
}

// appendText appends the value as text, or returns false for what is none.
func (v *Value) appendText(dst []byte) ([]byte, bool) {
	switch v.Kind {
	case Text, Bytes:
		return append(dst, v.Data...), true
	case Enum:
		return append(dst, v.Symbol...), true
	case Decimal:
		return appendDecimal(dst, v.Data, int(v.Scale)), true
	case Date:
		return time.Unix(v.Num*86400, 0).UTC().AppendFormat(dst, time.DateOnly), true
	case Clock:
		return time.UnixMicro(v.Num).UTC().AppendFormat(dst, "15:04:05.999999"), true
	case Instant:
		return time.UnixMicro(v.Num).UTC().AppendFormat(dst, "2006-01-02T15:04:05.999999Z"), true
	case UUID:
		return appendUUID(dst, v.Data), true
	default:
		return dst, false
	}
}

// AppendJSON appends a value that is not Complex as JSON: what has no type of its own there is a string, bytes in
// base64.
func (v *Value) AppendJSON(dst []byte) []byte {
	switch v.Kind {
	case Bool:
		return strconv.AppendBool(dst, v.Num != 0)
	case Int:
		return strconv.AppendInt(dst, v.Num, 10)
	case Uint:
		return strconv.AppendUint(dst, uint64(v.Num), 10)
	case Float:
		if math.IsNaN(v.Float) || math.IsInf(v.Float, 0) {
			return strconv.AppendQuote(dst, strconv.FormatFloat(v.Float, 'g', -1, 64)) // JSON has no such numbers
		}
		return strconv.AppendFloat(dst, v.Float, 'g', -1, 64)
	case Bytes:
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v.Data), '"')
	case Text:
		return AppendString(dst, v.Data)
	case Enum:
		return AppendString(dst, v.Symbol)
	case Missing, Null, Complex:
		return append(dst, "null"...)
	default:
		dst, _ = v.appendText(append(dst, '"'))
		return append(dst, '"')
	}
}

// Fits reports whether AppendJSON appends at most room bytes, give or take a number.
func (v *Value) Fits(room int) bool {
	switch {
	case v.Kind == Text && len(v.Data) > room/6:
		return StringSize(v.Data) <= room
	case v.Kind == Bytes:
		return base64.StdEncoding.EncodedLen(len(v.Data)) <= room
	default:
		return room >= 0
	}
}

// StringSize returns how many bytes AppendString appends.
func StringSize(s []byte) int {
	n := len(s) + 2
	for _, b := range s {
		switch {
		case b == '"' || b == '\\' || b == '\n':
			n++
		case b < ' ' || b == 0x7f:
			n += 5
		}
	}
	return n
}

// AppendString appends s as a JSON string. Bytes that are not UTF-8 stay for the caller to deal with.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch b := s[i]; {
		case b == '"' || b == '\\':
			dst = append(dst, '\\', b)
		case b == '\n':
			dst = append(dst, `\n`...)
		case b < ' ' || b == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		default:
			dst = append(dst, b)
		}
	}
	return append(dst, '"')
}

// appendUUID appends the usual form of a UUID.
func appendUUID(dst, id []byte) []byte {
	dst = hex.AppendEncode(dst, id[:4])
	for at := 4; at < 10; at += 2 {
		dst = hex.AppendEncode(append(dst, '-'), id[at:at+2])
	}
	return hex.AppendEncode(append(dst, '-'), id[10:])
}

// appendDecimal appends a number as decimal digits with scale of them behind the point.
func appendDecimal(dst, data []byte, scale int) []byte {
	var buf [20]byte
	digits := buf[:0]
	if len(data) > 8 {
		n := new(big.Int).SetBytes(data)
		if data[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(data))*8))
		}
		digits = n.Append(nil, 10)
	} else {
		n := int64(0)
		if len(data) > 0 && data[0] >= 0x80 {
			n = -1
		}
		for _, b := range data {
			n = n<<8 | int64(b)
		}
		digits = strconv.AppendInt(digits, n, 10)
	}
	if digits[0] == '-' {
		dst, digits = append(dst, '-'), digits[1:]
	}
	return appendPoint(dst, digits, scale)
}

// appendPoint appends digits with a point before the last scale of them.
func appendPoint(dst, digits []byte, scale int) []byte {
	whole := len(digits) - scale
	if whole <= 0 {
		dst = append(dst, '0')
	} else {
		dst = append(dst, digits[:whole]...)
		digits = digits[whole:]
	}
	if scale <= 0 {
		return dst
	}
	dst = append(dst, '.')
	for ; whole < 0; whole++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
