//go:build !linux

package main

import "syscall"

// procAttr has nothing to say where no child is killed with its parent.
func procAttr() *syscall.SysProcAttr { return nil }
