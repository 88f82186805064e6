//go:build unix && !solaris && !aix

package outfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// canLock tells whether tryLock says anything about other processes.
const canLock = true

// tryLock locks f for as long as it is open and fails when another process has locked it.
func tryLock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}
