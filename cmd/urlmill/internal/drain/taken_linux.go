package drain

import "golang.org/x/sys/unix"

// taken says whether nothing is in a pipe that anybody could still read.
func taken(fd int) bool {
	unread, err := unix.IoctlGetInt(fd, unix.TIOCINQ) // FIONREAD, which tells it at either end of a pipe
	if err != nil || unread == 0 {
		return true
	}
	state := []unix.PollFd{{Fd: int32(fd)}}
	if _, err := unix.Poll(state, 0); err != nil {
		return err != unix.EINTR
	}
	return state[0].Revents&unix.POLLERR != 0 // the other end is closed
}
