// Package drain waits at the end of a program that another one keeps beside it until what was written has been read.
//
// A host that waits for the end of its process while it still reads from the pipe may close the pipe as soon as the process
// has ended, with what is in it: Telegraf's processor execd does, and so does every Go program that calls Cmd.Wait beside a
// reader of StdoutPipe. A process that ends after its output has been read loses nothing to them.
package drain

import (
	"io"
	"os"
	"time"
)

// Patience is how long [Wait] stays while nobody reads. It is shorter than the five seconds after which Telegraf sends
// SIGTERM, and not endless, since there are hosts that wait for the end of the process before they read.
const Patience = 4 * time.Second

const (
	firstPause = 100 * time.Microsecond
	longest    = 20 * time.Millisecond
)

// Wait returns when w, if it is a pipe, is empty, has no reader any more, or was not read from for [Patience]. Of anything
// else it knows nothing and returns at once, as it does for pipes of systems other than Linux.
func Wait(w io.Writer) { wait(w, Patience) }

func wait(w io.Writer, patience time.Duration) {
	f, ok := w.(*os.File)
	if !ok {
		return
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	before, since := -1, time.Now()
	for pause := firstPause; ; pause = min(2*pause, longest) {
		left := 0
		if err := raw.Control(func(fd uintptr) { left = unread(int(fd)) }); err != nil || left == 0 {
			return
		}
		if left != before {
			before, since = left, time.Now()
		} else if time.Since(since) > patience {
			return
		}
		time.Sleep(pause)
	}
}
