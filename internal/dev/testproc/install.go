package testproc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	installTimeout = 20 * time.Minute // of which one is enough on two free cores
	installTries   = 3                // networks fail for a moment
)

var installPause = 2 * time.Second // before another try

// Install runs, in dir, a program that fetches or builds what a test needs, and runs it again when it fails. A nil environ is
// that of this process. The error has what the program said the last time.
func Install(dir string, environ []string, program string, args ...string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	for try := range installTries {
		if try > 0 {
			time.Sleep(installPause)
		}
		if err = install(ctx, dir, environ, program, args...); err == nil || ctx.Err() != nil {
			break
		}
	}
	return err
}

func install(ctx context.Context, dir string, environ []string, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, environ
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, errors.Join(ctx.Err(), err), out.Bytes())
	}
	return nil
}

// GoInstall builds a command of a module into dir, such as example.com/cmd@v1.0.0, for this machine and without what the environment
// says about other builds.
func GoInstall(dir, command string) error {
	environ := []string{"GOBIN=" + dir, "GOWORK=off", "CGO_ENABLED=0"}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GOFLAGS", "GOOS", "GOARCH", "GOBIN", "GOWORK", "CGO_ENABLED":
		default:
			environ = append(environ, v)
		}
	}
	return Install(dir, environ, "go", "install", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", command)
}
