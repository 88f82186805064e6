package urlcols

import (
	"bytes"
	"encoding/hex"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline"
)

// narrowed is a type that a profile gives a carried field whose own is another. What the type cannot hold is null.
type narrowed struct {
	from    pipeline.FieldType
	to      arrow.DataType
	build   func(s *state, i int) *array.Data // of the carried field i
	comment string
}

var (
	bits16 = &narrowed{pipeline.Int64, arrow.PrimitiveTypes.Int16, (*state).carried16, "; null where it needs more than 16 bits"}
	bits32 = &narrowed{pipeline.Int64, int32Type, (*state).carried32, "; null where it needs more than 32 bits"}
	uuid   = &narrowed{pipeline.String, binaryType, (*state).carriedUUID, "; the 16 bytes of a UUID, null where it is none"}
)

func (s *state) carried32(i int) *array.Data {
	values := s.scratch.takeInts(s.batch.Len())
	bits, nulls := narrow(s, i, values)
	return s.data(int32Type, len(values), nulls, bits, s.ints32(values))
}

func (s *state) carried16(i int) *array.Data {
	n := s.batch.Len()
	room := arrow.Int32Traits.CastToBytes(s.scratch.takeInts((n + 1) / 2)) // which begins where an integer may
	values := arrow.Int16Traits.CastFromBytes(room)[:n]
	bits, nulls := narrow(s, i, values)
	return s.data(arrow.PrimitiveTypes.Int16, n, nulls, bits, s.buffer(arrow.Int16Traits.CastToBytes(values)))
}

// narrow sets values to those of a carried field, and returns which are valid and how many are not.
func narrow[T int16 | int32](s *state, i int, values []T) (valid *memory.Buffer, nulls int) {
	v := s.guard.Carried(&s.batch.Carried[i])
	bits := s.scratch.takeBytes((len(values) + 7) / 8)
	for row, x := range v.Ints {
		if values[row] = T(x); v.Valid[row] && int64(values[row]) == x {
			bits[row/8] |= 1 << (row % 8)
		} else {
			values[row] = 0
			nulls++
		}
	}
	return s.buffer(bits), nulls
}

func (s *state) carriedUUID(i int) *array.Data {
	v := s.guard.Carried(&s.batch.Carried[i])
	return s.derive(len(v.Valid), func(dst []byte, row int) ([]byte, bool) {
		if !v.Valid[row] {
			return dst, false
		}
		return appendUUID(dst, v.Text.At(row))
	}).array(s, binaryType)
}

// appendUUID appends the bytes of a UUID, such as urn:uuid:019d6d22-5cf4-7ad9-8a24-81690cf43c7d, or returns false.
func appendUUID(dst, text []byte) ([]byte, bool) {
	const urn = "urn:uuid:"
	if len(text) > len(urn) && bytes.EqualFold(text[:len(urn)], []byte(urn)) {
		text = text[len(urn):]
	}
	if len(text) != 36 {
		return dst, false
	}
	at := 0
	for i, size := range [...]int{8, 4, 4, 4, 12} {
		if i > 0 {
			if text[at] != '-' {
				return dst, false
			}
			at++
		}
		var err error
		if dst, err = hex.AppendDecode(dst, text[at:at+size]); err != nil {
			return dst, false
		}
		at += size
	}
	return dst, true
}
