//go:build unix

package urlcore_test

import (
	"syscall"
	"time"
)

// cpuTime returns how long this process has run on CPUs, which does not depend on what else the machine does.
func cpuTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
