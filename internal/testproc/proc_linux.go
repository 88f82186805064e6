package testproc

import (
	"os"
	"syscall"
)

// attach ties a process that is yet to be started to the thread that starts it.
func attach(attr *syscall.SysProcAttr) { attr.Setpgid, attr.Pdeathsig = true, syscall.SIGKILL }

// kill kills a process and its group.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) } // it may have ended by now
