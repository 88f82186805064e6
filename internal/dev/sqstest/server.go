// Package sqstest runs ElasticMQ, which speaks the protocol of Amazon SQS, as a process for tests.
//
// It is fetched from Maven Central into the user's cache folder the first time, and keeps its messages in memory. It needs Java 17 or newer
// and Maven; where one of them is missing the test is skipped with the reason, or fails if [EnvRequire] says so. It does not look at
// signatures.
package sqstest

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // of Maven's file
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
	minJava      = 17
	startTimeout = 3 * time.Minute
	// account is that of all queues.
	account = "000000000000"
)

//go:embed pom.xml
var pom []byte

// distribution is what is needed to start a server.
type distribution struct{ java, libs string } // paths

var install = sync.OnceValues(func() (d distribution, err error) {
	if d.java, err = testproc.Java(minJava); err != nil {
		return d, err
	}
	sum := sha256.Sum256(pom)
	d.libs, err = testproc.Maven("elasticmq-"+hex.EncodeToString(sum[:4]), "libs", func(dir string) ([]string, error) {
		file := filepath.Join(dir, "pom.xml")
		args := []string{"-f", file, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=" + filepath.Join(dir, "libs")}
		return args, os.WriteFile(file, pom, 0o644)
	})
	return d, err
})

// Server is an ElasticMQ process. It is stopped when the test ends.
type Server struct {
	Endpoint string // such as http://127.0.0.1:9324
	process  *testproc.Process
}

const config = `include classpath("application.conf")
node-address { protocol = http, host = 127.0.0.1, port = %[1]d, context-path = "" }
rest-sqs { enabled = true, bind-port = %[1]d, bind-hostname = "127.0.0.1", sqs-limits = strict }
rest-stats { enabled = false }
aws { region = us-east-1, accountId = %[2]s }
`

// Start runs a server without queues.
func Start(tb testing.TB) *Server {
	tb.Helper()
	dist, err := install()
	if err != nil {
		testproc.Missing(tb, EnvRequire, fmt.Sprintf("no server of Amazon SQS: %v", err))
	}
	dir, port := tb.TempDir(), testproc.Ports(tb, 1)[0]
	name := filepath.Join(dir, "elasticmq.conf")
	if err := os.WriteFile(name, fmt.Appendf(nil, config, port, account), 0o600); err != nil {
		tb.Fatal(err)
	}
	s := &Server{Endpoint: "http://127.0.0.1:" + strconv.Itoa(port)}
	cmd := exec.Command(dist.java, "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dconfig.file="+name, "-cp", filepath.Join(dist.libs, "*"), "org.elasticmq.server.Main")
	s.process, err = testproc.Serve(dir, cmd, startTimeout, func() error { return s.call("ListQueues", map[string]any{}, nil) })
	if err != nil {
		tb.Fatalf("ElasticMQ: %v", err)
	}
	tb.Cleanup(s.process.Kill)
	return s
}

// Queue makes a queue, and returns its URL.
func (s *Server) Queue(tb testing.TB, name string) string {
	tb.Helper()
	s.must(tb, "CreateQueue", map[string]any{"QueueName": name})
	return s.Endpoint + "/" + account + "/" + name
}

// Delete deletes a queue.
func (s *Server) Delete(tb testing.TB, queue string) {
	tb.Helper()
	s.must(tb, "DeleteQueue", map[string]any{"QueueUrl": queue})
}

// Send puts a message into a queue.
func (s *Server) Send(tb testing.TB, queue, body string) {
	tb.Helper()
	s.must(tb, "SendMessage", map[string]any{"QueueUrl": queue, "MessageBody": body})
}

// Messages returns how many messages a queue has, those that a receiver has in hand among them.
func (s *Server) Messages(tb testing.TB, queue string) int {
	tb.Helper()
	var answer struct{ Attributes map[string]string }
	if err := s.call("GetQueueAttributes", map[string]any{"QueueUrl": queue, "AttributeNames": []string{"All"}}, &answer); err != nil {
		tb.Fatal(err)
	}
	seen, _ := strconv.Atoi(answer.Attributes["ApproximateNumberOfMessages"])
	hidden, _ := strconv.Atoi(answer.Attributes["ApproximateNumberOfMessagesNotVisible"])
	return seen + hidden
}

func (s *Server) must(tb testing.TB, action string, in map[string]any) {
	tb.Helper()
	if err := s.call(action, in, nil); err != nil {
		tb.Fatal(err)
	}
}

func (s *Server) call(action string, in map[string]any, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, s.Endpoint+"/", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AmazonSQS."+action)
	r.Close = true
	answer, err := testproc.Ask(r)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	if out != nil {
		return json.Unmarshal(answer, out)
	}
	return nil
}
