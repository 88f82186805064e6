//go:build unix

package filesink

import "syscall"

// mostOpen is how many files may be open at a time: half of what the system allows, which Go has raised as far as it can
// be, since brokers and readers need some as well.
func mostOpen() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return minOpen
	}
	return int(min(max(limit.Cur/2, minOpen), maxOpen))
}
