package processor

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"

	"github.com/urlmill/urlmill/pipeline"
)

// MaxBytes is the most bytes of URLs that a record may have, 512 MiB: the offsets of the columns are of 32 bits.
const MaxBytes = 512 << 20

// ErrTooLarge is the error of a record with more than [MaxBytes] bytes of URLs: slice it.
var ErrTooLarge = errors.New("more than 512 MiB of URLs in one record; give slices of it")

// checkText reports whether URLs can be of that type.
func checkText(f arrow.Field) error {
	if IsText(f.Type) {
		return nil
	}
	return fmt.Errorf("%w: column %q is of type %s; URLs are utf8, large_utf8, string_view, one of their binary kin, or a dictionary of one",
		ErrSchema, f.Name, f.Type)
}

// IsText reports whether a column of type t can hold URLs: text or bytes in any of Arrow's layouts, a dictionary of them, or
// nothing but nulls.
func IsText(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.STRING_VIEW, arrow.BINARY_VIEW, arrow.NULL:
		return true
	case arrow.DICTIONARY:
		value := t.(*arrow.DictionaryType).ValueType
		return value.ID() != arrow.DICTIONARY && IsText(value)
	default:
		return false
	}
}

// texts is a column of the input as the engine takes it, and the memory for what cannot be taken as it is.
type texts struct {
	ends  []int32
	valid []bool
	data  []byte
}

func (t *texts) memory() int { return cap(t.data) + 4*cap(t.ends) + cap(t.valid) }

// read returns the values of a. They alias a where its layout allows, else t.
func (t *texts) read(a arrow.Array) (pipeline.NullBytes, error) {
	var out pipeline.NullBytes
	out.Valid = t.validity(a)
	switch a := a.(type) {
	case *array.String, *array.Binary:
		return t.offsets32(a, out)
	case *array.LargeString, *array.LargeBinary:
		return t.offsets64(a, out)
	case *array.StringView:
		return t.copied(a.Len(), out, func(i int) string { return a.Value(i) })
	case *array.BinaryView:
		return t.copied(a.Len(), out, func(i int) string { return a.ValueString(i) })
	case *array.Null:
		return t.copied(a.Len(), out, nil)
	case *array.Dictionary:
		value, err := lookup(a.Dictionary())
		if err != nil {
			return out, err
		}
		for i, valid := range out.Valid {
			out.Valid[i] = valid && a.Dictionary().IsValid(a.GetValueIndex(i))
		}
		return t.copied(a.Len(), out, func(i int) string { return value(a.GetValueIndex(i)) })
	}
	return out, fmt.Errorf("%w: URLs of type %s", ErrSchema, a.DataType())
}

// lookup returns what returns value i of a.
func lookup(a arrow.Array) (func(i int) string, error) {
	switch a := a.(type) {
	case *array.String:
		return a.Value, nil
	case *array.LargeString:
		return a.Value, nil
	case *array.Binary:
		return a.ValueString, nil
	case *array.LargeBinary:
		return a.ValueString, nil
	case *array.StringView:
		return a.Value, nil
	case *array.BinaryView:
		return a.ValueString, nil
	case *array.Null:
		return func(int) string { return "" }, nil
	}
	return nil, fmt.Errorf("%w: a dictionary of %s", ErrSchema, a.DataType())
}

func (t *texts) validity(a arrow.Array) []bool {
	n := a.Len()
	t.valid = slices.Grow(t.valid[:0], n)[:n]
	bits := a.NullBitmapBytes()
	if a.NullN() == 0 || len(bits) == 0 {
		for i := range t.valid {
			t.valid[i] = a.DataType().ID() != arrow.NULL
		}
		return t.valid
	}
	offset := a.Data().Offset()
	for i := range t.valid {
		t.valid[i] = bitutil.BitIsSet(bits, offset+i)
	}
	return t.valid
}

// hasHiddenBytes reports whether a null has bytes, which Arrow allows and the engine does not.
func hasHiddenBytes(c pipeline.NullBytes) bool {
	start := int32(0)
	for i, end := range c.Ends {
		if !c.Valid[i] && end != start {
			return true
		}
		start = end
	}
	return false
}

