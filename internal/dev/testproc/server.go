package testproc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// LogOf returns the file in the directory of a server that has what it prints.
func LogOf(dir string) string { return filepath.Join(dir, "log") }

// StartIn starts a program in a directory, and adds what it prints to [LogOf] there.
func StartIn(dir string, cmd *exec.Cmd) (*Process, error) {
	log, err := os.OpenFile(LogOf(dir), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has its own
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	return Start(cmd)
}

// Serve is [StartIn] for a server, and returns when ready is nil. One that does not get there is killed, and the error has its log.
func Serve(dir string, cmd *exec.Cmd, patience time.Duration, ready func() error) (*Process, error) {
	p, err := StartIn(dir, cmd)
	if err != nil {
		return nil, err
	}
	if err := p.Await(patience, ready); err != nil {
		p.Kill()
		text, _ := os.ReadFile(LogOf(dir))
		return p, fmt.Errorf("%w\n%s", err, text)
	}
	return p, nil
}
