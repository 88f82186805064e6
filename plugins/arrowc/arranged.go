package main

/*
#include "border.h"
*/
import "C"

import (
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline/processor"
)

// arranged is what was found out about the record batches of a stream. The next stream has the same as a rule: then its
// columns are compared with those, in place, and nothing is made anew.
type arranged struct {
	columnsOfInput []column
	columns        *processor.Arrangement
}

// column is a column of record batches: what its name and its type follow from, as the interface writes them.
type column struct {
	name, format, dictionary string // dictionary is the format of the values, where there is one
	encoded, twice           bool   // there is a dictionary; its values have one in turn
	arrow.Field
}

// arrange finds out where the columns of record batches of a schema go.
func arrange(p *processor.Processor, schema *C.struct_ArrowSchema) (*arranged, error) {
	l := &arranged{}
	var fields []arrow.Field
	for _, c := range unsafe.Slice(schema.children, schema.n_children) {
		k := column{name: C.GoString(c.name), format: C.GoString(c.format)}
		if d := c.dictionary; d != nil {
			k.encoded, k.dictionary, k.twice = true, C.GoString(d.format), d.dictionary != nil
		}
		k.Field = arrow.Field{Name: k.name, Type: typeOf(c)}
		fields = append(fields, k.Field)
		l.columnsOfInput = append(l.columnsOfInput, k)
	}
	var err error
	l.columns, err = p.Arrange(arrow.NewSchema(fields, nil))
	return l, err
}

// fits is whether batches of schema have the same columns.
func (l *arranged) fits(schema *C.struct_ArrowSchema) bool {
	given := unsafe.Slice(schema.children, schema.n_children)
	if len(given) != len(l.columnsOfInput) {
		return false
	}
	for i, c := range given {
		k, d := &l.columnsOfInput[i], c.dictionary
		if !isText(c.name, k.name) || !isText(c.format, k.format) || (d != nil) != k.encoded {
			return false
		}
		if d != nil && (!isText(d.format, k.dictionary) || (d.dictionary != nil) != k.twice) {
			return false
		}
	}
	return true
}

// isText is whether a text of C's, which may be NULL for an empty one, is that of Go.
func isText(text *C.char, want string) bool {
	if text == nil {
		return want == ""
	}
	for i := range len(want) {
		c := *(*byte)(unsafe.Add(unsafe.Pointer(text), i))
		if c != want[i] { // the end of text at the latest
			return false
		}
	}
	return *(*byte)(unsafe.Add(unsafe.Pointer(text), len(want))) == 0
}
