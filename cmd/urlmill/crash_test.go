//go:build unix

package main

import (
	"bytes"
	"os/exec"
	"syscall"
	"testing"
)

// TestCrash: what ends the Go runtime, SIGQUIT among it, does not look like a wrong configuration, which is not tried again.
func TestCrash(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "urlmill", "parse", "--output", "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("https://a.example/\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it runs
		t.Fatalf("%v\n%s", err, &said)
	}
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the state says how
	if s := cmd.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() != syscall.SIGABRT {
		t.Errorf("%v, want SIGABRT\n%.2000s", cmd.ProcessState, &said)
	}
}
