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

// MaxBytes is the most bytes of URLs that a record may have, 512 MiB, and MaxRows is how many rows: as many as have eight bytes each.
const (
	MaxBytes = 512 << 20
	MaxRows  = MaxBytes / 8
)

// ErrTooLarge is the error of a record with more than [MaxBytes] bytes of URLs, or more than [MaxRows], or of which a column of the
// result would have more than 2 GiB, as the offsets of columns are of 32 bits: slice it.
var ErrTooLarge = errors.New("more than 512 MiB of URLs, 64 Mi of them, or 2 GiB in a column of the result, in one record; give slices of it")

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

	// passed is set where the offsets of a column are all that the engine gets: it looks at them itself.
	passed bool
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
	case *array.Dictionary:
		d := a.Dictionary()
		for i, valid := range out.Valid {
			if !valid {
				continue
			}
			k := a.GetValueIndex(i)
			if k < 0 || k >= d.Len() {
				return out, malformed("row %d is value %s of a dictionary of %d", i, a.Indices().ValueStr(i), d.Len())
			}
			out.Valid[i] = d.IsValid(k)
		}
		value, err := lookup(d)
		if err != nil {
			return out, err
		}
		return t.copied(a.Len(), out, func(i int) (string, error) { return value(a.GetValueIndex(i)) })
	}
	value, err := lookup(a)
	if err != nil {
		return out, err
	}
	return t.copied(a.Len(), out, value)
}

// lookup returns what returns value i of a, which is not null.
func lookup(a arrow.Array) (func(i int) (string, error), error) {
	switch a := a.(type) {
	case *array.String:
		_, err := offsetsOf[int32](a)
		return sure(a.Value), err
	case *array.LargeString:
		_, err := offsetsOf[int64](a)
		return sure(a.Value), err
	case *array.Binary:
		_, err := offsetsOf[int32](a)
		return sure(a.ValueString), err
	case *array.LargeBinary:
		_, err := offsetsOf[int64](a)
		return sure(a.ValueString), err
	case *array.StringView:
		return func(i int) (string, error) {
			if err := checkView(a, i, a.ValueHeader(i)); err != nil {
				return "", err
			}
			return a.Value(i), nil
		}, nil
	case *array.BinaryView:
		return func(i int) (string, error) {
			if err := checkView(a, i, a.ValueHeader(i)); err != nil {
				return "", err
			}
			return a.ValueString(i), nil
		}, nil
	case *array.Null:
		return sure(func(int) string { return "" }), nil
	}
	return nil, fmt.Errorf("%w: URLs of type %s", ErrSchema, a.DataType())
}

// sure makes a lookup of values that need no check.
func sure(value func(int) string) func(int) (string, error) {
	return func(i int) (string, error) { return value(i), nil }
}

func (t *texts) validity(a arrow.Array) []bool {
	n := a.Len()
	t.valid = slices.Grow(t.valid[:0], n)[:n]
	if !hasNulls(a) {
		for i := range t.valid {
			t.valid[i] = a.DataType().ID() != arrow.NULL
		}
		return t.valid
	}
	bits, offset := a.NullBitmapBytes(), a.Data().Offset()
	for i := range t.valid {
		t.valid[i] = bitutil.BitIsSet(bits, offset+i)
	}
	return t.valid
}

// hasNulls reports whether a has nulls in a bitmap. Arrow counts those of an array without a bitmap as well, in what is not there.
func hasNulls(a arrow.Array) bool { return len(a.NullBitmapBytes()) > 0 && a.NullN() > 0 }

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
	offsets, size, err := offsetsOfRows[int32](a)
	if err != nil {
		return out, err
	}
	if n := len(offsets) - 1; !t.passed || offsets[0] != 0 || offsets[n] < 0 || int(offsets[n]) > size || hasNulls(a) {
		if offsets, err = offsetsOf[int32](a); err != nil {
			return out, err
		}
	}
	first, last := offsets[0], offsets[len(offsets)-1]
	if last-first > MaxBytes {
		return out, ErrTooLarge
	}
	if last > first { // the buffer may be missing where all values are empty
		out.Data = a.Data().Buffers()[2].Bytes()[first:last:last]
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
	offsets, err := offsetsOf[int64](a)
	if err != nil {
		return out, err
	}
	first, last := offsets[0], offsets[len(offsets)-1]
	if last-first > MaxBytes {
		return out, ErrTooLarge
	}
	if last > first {
		out.Data = a.Data().Buffers()[2].Bytes()[first:last:last]
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
	if !hasNulls(a) || !hasHiddenBytes(c) {
		return c, nil
	}
	ends := slices.Clone(c.Ends) // may be t.ends, which copied fills
	return t.copied(a.Len(), c, sure(func(i int) string {
		start := int32(0)
		if i > 0 {
			start = ends[i-1]
		}
		return string(c.Data[start:ends[i]])
	}))
}

// copied fills out with copies of n values. value is asked for those alone that are not null.
func (t *texts) copied(n int, out pipeline.NullBytes, value func(i int) (string, error)) (pipeline.NullBytes, error) {
	t.data, t.ends = t.data[:0], slices.Grow(t.ends[:0], n)
	for i := range n {
		if out.Valid[i] {
			v, err := value(i)
			if err != nil {
				return out, err
			}
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
