package main

import "syscall"

// procAttr has the kernel kill a process when the thread that started it ends, however chaos dies.
func procAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
