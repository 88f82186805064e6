//go:build !linux

package testproc

import (
	"os"
	"syscall"
)

// attach has nothing to say here: only Linux kills a child when its parent dies.
func attach(*syscall.SysProcAttr) {}

// kill kills a process.
func kill(p *os.Process) { _ = p.Kill() } // it may have ended by now

// lockFile locks nothing here: test binaries that want the same at the same time each make it.
func lockFile(string) (unlock func(), err error) { return func() {}, nil }

// tryLockFile locks nothing here: two test binaries may choose the same port, and one of them tries again.
func tryLockFile(string) (unlock func(), ok bool) { return func() {}, true }
