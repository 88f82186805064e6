//go:build !linux

package kafkatest

import "syscall"

// procAttr has nothing to say here: only Linux kills a child when its parent dies.
func procAttr() *syscall.SysProcAttr { return nil }

// lockFile locks nothing here: test binaries that fetch at the same time cost a download more.
func lockFile(string) (unlock func(), err error) { return func() {}, nil }

// tryLockFile locks nothing here: two test binaries may choose the same port, and one of them tries again.
func tryLockFile(string) (unlock func(), ok bool) { return func() {}, true }
