//go:build crossing && linux

package main

/*
#include "border.h"
#include "crossing.h"
*/
import "C"

import (
	"runtime/cgo"
	"syscall"
	"unsafe"
)

// urlmillDirect parses the next batch of a stream without carrying anything over the border, and adds what that cost the thread.
// counters is the file of counters of the thread's cycles and instructions, or negative. It is what test/crossing.c compares the
// border with, and not in the library.
//
//export urlmillDirect
func urlmillDirect(handle C.uintptr_t, in *C.struct_ArrowArrayStream, counters C.int, spent *C.struct_cost) {
	p := cgo.Handle(handle).Value().(*shared)
	s, err := open(p, in)
	if err != nil {
		panic(err)
	}
	if ok, err := s.pull(); err != nil || !ok {
		panic(err)
	}
	var cost, ignored C.struct_cost
	timed(counters, &cost, &ignored, func() {
		r, err := p.processor.Parse(s.urls, s.bases)
		if err != nil {
			panic(err)
		}
		r.Release()
	})
	add(spent, cost)
	s.close()
}

// now returns what this thread has cost until now, cycles and instructions only with counters. A call from C stays on its thread.
func now(counters C.int) (c C.struct_cost) {
	if counters >= 0 {
		var group C.struct_counted
		if _, _, e := syscall.RawSyscall(syscall.SYS_READ, uintptr(counters), uintptr(unsafe.Pointer(&group)), unsafe.Sizeof(group)); e != 0 {
			panic(e)
		}
		c.cycles, c.instructions = group.cycles, group.instructions
	}
	const clockThreadCPU = 3
	var t syscall.Timespec
	if _, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPU, uintptr(unsafe.Pointer(&t)), 0); e != 0 {
		panic(e)
	}
	c.nanoseconds = C.int64_t(t.Nano())
	return c
}

// urlmillDeeper calls run of C with so many frames more on the stack of Go, on which what run calls of Go lies as well. It returns
// where the stack is then.
//
//export urlmillDeeper
func urlmillDeeper(frames C.int, run C.urlmill_run, arg unsafe.Pointer) C.uintptr_t {
	return C.uintptr_t(deeper(frames, run, arg))
}

//go:noinline
func deeper(frames C.int, run C.urlmill_run, arg unsafe.Pointer) uintptr {
	if frames > 0 {
		return deeper(frames-1, run, arg)
	}
	var here byte
	C.urlmill_call(run, arg)
	return uintptr(unsafe.Pointer(&here))
}
