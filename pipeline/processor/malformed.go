package processor

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/internal/offsets"
)

// ErrMalformed is the kind of error of an array that is none: its offsets, views or indices lead out of its buffers. Arrow does not
// look at them when it makes an array of buffers.
var ErrMalformed = errors.New("the array is malformed")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMalformed, fmt.Errorf(format, args...))
}

// checkShape returns an error for an array whose rows are not there, and for one that has too many.
func checkShape(a arrow.Array) error {
	data := a.Data()
	switch n := data.Len(); {
	case n < 0 || data.Offset() < 0:
		return malformed("%d rows from row %d on", n, data.Offset())
	case n > MaxRows:
		return ErrTooLarge
	}
	if bits := a.NullBitmapBytes(); len(bits) > 0 && len(bits) < (data.Offset()+data.Len()+7)/8 {
		return malformed("a bitmap of %d bytes for %d rows", len(bits), data.Offset()+data.Len())
	}
	if d, ok := a.(*array.Dictionary); ok {
		return checkShape(d.Dictionary())
	}
	return nil
}

// offsetsOf returns the offsets of text, one more than rows. They ascend and lie in the text.
func offsetsOf[T int32 | int64](a arrow.Array) ([]T, error) {
	values, size, err := offsetsOfRows[T](a)
	if err != nil {
		return nil, err
	}
	if err := offsets.Check(values, size); err != nil {
		return nil, malformed("%w", err)
	}
	return values, nil
}

// offsetsOfRows returns the offsets of text, one more than rows, and the size of the text. Nothing is known of them.
func offsetsOfRows[T int32 | int64](a arrow.Array) (values []T, size int, err error) {
	data := a.Data()
	if data.Len() == 0 {
		return []T{0}, 0, nil
	}
	var raw []byte
	if b := data.Buffers()[1]; b != nil {
		raw = b.Bytes()
	}
	from, to := data.Offset(), data.Offset()+data.Len()+1
	var zero T
	if n := len(raw) / int(unsafe.Sizeof(zero)); n < to {
		return nil, 0, malformed("%d offsets for %d rows", n, to-1)
	}
	values = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), to)[from:]
	if b := data.Buffers()[2]; b != nil {
		size = b.Len()
	}
	return values, size, nil
}

// checkView returns an error if view i of a leads out of the buffers of a.
func checkView(a arrow.Array, i int, h *arrow.ViewHeader) error {
	if h.Len() < 0 {
		return malformed("the view of row %d has %d bytes", i, h.Len())
	}
	if h.IsInline() {
		return nil
	}
	buffers := a.Data().Buffers()[2:]
	n := int(h.BufferIndex())
	if n < 0 || n >= len(buffers) || buffers[n] == nil {
		return malformed("the view of row %d is in buffer %d of %d", i, n, len(buffers))
	}
	from := int64(h.BufferOffset())
	if to := from + int64(h.Len()); from < 0 || to > int64(buffers[n].Len()) {
		return malformed("the view of row %d is from byte %d to byte %d of %d", i, from, to, buffers[n].Len())
	}
	return nil
}
