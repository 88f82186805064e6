// Package machine knows what memory a process may have, and what its own code takes.
package machine

import "github.com/KimMachineGun/automemlimit/memlimit"

const (
	// Of the memory of a container, and of a machine that others use as well, in percent.
	shareOfContainer = 80
	shareOfMachine   = 50
	// unknownMemory stands for that of a machine that does not tell.
	unknownMemory = 4 << 30
	// unknownCode stands for the code of an executable that cannot be looked at.
	unknownCode = 96 << 20
)

// Available returns the bytes that a configuration without memory_limit may use here: most of a container, which has
// nothing else in it, or half of a machine.
func Available() int64 {
	machine, err := memlimit.FromSystem()
	if err != nil || machine == 0 {
		machine = unknownMemory
	}
	if container, err := memlimit.FromCgroup(); err == nil && container < machine {
		return int64(container / 100 * shareOfContainer)
	}
	return int64(machine / 100 * shareOfMachine)
}
