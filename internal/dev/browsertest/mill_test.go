package browsertest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// mill is a urlmill that runs.
type mill struct {
	process *testproc.Process
	log     testproc.Log
}

// start runs urlmill until the end of the test.
func start(t *testing.T, args ...string) *mill {
	t.Helper()
	m := new(mill)
	cmd := exec.Command(testproc.Urlmill(t), args...)
	cmd.Stdout, cmd.Stderr = &m.log, &m.log
	var err error
	if m.process, err = testproc.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.process.Stop(patience)
		if t.Failed() {
			t.Logf("urlmill %s:\n%s", strings.Join(args, " "), &m.log)
		}
	})
	return m
}

// answers waits until the process answers at a URL.
func (m *mill) answers(t *testing.T, address string) {
	t.Helper()
	err := m.process.Await(patience, func() error {
		answer, err := http.Get(address)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	})
	if err != nil {
		t.Fatalf("urlmill at %s: %v\n%s", address, err, &m.log)
	}
}

// listens matches where a configuration says that the status page is.
var listens = regexp.MustCompile(`listen: "?([0-9.:]+)`)

// run starts urlmill with a configuration, and returns where its status page is once that answers. LISTEN in the
// configuration becomes a free address.
func run(t *testing.T, config string) (address string, m *mill) {
	t.Helper()
	if strings.Contains(config, "LISTEN") {
		config = strings.ReplaceAll(config, "LISTEN", fmt.Sprintf("127.0.0.1:%d", testproc.Ports(t, 1)[0]))
	}
	file := filepath.Join(t.TempDir(), "pipeline.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	m = start(t, "run", file)
	address = "http://" + listens.FindStringSubmatch(config)[1] + "/"
	m.answers(t, address+"livez")
	return address, m
}

const pipeline = `
source:
  kafka: {brokers: [BROKER], topics: [clicks], group: browser, start: earliest}
  codec: {ndjson: {url: /url, host: /host}}
sink:
  parquet: {path: "OUT"}
  roll: {every: 2s}
log: {level: warn}
admin: {listen: LISTEN}
`

// clickstream starts a broker, a producer of so many records a second, and a pipeline that reads them.
func clickstream(t *testing.T, rate int) (address string) {
	t.Helper()
	address, _ = clicks(t, rate)
	return address
}

// clicks does the same, and says where the broker is.
func clicks(t *testing.T, rate int) (address, broker string) {
	t.Helper()
	broker = kafkatest.Fake(t).ListenAddrs()[0]
	produce(t, broker, rate)
	address, _ = run(t, strings.NewReplacer("BROKER", broker, "OUT", filepath.Join(t.TempDir(), "clicks")).Replace(pipeline))
	return address, broker
}

// produce starts a producer of so many records a second, which ends with the test or by more flags.
func produce(t *testing.T, broker string, rate int, flags ...string) *mill {
	t.Helper()
	return start(t, append([]string{"produce", "--brokers", broker, "--rate", fmt.Sprint(rate)}, flags...)...)
}