// offsets32 takes an array as it is where its first value begins at byte 0, and with offsets of its own elsewhere.
func (t *texts) offsets32(a arrow.Array, out pipeline.NullBytes) (pipeline.NullBytes, error) {
	if a.Len() == 0 {
		return out, nil
	}
	data := a.Data()
	offsets := arrow.Int32Traits.CastFromBytes(data.Buffers()[1].Bytes())[data.Offset() : data.Offset()+data.Len()+1]
	first, last := offsets[0], offsets[len(offsets)-1]
	if last-first > MaxBytes {
		return out, ErrTooLarge
	}
	if last > first { // the buffer may be missing where all values are empty
		out.Data = data.Buffers()[2].Bytes()[first:last:last]
	}
	out.Ends = offsets[1:]
	if first != 0 {
		t.ends = slices.Grow(t.ends[:0], a.Len())[:a.Len()]
		for i, end := range offsets[1:] {
			t.ends[i] = end - first
		}
		out.Ends = t.ends
	}
	return t.withoutHidden(a, out)
}

func (t *texts) offsets64(a arrow.Array, out pipeline.NullBytes) (pipeline.NullBytes, error) {
	if a.Len() == 0 {
		return out, nil
	}
	data := a.Data()
	offsets := arrow.Int64Traits.CastFromBytes(data.Buffers()[1].Bytes())[data.Offset() : data.Offset()+data.Len()+1]
	first, last := offsets[0], offsets[len(offsets)-1]
	if last-first > MaxBytes {
		return out, ErrTooLarge
	}
	if last > first {
		out.Data = data.Buffers()[2].Bytes()[first:last:last]
	}
	t.ends = slices.Grow(t.ends[:0], a.Len())[:a.Len()]
	for i, end := range offsets[1:] {
		t.ends[i] = int32(end - first)
	}
	out.Ends = t.ends
	return t.withoutHidden(a, out)
}

// withoutHidden copies c where a null has bytes.
func (t *texts) withoutHidden(a arrow.Array, c pipeline.NullBytes) (pipeline.NullBytes, error) {
	if a.NullN() == 0 || !hasHiddenBytes(c) {
		return c, nil
	}
	ends := slices.Clone(c.Ends) // may be t.ends, which copied fills
	return t.copied(a.Len(), c, func(i int) string {
		start := int32(0)
		if i > 0 {
			start = ends[i-1]
		}
		return string(c.Data[start:ends[i]])
	})
}

// copied fills out with copies of n values. value is asked for those alone that are not null.
func (t *texts) copied(n int, out pipeline.NullBytes, value func(i int) string) (pipeline.NullBytes, error) {
	t.data, t.ends = t.data[:0], slices.Grow(t.ends[:0], n)
	for i := range n {
		if out.Valid[i] {
			v := value(i)
			if len(t.data)+len(v) > MaxBytes {
				return out, ErrTooLarge
			}
			t.data = append(t.data, v...)
		}
		t.ends = append(t.ends, int32(len(t.data)))
	}
	out.Data, out.Ends = t.data, t.ends
	return out, nil
}

// withDefault returns the bases of n rows: those given, and value where one is null or empty. given is empty for an
// input without.
func (t *texts) withDefault(n int, given pipeline.NullBytes, value string) (pipeline.NullBytes, error) {
	t.data, t.ends, t.valid = t.data[:0], slices.Grow(t.ends[:0], n), slices.Grow(t.valid[:0], n)
	for i := range n {
		if given.Len() > 0 && len(given.At(i)) > 0 {
			t.data = append(t.data, given.At(i)...)
		} else {
			t.data = append(t.data, value...)
		}
		if len(t.data) > MaxBytes {
			return pipeline.NullBytes{}, ErrTooLarge
		}
		t.ends, t.valid = append(t.ends, int32(len(t.data))), append(t.valid, true)
	}
	return pipeline.NullBytes{Bytes: pipeline.Bytes{Data: t.data, Ends: t.ends}, Valid: t.valid}, nil
}
