package testproc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Process is a program that runs. A nil one has ended.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // of its end, once done is closed
}

// Start starts a program. On Linux it is in a process group of its own, so that a Ctrl-C at the test does not reach it before
// the test has seen it, and the kernel kills it when this process ends, however that dies. Who starts it sees to its end.
func Start(cmd *exec.Cmd) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	attach(cmd.SysProcAttr)
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel's parent is the thread, so that has to live as long as the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		<-p.done
		return nil, err
	}
	return p, nil
}

// ID is the process's identifier.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed when the process has ended and all that it has said has been read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	if p == nil {
		return true
	}
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Err returns what [exec.Cmd.Wait] does, once the process has ended.
func (p *Process) Err() error { <-p.done; return p.err }

// Code returns the exit code, once the process has ended; -1 if a signal ended it.
func (p *Process) Code() int { <-p.done; return p.cmd.ProcessState.ExitCode() }

// Signal sends a signal, unless the process has ended.
func (p *Process) Signal(sig os.Signal) {
	if !p.Ended() {
		_ = p.cmd.Process.Signal(sig) // it may have ended by now
	}
}

// Kill ends the process by SIGKILL, also one that is stopped, and returns when it is gone. On Linux it ends those that are in
// its group as well.
func (p *Process) Kill() {
	if p == nil {
		return
	}
	if !p.Ended() {
		kill(p.cmd.Process)
	}
	<-p.done
}

// Stop asks the process to end by SIGTERM, and kills it if it has not ended in time. It reports whether it has.
func (p *Process) Stop(patience time.Duration) bool {
	p.Signal(syscall.SIGTERM)
	if p.Within(patience) {
		return true
	}
	p.Kill()
	return false
}

// Within waits for the process to end, and reports whether it has in time.
func (p *Process) Within(patience time.Duration) bool {
	if p == nil {
		return true
	}
	select {
	case <-p.done:
		return true
	case <-time.After(patience):
		return false
	}
}

// ErrEnded is the error of [Process.Await] when the process has ended.
var ErrEnded = errors.New("the process has ended")

// Await calls ready until it returns nil. It gives up when the process has ended or patience is over, with an error that has
// what ready returned last.
func (p *Process) Await(patience time.Duration, ready func() error) error {
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		ended := p.Ended() // what it did before its end counts
		err := ready()
		switch {
		case err == nil:
			return nil
		case ended:
			return fmt.Errorf("%w: %w", ErrEnded, err)
		case time.Since(begin) > patience:
			return fmt.Errorf("in vain for %v: %w", patience, err)
		}
	}
}
