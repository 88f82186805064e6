package udf

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is what a pipe is to hold. It is four times what pipes hold by default; more of them gain nothing, and all pipes of a user together
// may have 64 MiB (fs.pipe-user-pages-soft).
const pipeSize = 256 << 10

// widen makes a pipe larger: its two ends wake each other whenever it is full or empty. What is no pipe, or may not be larger, stays as it is.
func widen(pipe any) {
	f, ok := pipe.(*os.File)
	if !ok {
		return
	}
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
	}
}
