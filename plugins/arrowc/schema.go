package main

/*
#include <stdlib.h>
#include "border.h"
*/
import "C"

import (
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/cdata"
)

// newModel returns what the schemas of the fields of s are made of, in C's memory, which the caller frees.
func newModel(s *arrow.Schema) (*C.struct_urlmill_schema, error) {
	whole := (*C.struct_ArrowSchema)(C.calloc(1, C.sizeof_struct_ArrowSchema))
	if whole == nil {
		return nil, errMemory
	}
	defer C.free(unsafe.Pointer(whole))
	cdata.ExportArrowSchema(arrow.NewSchema(s.Fields(), nil), cdata.SchemaFromPtr(uintptr(unsafe.Pointer(whole))))
	defer C.urlmill_release_schema(whole)
	model := C.urlmill_schema_model(whole)
	if model == nil {
		return nil, errMemory
	}
	return model, nil
}

// moving is how the children of the host's schema that go along get into another schema.
type moving bool

const (
	moved moving = true
	kept  moving = false // in the host's schema, too: they are copied
)

// newSchema makes *out the struct of the model, and of those children of the host's schema that go along.
func newSchema(model *C.struct_urlmill_schema, in *C.struct_ArrowSchema, along []int, how moving, out *C.struct_ArrowSchema) error {
	if C.urlmill_schema_new(model, C.size_t(len(along)), out) != 0 {
		return errMemory
	}
	children := unsafe.Slice(out.children, out.n_children)
	for i, k := range along {
		from, to := unsafe.Slice(in.children, in.n_children)[k], children[len(children)-len(along)+i]
		if how == moved {
			*to = *from
			from.release = nil
		} else if C.urlmill_schema_copy(from, to) != 0 {
			C.urlmill_release_schema(out)
			return errMemory
		}
	}
	return nil
}
