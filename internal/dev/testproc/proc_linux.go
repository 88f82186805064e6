package testproc

import (
	"os"
	"syscall"
)

// attach ties a process that is yet to be started to the thread that starts it.
func attach(attr *syscall.SysProcAttr) { attr.Setpgid, attr.Pdeathsig = true, syscall.SIGKILL }

// kill kills a process and its group.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) } // it may have ended by now

// lockFile waits for the exclusive lock on path, which ends with the process if not sooner.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// tryLockFile takes the exclusive lock on path, unless somebody has it. It ends with the process if not sooner.
func tryLockFile(path string) (unlock func(), ok bool) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, false
	}
	return func() { _ = f.Close() }, true
}
