package main

/*
#include <errno.h>
#include <stdlib.h>
#include "border.h"
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/urlmill/urlmill/pipeline/processor"
)

var errNoProcessor = errors.New("urlmill: there is no such processor: it has been freed, or there never was one")

// batchOf returns what makes something of batches of that schema, which it does not keep.
func batchOf(handle C.uintptr_t, schema *C.struct_ArrowSchema) (*stream, error) {
	p := processorOf(handle)
	if p == nil {
		return nil, errNoProcessor
	}
	s := &stream{shared: p}
	return s, s.look(schema)
}

// refuse sets *text to err, and returns its number.
func refuse(err error, text **C.char) C.int {
	*text = C.CString(err.Error())
	switch {
	case errors.Is(err, errMemory):
		return C.ENOMEM
	case errors.Is(err, processor.ErrTooLarge):
		return C.E2BIG
	default:
		return C.EINVAL
	}
}

// urlmillParseArray makes *out of one batch, root, which is malloc'd and belongs to it.
//
//export urlmillParseArray
func urlmillParseArray(handle C.uintptr_t, schema *C.struct_ArrowSchema, root, out *C.struct_ArrowArray, text **C.char) (code C.int) {
	in := newInput(root)
	defer func() {
		in.release()
		if err := recovered(recover()); err != nil {
			code = refuse(err, text)
		}
	}()
	s, err := batchOf(handle, schema)
	if err == nil {
		err = s.whole(in, out)
	}
	if err != nil {
		return refuse(err, text)
	}
	return 0
}

// whole makes *out of a batch.
func (s *stream) whole(in *input, out *C.struct_ArrowArray) error {
	s.current = in.retain()
	defer s.drop()
	if err := s.take(in); err != nil {
		return err
	}
	return s.export(window{0, int(in.root.length)}, out)
}

// urlmillArraySchema makes *out the schema of what urlmillParseArray makes of batches of that schema.
//
//export urlmillArraySchema
func urlmillArraySchema(handle C.uintptr_t, schema, out *C.struct_ArrowSchema, text **C.char) (code C.int) {
	defer func() {
		if err := recovered(recover()); err != nil {
			code = refuse(err, text)
		}
	}()
	s, err := batchOf(handle, schema)
	if err == nil {
		err = copiedSchema(s.model, schema, s.columns.Carried, out)
	}
	if err != nil {
		return refuse(err, text)
	}
	return 0
}

// copiedSchema is newSchema for a schema that is left as it is.
func copiedSchema(model *C.struct_urlmill_schema, in *C.struct_ArrowSchema, along []int, out *C.struct_ArrowSchema) error {
	if C.urlmill_schema_new(model, C.size_t(len(along)), out) != 0 {
		return errMemory
	}
	children := unsafe.Slice(out.children, out.n_children)
	for i, k := range along {
		from, to := unsafe.Slice(in.children, in.n_children)[k], children[len(children)-len(along)+i]
		if C.urlmill_schema_copy(from, to) != 0 {
			C.urlmill_release_schema(out)
			return errMemory
		}
	}
	return nil
}
