package ndjson

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// CheckValue returns an error for a type that has no form in JSON.
func CheckValue(t arrow.DataType) error { return checkType(t) }

// Values returns what appends value i of an array, which is not null and of a type that [CheckValue] takes, as JSON. It is for outputs
// other than those of this package, valid as long as the array, and for one goroutine at a time. A map whose keys are texts is
// an object, in which the last of several values of a key counts.
func Values(a arrow.Array) func(dst []byte, i int) []byte {
	if m, ok := a.(*array.Map); ok {
		if keys, ok := m.Keys().(*array.String); ok {
			return appendMap(m, keys)
		}
	}
	c := columnOf(a)
	return c.append
}

// appendMap appends maps as objects.
func appendMap(m *array.Map, keys *array.String) func(dst []byte, i int) []byte {
	names, values := columnOf(keys), columnOf(m.Items())
	last := map[string]int{} // where the value of a key is
	return func(dst []byte, i int) []byte {
		from, to := m.ValueOffsets(i)
		clear(last)
		for j := int(from); j < int(to); j++ {
			last[keys.Value(j)] = j
		}
		dst = append(dst, '{')
		first := len(dst)
		for j := int(from); j < int(to); j++ {
			if last[keys.Value(j)] != j {
				continue
			}
			if len(dst) > first {
				dst = append(dst, ',')
			}
			dst = values.append(append(names.append(dst, j), ':'), j)
		}
		return append(dst, '}')
	}
}
