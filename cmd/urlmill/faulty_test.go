//go:build unix

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// faultEnv tells the command urlmill-faulty, which is this test binary under that name, what to do to the calls that it
// makes to the file system:
//
//	kill,N         the process kills itself before call N
//	at,STEP,N      it does so when it comes to a step for the N-th time: one of [dedupe.Options.Step], "record" (before a
//	               commit record is there), "recorded" (before the call after that) or "table" (before an Iceberg table is
//	               looked at, behind what was finished for other processes), or the name of a call, such as remove
//	stop,STEP,N    it stops itself there, and goes on when somebody wakes it up
//	ENOSPC,N,M     of the calls that change something, M from number N on fail with this error; also EROFS and EIO
//
// Before one of these, with a semicolon between, or instead of them, may be what the file system lacks:
//
//	norename       moves to a name that must not be taken, and knowledge of the other processes' locks
//	nolink         links, besides
//
// internal/dev/chaos builds and runs it.
const faultEnv = "URLMILL_FAULT"

var faultErrors = map[string]syscall.Errno{"ENOSPC": syscall.ENOSPC, "EROFS": syscall.EROFS, "EIO": syscall.EIO}

// faultyCode is mainCode with faults.
func faultyCode() int {
	lacks, fault := lacking(os.Getenv(faultEnv))
	if fault == "" && lacks != store.System {
		fault = "ENOSPC,1,0" // what it lacks is all
	}
	var at *killAt
	before, err := parseFault(fault)
	if what, text, _ := strings.Cut(fault, ","); what == "at" || what == "stop" {
		at, err = newKillAt(text)
		if what == "stop" && err == nil {
			at.act = pause
		}
		before = at.call
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUsage
	}
	sys := storetest.Wrap(lacks, before)
	return execute(os.Args[1:], &app{
		dedupeStep: at.step,
		in:         os.Stdin, out: os.Stdout, err: os.Stderr,
		components: wire.Standard(),
		stores: func(location string, log *slog.Logger) (store.Store, error) {
			return store.NewLocal(location, sys, log), nil
		},
	})
}

// die kills the process.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal may take a moment
}

// pause stops the process until somebody wakes it up.
func pause() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

// bare is a file system that lacks what some have not. Each process believes itself on a machine of its own.
type bare struct {
	store.FS
	boot  string
	links bool
}

// lacking returns the file system that a fault is to happen to, and the fault.
func lacking(text string) (store.FS, string) {
	what, fault, _ := strings.Cut(text, ";")
	if what != "norename" && what != "nolink" {
		return store.System, text
	}
	return bare{store.System, fmt.Sprintf("machine of process %d", os.Getpid()), what == "norename"}, fault
}

func (b bare) Boot() string { return b.boot }

func (bare) Rename(string, string) error { return errors.ErrUnsupported }

func (b bare) Link(from, to string) error {
	if !b.links {
		return errors.ErrUnsupported
	}
	return b.FS.Link(from, to)
}

// killAt kills the process, or does something else to it, when it comes to a step for the n-th time. A nil one does not.
type killAt struct {
	name string
	act  func()

	mu       sync.Mutex
	n        int
	recorded bool // the last call has made a commit record
}

func newKillAt(text string) (*killAt, error) {
	name, number, _ := strings.Cut(text, ",")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return nil, fmt.Errorf("%s=at,%s does not say for which time", faultEnv, text)
	}
	return &killAt{name: name, act: die, n: n}, nil
}

func (k *killAt) step(name string) error {
	if k == nil || name != k.name {
		return nil
	}
	k.mu.Lock()
	k.n--
	last := k.n == 0
	k.mu.Unlock()
	if last {
		k.act()
	}
	return nil
}

// call finds the steps among the calls to the file system.
func (k *killAt) call(c storetest.Call) error {
	record := c.Op == "link" && strings.Contains(c.Path, "_commits")
	k.mu.Lock()
	after := k.recorded
	k.recorded = record
	k.mu.Unlock()
	if after {
		_ = k.step("recorded")
	}
	_ = k.step(c.Op)
	if record {
		_ = k.step("record")
	}
	if c.Op == "link" && strings.HasSuffix(c.Path, "_iceberg/output.json") {
		_ = k.step("table")
	}
	return nil
}

// parseFault returns what is to happen before every call.
func parseFault(text string) (func(storetest.Call) error, error) {
	fields := strings.Split(text, ",")
	if fields[0] == "at" || fields[0] == "stop" {
		return nil, nil
	}
	numbers := make([]int64, 0, 2)
	for _, f := range fields[1:] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s=%s: %w", faultEnv, text, err)
		}
		numbers = append(numbers, n)
	}
	var calls atomic.Int64
	errno, known := faultErrors[fields[0]]
	switch {
	case fields[0] == "kill" && len(numbers) == 1:
		return func(storetest.Call) error {
			if calls.Add(1) == numbers[0] {
				die()
			}
			return nil
		}, nil
	case known && len(numbers) == 2:
		return func(c storetest.Call) error {
			if !c.Changes() {
				return nil
			}
			if n := calls.Add(1); n >= numbers[0] && n < numbers[0]+numbers[1] {
				if n == numbers[0] {
					fmt.Fprintf(os.Stderr, "fault: %s fails: %v\n", c.Op, errno)
				}
				return errno
			}
			return nil
		}, nil
	}
	return nil, fmt.Errorf("%s=%q says nothing to do", faultEnv, text)
}
