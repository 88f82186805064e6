package main

/*
#include "border.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/offsets"
)

var errMemory = errors.New("urlmill: out of memory")

// input is an array of the host's. It is released when nobody refers to it any more: the memory.Allocator of buffers that
// lie in it, which Arrow tells when a buffer has no reference left.
type input struct {
	root  *C.struct_ArrowArray
	refs  atomic.Int64
	spans []span // that records may share
}

// span is memory that the host keeps until the input is released: its own, or what another array of ours lies in.
type span struct{ start, end uintptr }

// newInput returns what owns root, which is malloc'd, with one reference.
func newInput(root *C.struct_ArrowArray) *input {
	in := &input{root: root}
	in.refs.Store(1)
	alive.Add(1)
	return in
}

// holds is whether p points into a buffer of the host's.
func (in *input) holds(p unsafe.Pointer) bool {
	return slices.ContainsFunc(in.spans, func(s span) bool { return s.start <= uintptr(p) && uintptr(p) < s.end })
}

func (in *input) retain() *input {
	in.refs.Add(1)
	return in
}

func (in *input) release() {
	if in.refs.Add(-1) == 0 {
		C.urlmill_free_array(in.root)
		in.root = nil
		alive.Add(-1)
	}
}

// Free implements memory.Allocator.
func (in *input) Free([]byte) { in.release() }

// Allocate implements memory.Allocator. Nobody calls it: buffers are not mutable.
func (*input) Allocate(size int) []byte { return make([]byte, size) }

// Reallocate implements memory.Allocator. Nobody calls it.
func (*input) Reallocate(size int, b []byte) []byte {
	return append(make([]byte, 0, size), b...)[:size]
}

// textTypes are the formats of text, and of bytes that are taken for it.
var textTypes = map[string]arrow.DataType{
	"u": arrow.BinaryTypes.String, "U": arrow.BinaryTypes.LargeString, "vu": arrow.BinaryTypes.StringView,
	"z": arrow.BinaryTypes.Binary, "Z": arrow.BinaryTypes.LargeBinary, "vz": arrow.BinaryTypes.BinaryView,
	"n": arrow.Null,
}

var indexTypes = map[string]arrow.DataType{
	"c": arrow.PrimitiveTypes.Int8, "C": arrow.PrimitiveTypes.Uint8, "s": arrow.PrimitiveTypes.Int16, "S": arrow.PrimitiveTypes.Uint16,
	"i": arrow.PrimitiveTypes.Int32, "I": arrow.PrimitiveTypes.Uint32, "l": arrow.PrimitiveTypes.Int64, "L": arrow.PrimitiveTypes.Uint64,
}

// foreign is the type of a column that the library does not look into. It says how the interface writes it.
type foreign struct {
	arrow.BooleanType // what it is does not matter, but that it is no text
	format            string
	values            string // the format of a dictionary's values, "" without
}

func (f *foreign) String() string {
	if f.values != "" {
		return fmt.Sprintf("dictionary of %s (%q of %q in the Arrow C Data Interface)", nameOf(f.values), f.format, f.values)
	}
	return fmt.Sprintf("%s (%q in the Arrow C Data Interface)", nameOf(f.format), f.format)
}

// typeOf returns the type of text, and a foreign one for all else.
func typeOf(s *C.struct_ArrowSchema) arrow.DataType {
	format := C.GoString(s.format)
	if s.dictionary != nil {
		index, ok := indexTypes[format]
		values := C.GoString(s.dictionary.format)
		value, text := textTypes[values]
		if ok && text && s.dictionary.dictionary == nil {
			return &arrow.DictionaryType{IndexType: index, ValueType: value}
		}
		return &foreign{format: format, values: values}
	}
	if t, ok := textTypes[format]; ok {
		return t
	}
	return &foreign{format: format}
}

// window is the rows of an array that count.
type window struct{ offset, length int }

// textArray returns an array of type t that lies in a, which belongs to in. The caller releases it.
func (in *input) textArray(t arrow.DataType, a *C.struct_ArrowArray, w window) (arrow.Array, error) {
	data, err := in.textData(t, a, w)
	if err != nil {
		return nil, err
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

func (in *input) textData(t arrow.DataType, a *C.struct_ArrowArray, w window) (_ *array.Data, err error) {
	if t.ID() == arrow.NULL {
		return array.NewData(t, w.length, []*memory.Buffer{nil}, nil, w.length, w.offset), nil
	}
	b := &buffers{in: in, given: unsafe.Slice(a.buffers, a.n_buffers)} // as many as checkArray has seen
	defer b.release()
	end := w.offset + w.length
	b.validity(a, end)
	switch t := t.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		b.add(1, 4*(end+1), w.length == 0)
		if w.length > 0 && b.err == nil {
			addText(b, arrow.Int32Traits.CastFromBytes(b.last())[w.offset:])
		}
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		b.add(1, 8*(end+1), w.length == 0)
		if w.length > 0 && b.err == nil {
			addText(b, arrow.Int64Traits.CastFromBytes(b.last())[w.offset:])
		}
	case *arrow.StringViewType, *arrow.BinaryViewType:
		b.views(end)
	case *arrow.DictionaryType:
		return in.dictionaryData(t, a, w, b)
	default:
		return nil, fmt.Errorf("no text: %s", t)
	}
	if b.err != nil {
		return nil, b.err
	}
	for len(b.made) < 3 {
		b.made = append(b.made, nil)
	}
	return array.NewData(t, w.length, b.made, nil, b.nulls(a, w), w.offset), nil
}

func (in *input) dictionaryData(t *arrow.DictionaryType, a *C.struct_ArrowArray, w window, b *buffers) (*array.Data, error) {
	width := t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
	b.add(1, width*(w.offset+w.length), w.length == 0)
	if b.err != nil {
		return nil, b.err
	}
	if a.dictionary == nil {
		return nil, errors.New("the dictionary is missing")
	}
	values, err := in.textData(t.ValueType, a.dictionary, window{int(a.dictionary.offset), int(a.dictionary.length)})
	if err != nil {
		return nil, err
	}
	defer values.Release()
	return array.NewDataWithDictionary(t, w.length, b.made, b.nulls(a, w), w.offset, values), nil
}

// buffers collects the buffers of an array.
type buffers struct {
	in    *input
	given []unsafe.Pointer
	made  []*memory.Buffer
	err   error
}

// add takes a buffer of so many bytes. It may be missing where that is allowed, or where it has none.
func (b *buffers) add(i, size int, maybe bool) {
	switch {
	case b.err != nil:
	case i >= len(b.given):
		b.err = fmt.Errorf("an array of %d buffers has no buffer %d", len(b.given), i)
	case size < 0 || size > maxBytes:
		b.err = fmt.Errorf("buffer %d has %d bytes", i, size)
	case b.given[i] == nil && (maybe || size == 0):
		b.made = append(b.made, nil)
	case b.given[i] == nil:
		b.err = fmt.Errorf("buffer %d is missing", i)
	default:
		start := uintptr(b.given[i])
		b.in.spans = append(b.in.spans, span{start, start + uintptr(size)})
		b.made = append(b.made, memory.NewBufferWithAllocator(unsafe.Slice((*byte)(b.given[i]), size), b.in.retain()))
	}
}

// addText takes the buffer of the text that offsets are of. They are the host's, and read from the first on: the last one says how long
// the text is, and lies where it is not to be read if the array is shorter than it says.
func addText[T int32 | int64](b *buffers, of []T) {
	if b.err = offsets.Check(of, maxBytes); b.err != nil {
		return
	}
	b.add(2, int(of[len(of)-1]), false)
}

// last returns the bytes of the buffer that was added last.
func (b *buffers) last() []byte { return b.made[len(b.made)-1].Bytes() }

func (b *buffers) validity(a *C.struct_ArrowArray, end int) {
	if a.null_count == 0 {
		b.made = append(b.made, nil)
		return
	}
	b.add(0, (end+7)/8, true)
}

// nulls returns how many rows of a window are null: what the array says where it is all of it.
func (b *buffers) nulls(a *C.struct_ArrowArray, w window) int {
	switch {
	case b.made[0] == nil:
		return 0
	case w == window{int(a.offset), int(a.length)}:
		return int(a.null_count)
	default:
		return array.UnknownNullCount
	}
}

// views takes the buffers of views, whose sizes are in the last one.
func (b *buffers) views(end int) {
	b.add(1, arrow.ViewHeaderSizeBytes*end, end == 0)
	n := len(b.given) - 3
	if b.err != nil || n == 0 {
		return
	}
	if n < 0 || b.given[len(b.given)-1] == nil {
		b.err = errors.New("views without the sizes of their buffers")
		return
	}
	for i, size := range unsafe.Slice((*int64)(b.given[len(b.given)-1]), n) {
		b.add(2+i, int(size), true)
	}
}

// release lets go of the buffers: an array that was made of them has retained them.
func (b *buffers) release() {
	for _, m := range b.made {
		if m != nil {
			m.Release()
		}
	}
}
