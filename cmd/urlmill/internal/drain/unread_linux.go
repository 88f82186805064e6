package drain

import "golang.org/x/sys/unix"

// unread returns how many bytes are in a pipe that somebody can still read.
func unread(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ) // FIONREAD, which tells it at either end of a pipe
	if err != nil {
		return 0
	}
	state := []unix.PollFd{{Fd: int32(fd)}}
	if _, err := unix.Poll(state, 0); err == nil && state[0].Revents&unix.POLLERR != 0 {
		return 0 // the other end is closed
	}
	return n
}
