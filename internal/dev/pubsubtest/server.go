// Package pubsubtest runs Google's own imitation of Pub/Sub, pstest, as a process for tests, with the REST interface in front of it. The
// command is a module of its own (server), which is built into the user's cache folder the first time. Where it cannot be built, tests that
// need it are skipped, and fail if [EnvRequire] says so.
package pubsubtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// EnvRequire, set to "1", turns a server that cannot be had from a skipped test into a failed one. It is that of all object stores.
const EnvRequire = s3test.EnvRequire

const (
	startTimeout = 2 * time.Minute
	topic        = "projects/p/topics/objects"
)

// install builds the server once for all checkouts with the same source.
var install = sync.OnceValues(func() (string, error) {
	dir, err := testproc.InRepository("internal/dev/pubsubtest/server")
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "", err
		}
		_, _ = sum.Write(content)
	}
	return testproc.Cached("pubsub-"+hex.EncodeToString(sum.Sum(nil)[:6]), "server", func(to string) error {
		return testproc.Install(dir, nil, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(to, "server"), ".")
	})
})

// Server is a process with a topic. It is stopped when the test ends.
type Server struct{ Host string } // such as 127.0.0.1:8085

// Start runs a server.
func Start(tb testing.TB) *Server {
	tb.Helper()
	binary, err := install()
	if err != nil {
		testproc.Missing(tb, EnvRequire, fmt.Sprintf("no server of Pub/Sub: %v", err))
	}
	s := &Server{Host: "127.0.0.1:" + strconv.Itoa(testproc.Ports(tb, 1)[0])}
	process, err := testproc.Serve(tb.TempDir(), exec.Command(binary, "-listen", s.Host), startTimeout, func() error { return s.call(http.MethodPut, topic, nil) })
	if err != nil {
		tb.Fatalf("pstest: %v", err)
	}
	tb.Cleanup(process.Kill)
	return s
}

// Subscription makes one, and returns its whole name.
func (s *Server) Subscription(tb testing.TB, name string) string {
	tb.Helper()
	name = "projects/p/subscriptions/" + name
	s.must(tb, http.MethodPut, name, map[string]any{"topic": topic, "ackDeadlineSeconds": 10})
	return name
}

// Delete deletes a subscription.
func (s *Server) Delete(tb testing.TB, subscription string) {
	tb.Helper()
	s.must(tb, http.MethodDelete, subscription, nil)
}

// Publish sends a message with attributes to all subscriptions.
func (s *Server) Publish(tb testing.TB, attributes map[string]string) {
	tb.Helper()
	s.must(tb, http.MethodPost, topic+":publish", map[string]any{"messages": []any{map[string]any{"data": "e30=", "attributes": attributes}}})
}

func (s *Server) must(tb testing.TB, method, at string, in any) {
	tb.Helper()
	if err := s.call(method, at, in); err != nil {
		tb.Fatal(err)
	}
}

func (s *Server) call(method, at string, in any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	r, err := http.NewRequest(method, "http://"+s.Host+"/v1/"+at, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Close = true
	_, err = testproc.Ask(r)
	return err
}
