//go:build duckdb

package duckdb

import (
	"runtime"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/urlmill/urlmill/sinks/database"
)

// fill writes the values [from, to) of an array into the start of a vector, whose memory is DuckDB's.
type fill func(v mapping.Vector, from, to int)

// text is a duckdb_string_t: a text of up to 12 bytes, or the address of a longer one behind its first four.
//
// Source: https://github.com/duckdb/duckdb/blob/main/src/include/duckdb/common/types/string_type.hpp
type text struct {
	length uint32
	start  [4]byte
	rest   [8]byte // or an address, which is no pointer: the collector must not look for what was there before
}

const inlined = 12

// list is a duckdb_list_entry.
type list struct{ offset, length uint64 }

// fillOf returns the fill of an array, which begins at the start of its memory. The memory of texts is pinned, since vectors have its
// address until they are appended.
func fillOf(a arrow.Array, pins *runtime.Pinner) fill {
	values := valuesOf(a, pins)
	if a.NullN() == 0 {
		return values
	}
	valid := a.NullBitmapBytes()
	return func(v mapping.Vector, from, to int) { // vectors have as many values as make whole bytes
		mapping.VectorEnsureValidityWritable(v)
		copy(slice[byte](mapping.VectorGetValidity(v), (to-from+7)/8), valid[from/8:])
		values(v, from, to)
	}
}

// slice returns n values at an address.
func slice[T any](at unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(at), n) }

func valuesOf(a arrow.Array, pins *runtime.Pinner) fill {
	if get := database.Integers(a); get != nil {
		return each(get)
	}
	switch a := a.(type) {
	case *array.Boolean:
		return each(a.Value)
	case *array.Float32:
		return each(func(i int) float64 { return float64(a.Value(i)) })
	case *array.Float64:
		return each(a.Value)
	case *array.Date32:
		return each(func(i int) int32 { return int32(a.Value(i)) })
	case *array.Timestamp:
		return each(database.Micros(a))
	case *array.List:
		return lists(a, pins)
	}
	pin(a, pins)
	get := database.Bytes(a)
	return func(v mapping.Vector, from, to int) {
		out := slice[text](mapping.VectorGetData(v), to-from)
		for i := range out {
			if a.IsValid(from + i) {
				out[i].set(get(from + i))
			}
		}
	}
}

// each returns a fill of values of a fixed width.
func each[T bool | int32 | int64 | float64](get func(i int) T) fill {
	return func(v mapping.Vector, from, to int) {
		out := slice[T](mapping.VectorGetData(v), to-from)
		for i := range out {
			out[i] = get(from + i)
		}
	}
}

// lists returns the fill of lists of texts, whose elements are in a vector of their own.
func lists(a *array.List, pins *runtime.Pinner) fill {
	pin(a.ListValues(), pins)
	get := database.Bytes(a.ListValues())
	return func(v mapping.Vector, from, to int) {
		first, _ := a.ValueOffsets(from)
		_, last := a.ValueOffsets(to - 1)
		n := mapping.IdxT(last - first)
		mapping.ListVectorReserve(v, n)
		mapping.ListVectorSetSize(v, n)
		out := slice[list](mapping.VectorGetData(v), to-from)
		for i := range out {
			start, end := a.ValueOffsets(from + i)
			out[i] = list{uint64(start - first), uint64(end - start)}
		}
		texts := slice[text](mapping.VectorGetData(mapping.ListVectorGetChild(v)), int(n))
		for j := range texts {
			texts[j].set(get(int(first) + j))
		}
	}
}

// set sets a text, whose memory is pinned.
func (t *text) set(s []byte) {
	t.length = uint32(len(s))
	if len(s) <= inlined {
		var short [inlined]byte
		copy(short[:], s)
		copy(t.start[:], short[:4])
		copy(t.rest[:], short[4:])
		return
	}
	copy(t.start[:], s)
	*(*uintptr)(unsafe.Pointer(&t.rest)) = uintptr(unsafe.Pointer(unsafe.SliceData(s)))
}

// pin keeps the memory of texts where it is.
func pin(a arrow.Array, pins *runtime.Pinner) {
	for _, b := range a.Data().Buffers() {
		if b != nil && b.Len() > 0 {
			pins.Pin(unsafe.SliceData(b.Bytes()))
		}
	}
}
