package main

/*
#include <errno.h>
#include <stdlib.h>
#include "border.h"
*/
import "C"

import (
	"errors"

	"github.com/urlmill/urlmill/pipeline/processor"
)

var errNoProcessor = errors.New("urlmill: there is no such processor: it has been freed, or there never was one")

// batchOf returns what makes something of batches of that schema, which it does not keep.
func batchOf(handle C.uintptr_t, schema *C.struct_ArrowSchema) (*stream, error) {
	p := processorOf(handle)
	if p == nil {
		return nil, errNoProcessor
	}
	if err := checkSchema(schema); err != nil {
		return nil, err
	}
	s := &stream{shared: p}
	return s, s.look(schema)
}

// refusing returns what sets *text to an error, and returns its number.
func refusing(text **C.char) func(error) C.int {
	return func(err error) C.int {
		*text = C.CString(err.Error())
		if errors.Is(err, processor.ErrTooLarge) {
			return C.E2BIG
		}
		return numberOf(err)
	}
}

// urlmillParseArray makes *out of one batch, root, which is malloc'd and belongs to it.
//
//export urlmillParseArray
func urlmillParseArray(handle C.uintptr_t, schema *C.struct_ArrowSchema, root, out *C.struct_ArrowArray, text **C.char) C.int {
	in := newInput(root)
	defer in.release()
	return guarded(refusing(text), func() error {
		s, err := batchOf(handle, schema)
		if err != nil {
			return err
		}
		return s.whole(in, out)
	})
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
func urlmillArraySchema(handle C.uintptr_t, schema, out *C.struct_ArrowSchema, text **C.char) C.int {
	return guarded(refusing(text), func() error {
		s, err := batchOf(handle, schema)
		if err != nil {
			return err
		}
		return newSchema(s.model, schema, s.columns.Carried, kept, out)
	})
}
