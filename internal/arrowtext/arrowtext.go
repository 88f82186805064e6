// Package arrowtext has the text of any value of Arrow. That of the library (ValueStr) is JSON for nested values, and it panics
// where a number among them is infinite or NaN, which files of others have.
package arrowtext

import (
	"encoding/json"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// Value returns value i of an array as people read it: a text without quotes, a nested value as JSON, but for numbers
// that JSON does not have.
func Value(a arrow.Array, i int) string {
	a, i = plain(a, i)
	switch a.(type) {
	case array.ListLike, *array.Struct:
		return string(appendValue(nil, a, i))
	}
	return a.ValueStr(i)
}

// plain returns where the value is when it is in a dictionary, a union, a run or the storage of an extension.
func plain(a arrow.Array, i int) (arrow.Array, int) {
	for !a.IsNull(i) {
		switch b := a.(type) {
		case *array.Dictionary:
			a, i = b.Dictionary(), b.GetValueIndex(i)
		case *array.SparseUnion:
			a = b.Field(b.ChildID(i))
		case *array.DenseUnion:
			a, i = b.Field(b.ChildID(i)), int(b.ValueOffset(i))
		case *array.RunEndEncoded:
			a, i = b.Values(), b.GetPhysicalIndex(i)
		case array.ExtensionArray:
			a = b.Storage()
		default:
			return a, i
		}
	}
	return a, i
}

func appendValue(dst []byte, a arrow.Array, i int) []byte {
	a, i = plain(a, i)
	if a.IsNull(i) {
		return append(dst, "null"...)
	}
	switch a := a.(type) {
	case *array.Struct:
		dst = append(dst, '{')
		for j, f := range a.DataType().(*arrow.StructType).Fields() {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendJSON(dst, f.Name, f.Name), ':')
			dst = appendValue(dst, a.Field(j), i)
		}
		return append(dst, '}')
	case array.ListLike:
		start, end := a.ValueOffsets(i)
		dst = append(dst, '[')
		for j := start; j < end; j++ {
			if j > start {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, a.ListValues(), int(j))
		}
		return append(dst, ']')
	}
	return appendJSON(dst, a.GetOneForMarshal(i), a.ValueStr(i))
}

// appendJSON appends v as JSON, or text where it has no form there.
func appendJSON(dst []byte, v any, text string) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return append(dst, text...)
	}
	return append(dst, data...)
}
