package s3test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

const (
	startTimeout = 2 * time.Minute
	stopTimeout  = 2 * time.Minute
	bucket       = "urlmill-test"
	healthPath   = "/health"
)

// Gateway is a versitygw process in front of an empty directory. It is stopped when the test ends.
type Gateway struct {
	Server
	binary string
	addr   string
	dir    string // has the directories data and meta, and the log

	process *testproc.Process // nil before the first start
}

// Start runs a server. Without versitygw the test is skipped; see [EnvRequire].
func Start(tb testing.TB) *Gateway {
	tb.Helper()
	binary, err := install()
	if err != nil {
		testproc.Missing(tb, EnvRequire, fmt.Sprintf("no S3 server: %v", err))
	}
	g := &Gateway{binary: binary, dir: tb.TempDir()}
	for _, dir := range []string{g.Dir(), g.meta()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	tb.Cleanup(g.Kill)
	g.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(testproc.Ports(tb, 1)[0]))
	g.Server = Server{
		Endpoint: "http://" + g.addr, Region: "us-east-1", AccessKey: "urlmill", SecretKey: "urlmill-test-secret", Bucket: bucket,
	}
	g.Start(tb)
	return g
}

// Dir is the directory that has the bucket's objects as files. Those whose upload is not complete are in another one
// below it, whose name begins with a dot.
func (g *Gateway) Dir() string { return filepath.Join(g.dir, "data", bucket) }

// meta is the directory of the objects' metadata: not every file system has extended attributes.
func (g *Gateway) meta() string { return filepath.Join(g.dir, "meta") }

// Start starts the server again, with its data and address, and returns when it takes requests.
func (g *Gateway) Start(tb testing.TB) {
	tb.Helper()
	if err := g.start(); err != nil {
		tb.Fatal(err)
	}
}

func (g *Gateway) start() error {
	if !g.process.Ended() {
		return nil
	}
	cmd := exec.Command(g.binary, "--port", g.addr, "--quiet", "--region", g.Region, "--health", healthPath, "--keep-alive",
		"posix", "--sidecar", g.meta(), filepath.Dir(g.Dir()))
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+g.AccessKey, "ROOT_SECRET_KEY="+g.SecretKey)
	var err error
	g.process, err = testproc.Serve(g.dir, cmd, startTimeout, func() error { return testproc.AnswersOK(g.Endpoint + healthPath) })
	if err != nil {
		return fmt.Errorf("versitygw: %w", err)
	}
	return nil
}

// Stop ends the server by SIGTERM, which lets it finish the requests that it has, and returns when it is gone. One that is
// killed while it completes an upload has neither the upload nor the object when it is started again.
func (g *Gateway) Stop(tb testing.TB) {
	tb.Helper()
	if !g.process.Stop(stopTimeout) {
		tb.Fatalf("versitygw did not stop within %v:\n%s", stopTimeout, g.Log())
	}
}

// Kill ends the server at once by SIGKILL, and returns when it is gone.
func (g *Gateway) Kill() { g.process.Kill() }

// Log returns what the server has printed.
func (g *Gateway) Log() string {
	text, err := os.ReadFile(testproc.LogOf(g.dir))
	if err != nil {
		return err.Error()
	}
	return string(text)
}
