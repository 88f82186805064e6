//go:build crossing && linux

package main

/*
#include "border.h"
*/
import "C"

import (
	"runtime/cgo"
	"syscall"
	"unsafe"
)

// urlmillDirect parses the next batch of a stream without carrying anything over the border, and returns the CPU time that it took,
// in nanoseconds. It is what test/crossing.c compares the border with, and not in the library.
//
//export urlmillDirect
func urlmillDirect(handle C.uintptr_t, in *C.struct_ArrowArrayStream) C.int64_t {
	p := cgo.Handle(handle).Value().(*shared)
	s, err := open(p, in)
	if err != nil {
		panic(err)
	}
	if ok, err := s.pull(); err != nil || !ok {
		panic(err)
	}
	began := threadTime()
	r, err := p.processor.Parse(s.urls, s.bases)
	if err != nil {
		panic(err)
	}
	r.Release()
	took := threadTime() - began
	s.drop()
	return C.int64_t(took)
}

// threadTime returns the CPU time of this thread in nanoseconds. A call from C stays on its thread.
func threadTime() int64 {
	const clockThreadCPU = 3
	var t syscall.Timespec
	if _, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPU, uintptr(unsafe.Pointer(&t)), 0); e != 0 {
		panic(e)
	}
	return t.Nano()
}
