//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Used returns how long this process has run on CPUs so far, all of its threads together.
func Used() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
