package s3test

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// EnvRequire, set to "1", turns a server that cannot be had from a skipped test into a failed one.
const EnvRequire = "URLMILL_REQUIRE_S3"

// Version is the version of versitygw that [Start] runs.
const Version = "v1.8.0"

const command = "github.com/versity/versitygw/cmd/versitygw"

// install builds the server once for all tests of this process, and returns the path of its binary.
var install = sync.OnceValues(func() (string, error) {
	binary, err := testproc.Cached("versitygw-"+Version, "versitygw", build)
	if err != nil {
		return "", fmt.Errorf("no way to build versitygw %s: %w", Version, err)
	}
	return binary, nil
})

// build builds the server into dir, for this machine and without what the environment says about other builds.
func build(dir string) error {
	environ := []string{"GOBIN=" + dir, "GOWORK=off", "CGO_ENABLED=0"}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GOFLAGS", "GOOS", "GOARCH", "GOBIN", "GOWORK", "CGO_ENABLED":
		default:
			environ = append(environ, v)
		}
	}
	return testproc.Install(dir, environ, "go", "install", "-trimpath", "-ldflags=-s -w", command+"@"+Version)
}
