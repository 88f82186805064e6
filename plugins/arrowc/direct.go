//go:build crossing && linux

package main

/*
#include "border.h"

// cost is that of test/crossing.c.
struct cost {
	int64_t nanoseconds, instructions;
};
*/
import "C"

import (
	"runtime/cgo"
	"syscall"
	"unsafe"
)

// urlmillDirect parses the next batch of a stream without carrying anything over the border, and adds what that cost the thread:
// CPU time, and instructions if counter is the file of a counter of them. It is what test/crossing.c compares the border
// with, and not in the library.
//
//export urlmillDirect
func urlmillDirect(handle C.uintptr_t, in *C.struct_ArrowArrayStream, counter C.int, spent *C.struct_cost) {
	p := cgo.Handle(handle).Value().(*shared)
	s, err := open(p, in)
	if err != nil {
		panic(err)
	}
	if ok, err := s.pull(); err != nil || !ok {
		panic(err)
	}
	idle := now(counter)
	began := now(counter)
	r, err := p.processor.Parse(s.urls, s.bases)
	if err != nil {
		panic(err)
	}
	r.Release()
	ended := now(counter)
	spent.nanoseconds += ended.nanoseconds - began.nanoseconds - (began.nanoseconds - idle.nanoseconds)
	spent.instructions += ended.instructions - began.instructions - (began.instructions - idle.instructions)
	s.close()
}

// now returns what this thread has cost until now, the instructions only with a counter. A call from C stays on its thread.
func now(counter C.int) (c C.struct_cost) {
	if counter >= 0 {
		if _, _, e := syscall.RawSyscall(syscall.SYS_READ, uintptr(counter), uintptr(unsafe.Pointer(&c.instructions)), unsafe.Sizeof(c.instructions)); e != 0 {
			panic(e)
		}
	}
	const clockThreadCPU = 3
	var t syscall.Timespec
	if _, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPU, uintptr(unsafe.Pointer(&t)), 0); e != 0 {
		panic(e)
	}
	c.nanoseconds = C.int64_t(t.Nano())
	return c
}
