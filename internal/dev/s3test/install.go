package s3test

import (
	"fmt"
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
	binary, err := testproc.Cached("versitygw-"+Version, "versitygw", func(dir string) error { return testproc.GoInstall(dir, command+"@"+Version) })
	if err != nil {
		return "", fmt.Errorf("no way to build versitygw %s: %w", Version, err)
	}
	return binary, nil
})
