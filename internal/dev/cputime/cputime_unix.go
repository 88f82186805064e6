//go:build unix && !aix && !netbsd

package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Used returns how long this process has run on CPUs so far, all of its threads together.
func Used() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
