// Package cputime tells how long the CPU was busy, which other programs on the machine do not change.
package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Used returns the time of the CPU that this process has used so far, all its threads together.
func Used() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
