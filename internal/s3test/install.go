package s3test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/urlmill/urlmill/internal/testproc"
)

// EnvRequire, set to "1", turns a server that cannot be had from a skipped test into a failed one.
const EnvRequire = "URLMILL_REQUIRE_S3"

// Version is the version of versitygw that [Start] runs.
const Version = "v1.8.0"

const (
	command        = "github.com/versity/versitygw/cmd/versitygw"
	installTimeout = 8 * time.Minute // of which one is enough on two free cores
)

// install builds the server once for all tests of this process, and returns the path of its binary.
var install = sync.OnceValues(func() (string, error) { return testproc.Cached("versitygw-"+Version, "versitygw", goInstall) })

// goInstall builds the server into dir, for this machine and without what the environment says about other builds.
func goInstall(dir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "install", "-trimpath", "-ldflags=-s -w", command+"@"+Version)
	cmd.Dir = dir
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GOFLAGS", "GOOS", "GOARCH", "GOBIN", "GOWORK":
		default:
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GOBIN="+dir, "GOWORK=off", "CGO_ENABLED=0")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("no way to build versitygw %s: %w\n%s", Version, errors.Join(ctx.Err(), err), out.Bytes())
	}
	return nil
}
