package testproc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

const installTimeout = 8 * time.Minute // of which one is enough on two free cores

// Install runs, in dir, a program that fetches or builds what a test needs. A nil environ is that of this process. The error
// has what the program said.
func Install(dir string, environ []string, program string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, environ
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, errors.Join(ctx.Err(), err), out.Bytes())
	}
	return nil
}
