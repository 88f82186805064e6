// Package main is liburlmill, a C library over the Arrow C Data Interface: a stream of URLs goes in, and a stream of structs of
// their parts comes out. urlmill.h has its interface; make plugins builds it.
//
// Arrays are carried over the border here, and not by arrow's package cdata, for what that does in v15: a child that cannot be
// imported makes it free memory that was never allocated; arrays without buffers and schemas of dictionaries are
// leaked, as is the text of every error; a stream of the input is released only when the garbage collector finds it; Go
// memory is handed to C without being pinned; and columns that only go along would have to be of a type that it knows.
// What cdata does well, the export of schemas, it does here as well.
package main

/*
#include <errno.h>
#include <stdlib.h>
#include "border.h"
*/
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/cgo"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"github.com/urlmill/urlmill/pipeline/processor"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/psl"
)

func main() {}

// release is the version of a release, which the linker sets (-X main.release=1.2.3).
var release = ""

// version is the text of urlmill_version, never freed.
var version = func() *C.char {
	v := release
	if v == "" {
		v = "devel"
		if info, ok := debug.ReadBuildInfo(); ok {
			for _, s := range info.Settings {
				if s.Key == "vcs.revision" {
					v += " " + s.Value[:min(12, len(s.Value))]
				}
			}
		}
	}
	text, err := json.Marshal(map[string]any{"version": v, "abi": C.URLMILL_ABI, "psl": psl.Version(), "unicode": urlcore.UnicodeVersion, "go": runtime.Version()})
	if err != nil {
		panic(err)
	}
	return C.CString(string(text))
}()

// shared is what a processor of C stands for. It is used by many streams.
type shared struct {
	processor *processor.Processor
	rows      int // most rows of a batch, 0 for any number
	model     *C.struct_urlmill_schema
	last      atomic.Pointer[arranged] // of the last stream of record batches
	loans     loans
	out       atomic.Int64 // records that the host has
	refs      atomic.Int64 // of the processor of C, of streams, and of arrays that the host has
}

func newShared(options string) (*shared, error) {
	opts, rows, err := parseOptions(options)
	if err != nil {
		return nil, err
	}
	p := &shared{rows: rows}
	if p.processor, err = processor.New(opts); err != nil {
		return nil, err
	}
	if p.model, err = newModel(p.processor.URLSchema()); err != nil {
		return nil, err
	}
	p.refs.Store(1)
	return p, nil
}

// release lets go of a reference.
func (p *shared) release() {
	if p.refs.Add(-1) == 0 {
		p.loans.end()
		C.free(unsafe.Pointer(p.model))
		p.model = nil
	}
}

//export urlmillVersion
func urlmillVersion() *C.char { return version }

//export urlmillProcessorNew
func urlmillProcessorNew(options *C.char, handle *C.uintptr_t, text **C.char) C.int {
	refused := func(err error) C.int {
		*text = C.CString(err.Error())
		return C.EINVAL
	}
	return guarded(refused, func() error {
		var given string
		if options != nil {
			given = C.GoString(options)
		}
		p, err := newShared(given)
		if err != nil {
			return err
		}
		*handle = C.uintptr_t(cgo.NewHandle(p))
		alive.Add(1)
		return nil
	})
}

//export urlmillProcessorFree
func urlmillProcessorFree(handle C.uintptr_t) {
	if p := processorOf(handle); p != nil {
		cgo.Handle(handle).Delete()
		p.release()
		alive.Add(-1)
	}
}

// processorOf returns nil for what is no handle of a processor, or was one: handles are not used again.
func processorOf(handle C.uintptr_t) (p *shared) {
	defer func() { _ = recover() }()
	p, _ = cgo.Handle(handle).Value().(*shared)
	return p
}

// alive counts what urlmill_alive does.
var alive atomic.Int64

//export urlmillAlive
func urlmillAlive() C.int64_t { return C.int64_t(alive.Load()) }

// guarded calls f. It returns 0, or what refused makes of its error, or of what it has panicked with.
func guarded(refused func(error) C.int, f func() error) (code C.int) {
	defer func() {
		if err := recovered(recover()); err != nil {
			code = refused(err)
		}
	}()
	if err := f(); err != nil {
		return refused(err)
	}
	return 0
}

// recovered turns what recover has returned into an error: a fault of ours must not end the process of the host.
func recovered(r any) error {
	if r == nil {
		return nil
	}
	if err, ok := r.(error); ok {
		return fmt.Errorf("urlmill: a fault of the library, please report it: %w\n%s", err, debug.Stack())
	}
	return fmt.Errorf("urlmill: a fault of the library, please report it: %v\n%s", r, debug.Stack())
}

// failing returns what notes an error in s and returns its number.
func failing(s *C.struct_urlmill_stream) func(error) C.int {
	return func(err error) C.int {
		C.free(unsafe.Pointer(s.error))
		s.error = C.CString(err.Error())
		return numberOf(err)
	}
}

// numberOf returns the number of an error.
func numberOf(err error) C.int {
	var upstream *inputError
	switch {
	case errors.As(err, &upstream) && upstream.code != 0:
		return upstream.code
	case errors.Is(err, errMemory):
		return C.ENOMEM
	default:
		return C.EINVAL
	}
}

//export urlmillOpen
func urlmillOpen(handle C.uintptr_t, s *C.struct_urlmill_stream) C.int {
	return guarded(failing(s), func() error {
		p := processorOf(handle)
		switch {
		case handle == 0:
			return errors.New("urlmill: there is no processor")
		case s.in.release == nil:
			return errors.New("urlmill: the input stream has been released")
		case p == nil:
			return errors.New("urlmill: there is no such processor: it has been freed")
		}
		st, err := open(p, &s.in)
		if err != nil {
			return err
		}
		s.handle = C.uintptr_t(cgo.NewHandle(st))
		alive.Add(1)
		return nil
	})
}

// onStream calls f with the stream, locked.
func onStream(s *C.struct_urlmill_stream, f func(*stream) error) C.int {
	return guarded(failing(s), func() error {
		st := cgo.Handle(s.handle).Value().(*stream)
		st.mu.Lock()
		defer st.mu.Unlock()
		return f(st)
	})
}

//export urlmillSchema
func urlmillSchema(s *C.struct_urlmill_stream, out *C.struct_ArrowSchema) C.int {
	return onStream(s, func(st *stream) error { return st.schema(out) })
}

//export urlmillNext
func urlmillNext(s *C.struct_urlmill_stream, out *C.struct_ArrowArray) C.int {
	return onStream(s, func(st *stream) error { return st.next(out) })
}

//export urlmillClose
func urlmillClose(handle C.uintptr_t) {
	h := cgo.Handle(handle)
	h.Value().(*stream).close()
	h.Delete()
	alive.Add(-1)
}

//export urlmillReleased
func urlmillReleased(handle C.uintptr_t) {
	cgo.Handle(handle).Value().(*lent).release()
}
