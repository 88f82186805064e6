package gcstest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// EnvRequire, set to "1", turns a server that cannot be had from a skipped test into a failed one. It is that of all object stores.
const EnvRequire = s3test.EnvRequire

// Version is the version of fake-gcs-server that [Start] runs.
const Version = "v1.56.1"

const (
	command      = "github.com/fsouza/fake-gcs-server"
	bucket       = "urlmill-test"
	startTimeout = 2 * time.Minute
	stopTimeout  = time.Minute
)

var install = sync.OnceValues(func() (string, error) {
	return testproc.Cached("fake-gcs-server-"+Version, "fake-gcs-server", func(dir string) error {
		return testproc.GoInstall(dir, command+"@"+Version)
	})
})

// Server is a fake-gcs-server process with an empty bucket. It is stopped when the test ends.
type Server struct {
	Endpoint string // such as http://127.0.0.1:4443
	Bucket   string
	binary   string
	dir      string
	process  *testproc.Process // nil before the first start
}

// Start runs a server. Without fake-gcs-server the test is skipped; see [EnvRequire].
func Start(tb testing.TB) *Server {
	tb.Helper()
	binary, err := install()
	if err != nil {
		testproc.Missing(tb, EnvRequire, fmt.Sprintf("no server of Google Cloud Storage: %v", err))
	}
	s := &Server{Bucket: bucket, binary: binary, dir: tb.TempDir(), Endpoint: "http://127.0.0.1:" + strconv.Itoa(testproc.Ports(tb, 1)[0])}
	if err := os.MkdirAll(filepath.Join(s.dir, "data", bucket), 0o755); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Kill)
	s.Start(tb)
	return s
}

// Start starts the server again, with its data and address, and returns when it takes requests.
func (s *Server) Start(tb testing.TB) {
	tb.Helper()
	_, port, _ := strings.Cut(strings.TrimPrefix(s.Endpoint, "http://"), ":")
	cmd := exec.Command(s.binary, "-scheme", "http", "-host", "127.0.0.1", "-port", port, "-backend", "filesystem", "-filesystem-root", filepath.Join(s.dir, "data"),
		"-log-level", "warn", "-public-host", "127.0.0.1:"+port)
	var err error
	s.process, err = testproc.Serve(s.dir, cmd, startTimeout, func() error { return testproc.AnswersOK(s.Endpoint + "/storage/v1/b/" + bucket) })
	if err != nil {
		tb.Fatalf("fake-gcs-server: %v", err)
	}
}

// Stop ends the server by SIGTERM, which lets it write down what it has, and returns when it is gone.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	if !s.process.Stop(stopTimeout) {
		tb.Fatalf("fake-gcs-server did not stop within %v", stopTimeout)
	}
}

// Kill ends the server at once by SIGKILL, and returns when it is gone.
func (s *Server) Kill() { s.process.Kill() }

// Direct is a server in memory without a network: the transport has every request answered by the time that it returns.
func Direct() (*Server, http.RoundTripper) {
	return &Server{Endpoint: "http://gcs.invalid", Bucket: "fake"}, &memory{objects: map[string]*object{}}
}
