package azuretest

import (
	"crypto/hmac"
	"crypto/sha256"
	_ "embed" // of npm's files
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
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

const (
	startTimeout = 2 * time.Minute
	stopTimeout  = time.Minute
)

// The emulator's account and its key, which are documented.
const (
	emulator    = "devstoreaccount1"
	emulatorKey = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

var (
	//go:embed package.json
	manifest []byte
	//go:embed package-lock.json
	lock []byte
)

var install = sync.OnceValues(func() (string, error) {
	sum := sha256.Sum256(lock)
	return testproc.Cached("azurite-"+hex.EncodeToString(sum[:6]), "node_modules/azurite/dist/src/blob/main.js", func(dir string) error {
		for name, content := range map[string][]byte{"package.json": manifest, "package-lock.json": lock} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				return err
			}
		}
		return testproc.Install(dir, nil, "npm", "ci", "--omit=dev", "--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund")
	})
})

// Server is an Azurite process with an empty container. It is stopped when the test ends.
type Server struct {
	Endpoint string // such as http://127.0.0.1:10000
	Place    string // of the container, such as az://devstoreaccount1/urlmill-test
	script   string
	dir      string
	process  *testproc.Process // nil before the first start
}

// Start runs a server. Without Azurite the test is skipped; see [EnvRequire].
func Start(tb testing.TB) *Server {
	tb.Helper()
	script, err := install()
	if err != nil {
		testproc.Missing(tb, EnvRequire, fmt.Sprintf("no server of Azure Blob Storage: %v", err))
	}
	s := &Server{
		Place: "az://" + emulator + "/urlmill-test", script: script, dir: tb.TempDir(), Endpoint: "http://127.0.0.1:" + strconv.Itoa(testproc.Ports(tb, 1)[0]),
	}
	tb.Cleanup(s.Kill)
	s.Start(tb)
	if err := s.request(http.MethodPut, s.Endpoint, "/"+emulator+"/urlmill-test", "restype", "container", ""); err != nil {
		tb.Fatal(err)
	}
	return s
}

// Start starts the server again, with its data and address, and returns when it takes requests.
func (s *Server) Start(tb testing.TB) {
	tb.Helper()
	_, port, _ := strings.Cut(strings.TrimPrefix(s.Endpoint, "http://"), ":")
	cmd := exec.Command("node", s.script, "--blobHost", "127.0.0.1", "--blobPort", port, "--location", filepath.Join(s.dir, "data"), "--silent", "--disableTelemetry")
	var err error
	s.process, err = testproc.Serve(s.dir, cmd, startTimeout, func() error {
		resp, err := http.Get(s.Endpoint + "/" + emulator)
		if err == nil { // whatever it says
			err = resp.Body.Close()
		}
		return err
	})
	if err != nil {
		tb.Fatalf("Azurite: %v", err)
	}
}

// Stop ends the server by SIGTERM, which lets it write down what it has, and returns when it is gone.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	if !s.process.Stop(stopTimeout) {
		tb.Fatalf("Azurite did not stop within %v", stopTimeout)
	}
}

// Kill ends the server at once by SIGKILL, and returns when it is gone.
func (s *Server) Kill() { s.process.Kill() }

// Queue starts a server of queues with an empty one. It returns the URL of the queue, and what puts a text into it.
func (s *Server) Queue(tb testing.TB, name string) (url string, send func(text string)) {
	tb.Helper()
	port := strconv.Itoa(testproc.Ports(tb, 1)[0])
	endpoint, dir := "http://127.0.0.1:"+port, tb.TempDir()
	cmd := exec.Command("node", filepath.Join(filepath.Dir(s.script), "..", "queue", "main.js"), "--queueHost", "127.0.0.1", "--queuePort", port,
		"--location", filepath.Join(dir, "data"), "--silent", "--disableTelemetry")
	process, err := testproc.Serve(dir, cmd, startTimeout, func() error {
		return s.request(http.MethodPut, endpoint, "/"+emulator+"/"+name, "", "", "")
	})
	if err != nil {
		tb.Fatalf("Azurite's queues: %v", err)
	}
	tb.Cleanup(process.Kill)
	return endpoint + "/" + emulator + "/" + name, func(text string) {
		tb.Helper()
		body := "<QueueMessage><MessageText>" + html.EscapeString(text) + "</MessageText></QueueMessage>"
		if err := s.request(http.MethodPost, endpoint, "/"+emulator+"/"+name+"/messages", "", "", body); err != nil {
			tb.Fatal(err)
		}
	}
}

// request makes a request that is signed with the account's key, with one parameter of the query at most.
func (s *Server) request(method, endpoint, at, parameter, value, body string) error {
	const version = "2021-12-02"
	query, length, resource := "", "", ""
	if parameter != "" {
		query, resource = "?"+parameter+"="+value, "\n"+parameter+":"+value
	}
	if body != "" {
		length = strconv.Itoa(len(body))
	}
	r, err := http.NewRequest(method, endpoint+at+query, strings.NewReader(body))
	if err != nil {
		return err
	}
	key, err := base64.StdEncoding.DecodeString(emulatorKey)
	if err != nil {
		return err
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s\n\n\n%s%sx-ms-date:%s\nx-ms-version:%s\n/%s%s%s", method, length, strings.Repeat("\n", 9), date, version, emulator, at, resource)
	r.Header.Set("x-ms-date", date)
	r.Header.Set("x-ms-version", version)
	r.Header.Set("Authorization", "SharedKey "+emulator+":"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	http.DefaultClient.CloseIdleConnections()
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("%s %s: %s, %w", method, at, resp.Status, err)
	}
	return nil
}

// Direct is a server in memory without a network: the transport has every request answered by the time that it returns.
func Direct() (*Server, http.RoundTripper) {
	return &Server{Endpoint: "http://azure.invalid", Place: "az://" + account + "/" + container}, &memory{blobs: map[string]*blob{}}
}
