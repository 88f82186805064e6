package ipcread

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/internal/offsets"
)

// checkRecord compares the columns of a record with their buffers: who reads a value of it later need not recover.
func checkRecord(r arrow.Record) (err error) {
	defer recovered(&err)
	for i, c := range r.Columns() {
		if int64(c.Len()) != r.NumRows() {
			return fmt.Errorf("%w: column %q has %d rows of %d", errMalformed, r.ColumnName(i), c.Len(), r.NumRows())
		}
		if err := checkArray(c); err != nil {
			return fmt.Errorf("column %q: %w", r.ColumnName(i), err)
		}
	}
	return nil
}

// checkArray compares an array with its buffers and its children. Types that are not listed are those that arrow's
// constructors check by themselves.
func checkArray(a arrow.Array) error {
	d := a.Data()
	n := d.Offset() + d.Len()
	if err := checkBits(d, 0, n, 1); err != nil {
		return err
	}
	if a.Len() > 0 {
		switch a := a.(type) {
		case *array.String:
			return ascending(a.ValueOffsets(), bufferLen(d, 2))
		case *array.Binary:
			return ascending(a.ValueOffsets(), bufferLen(d, 2))
		case *array.LargeString:
			return ascending(a.ValueOffsets(), bufferLen(d, 2))
		case *array.LargeBinary:
			return ascending(a.ValueOffsets(), bufferLen(d, 2))
		}
	}
	switch t := a.DataType().(type) {
	case arrow.ExtensionType:
		return checkArray(a.(array.ExtensionArray).Storage())
	case *arrow.ListType, *arrow.LargeListType, *arrow.MapType:
		l := a.(array.ListLike)
		end := int64(0)
		for i := range a.Len() {
			from, to := l.ValueOffsets(i)
			if from < end && i > 0 || from < 0 || to < from || to > int64(l.ListValues().Len()) {
				return fmt.Errorf("%w: list %d has the values %d to %d of %d", errMalformed, i, from, to, l.ListValues().Len())
			}
			end = to
		}
		return checkArray(l.ListValues())
	case *arrow.FixedSizeListType:
		values := a.(*array.FixedSizeList).ListValues()
		if t.Len() < 0 || int64(n)*int64(t.Len()) > int64(values.Len()) {
			return fmt.Errorf("%w: %d lists of %d, and %d values", errMalformed, n, t.Len(), values.Len())
		}
		return checkArray(values)
	case *arrow.StructType:
		return checkStruct(a.(*array.Struct))
	case *arrow.DictionaryType:
		return checkDictionary(a.(*array.Dictionary))
	case arrow.FixedWidthDataType:
		return checkBits(d, 1, n, t.BitWidth())
	}
	return nil
}

func checkStruct(s *array.Struct) error {
	for i, child := range s.Data().Children() {
		if child.Len() < s.Data().Offset()+s.Len() {
			return fmt.Errorf("%w: field %d has %d rows of %d", errMalformed, i, child.Len(), s.Len())
		}
		if err := checkArray(s.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

func checkDictionary(d *array.Dictionary) error {
	if err := checkArray(d.Indices()); err != nil {
		return err
	}
	for i := range d.Len() {
		if d.IsNull(i) {
			continue
		}
		if k := d.GetValueIndex(i); k < 0 || k >= d.Dictionary().Len() {
			return fmt.Errorf("%w: index %d of a dictionary of %d", errMalformed, k, d.Dictionary().Len())
		}
	}
	return checkArray(d.Dictionary())
}

// bufferLen returns the length of a buffer, which may be absent.
func bufferLen(d arrow.ArrayData, i int) int64 {
	if i >= len(d.Buffers()) || d.Buffers()[i] == nil {
		return 0
	}
	return int64(d.Buffers()[i].Len())
}

// checkBits compares a buffer, unless it is absent, with n values of so many bits.
func checkBits(d arrow.ArrayData, i, n, width int) error {
	if i >= len(d.Buffers()) || i == 0 && d.Buffers()[0] == nil {
		return nil
	}
	if width < 0 || n > 0 && int64(width) > math.MaxInt64/8/int64(n) || (int64(n)*int64(width)+7)/8 > bufferLen(d, i) {
		return fmt.Errorf("%w: %d values of %d bits in %d bytes", errMalformed, n, width, bufferLen(d, i))
	}
	return nil
}

// ascending checks offsets into so many bytes.
func ascending[T int32 | int64](values []T, size int64) error {
	if err := offsets.Check(values, int(size)); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return nil
}
