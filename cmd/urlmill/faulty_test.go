//go:build unix

package main

import (
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/wire"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// faultEnv tells the command urlmill-faulty, which is this test binary under that name, what to do to the calls that it
// makes to the file system:
//
//	kill,N         the process kills itself before call N
//	ENOSPC,N,M     of the calls that change something, M from number N on fail with this error; also EROFS and EIO
//
// internal/chaos builds and runs it.
const faultEnv = "URLMILL_FAULT"

var faultErrors = map[string]syscall.Errno{"ENOSPC": syscall.ENOSPC, "EROFS": syscall.EROFS, "EIO": syscall.EIO}

// faultyCode is mainCode with faults.
func faultyCode() int {
	before, err := parseFault(os.Getenv(faultEnv))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUsage
	}
	sys := storetest.Wrap(store.System, before)
	return execute(os.Args[1:], &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		registry: wire.Standard(),
		stores: func(location string, log *slog.Logger) (store.Store, error) {
			return store.NewLocal(location, sys, log), nil
		},
	})
}

// parseFault returns what is to happen before every call.
func parseFault(text string) (func(storetest.Call) error, error) {
	fields := strings.Split(text, ",")
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
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // the signal may take a moment
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
