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

const (
	firstPause = 100 * time.Microsecond
	longest    = 20 * time.Millisecond
)

// Wait returns when w, if it is a pipe, is empty or has no reader any more. Of anything else it knows nothing and
// returns at once, as it does for pipes of systems other than Linux. There is no limit to the time, as there is none to that
// of a write to a full pipe; a host that has waited enough kills.
func Wait(w io.Writer) {
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
	for pause := firstPause; ; pause = min(2*pause, longest) {
		done := true
		if err := raw.Control(func(fd uintptr) { done = taken(int(fd)) }); err != nil || done {
			return
		}
		time.Sleep(pause)
	}
}
