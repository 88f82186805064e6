// Package footprint tells how much memory rows take.
package footprint

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Of returns the bytes of columns and of what is nested in them, of which each buffer has as many as measure says:
// [memory.Buffer.Len] for what is used, [memory.Buffer.Cap] for what is held. Dictionaries are not counted, and a buffer
// that is there twice is counted twice.
func Of(columns []arrow.Array, measure func(*memory.Buffer) int) int64 {
	n := int64(0)
	for _, c := range columns {
		n += ofData(c.Data(), measure)
	}
	return n
}

func ofData(d arrow.ArrayData, measure func(*memory.Buffer) int) (n int64) {
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(measure(b))
		}
	}
	for _, child := range d.Children() {
		n += ofData(child, measure)
	}
	return n
}
