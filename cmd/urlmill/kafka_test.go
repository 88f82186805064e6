//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/demo"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// kafkaConfig writes a configuration that reads a topic, and returns its name and its output.
func kafkaConfig(t *testing.T, addr, extra string) (file, out string) {
	t.Helper()
	dir := t.TempDir()
	file, out = filepath.Join(dir, "kafka.yaml"), filepath.Join(dir, "out")
	text := fmt.Sprintf(`
source:
  kafka: {brokers: ["%s"], topics: [clicks], group: g%s}
  codec: {ndjson: {url: /url, base: /referer}}
columns: {include: [href, url_error, topic, partition, offset]}
sink:
  parquet: {path: "%s"}
  roll: {every: 100ms}
`, addr, extra, out)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, out
}

// TestProduceAndRun fills a topic by one command and reads it by another one, twice: the second run goes on where the
// first one stopped.
func TestProduceAndRun(t *testing.T) {
	broker, err := demo.StartBroker("other", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	file, out := kafkaConfig(t, broker.Addr, "")
	for round := range 2 {
		produce := process(t, "produce", "--brokers", broker.Addr, "--records", "1000", "--partitions", "2", "--compression", []string{"zstd", "gzip"}[round])
		if said, err := produce.CombinedOutput(); err != nil || !strings.HasPrefix(string(said), "1,000 records, ") {
			t.Fatalf("produce: %v\n%s", err, said)
		}
		run := process(t, "run", file)
		var log testproc.Log
		run.Stderr = &log
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, &log, func() bool { return countRowsIn(t, out) >= 1000*(round+1) })
		if err := run.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code := wait(t, run); code != exitOK {
			t.Errorf("exit code %d\n%s", code, &log)
		}
		if rows := countRowsIn(t, out); rows != 1000*(round+1) {
			t.Errorf("round %d: %d rows", round, rows)
		}
	}
}

// countRowsIn counts the rows of all Parquet files of a folder.
func countRowsIn(t *testing.T, dir string) int {
	t.Helper()
	files, err := demo.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := demo.Rows(files)
	if err != nil {
		t.Fatal(err)
	}
	return int(rows)
}

// TestMissingTopic checks that a topic that is not there is named, with what to do, and that nothing waits for ever.
func TestMissingTopic(t *testing.T) {
	broker, err := demo.StartBroker("other", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	file, _ := kafkaConfig(t, broker.Addr, ", topic_timeout: 300ms")
	cmd := process(t, "run", file)
	var log testproc.Log
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if code := wait(t, cmd); code != exitFailure || !strings.Contains(log.String(), "clicks") {
		t.Errorf("exit code %d\n%s", code, &log)
	}
}

// TestBrokerDown checks that a broker that is not there is waited for, that this is said, and that a signal ends it.
func TestBrokerDown(t *testing.T) {
	file, _ := kafkaConfig(t, "127.0.0.1:1", "")
	cmd := process(t, "run", file, "--log-format", "json")
	var log testproc.Log
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, &log, func() bool { return strings.Contains(log.String(), "127.0.0.1:1") })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := wait(t, cmd); code != exitOK {
		t.Errorf("exit code %d\n%s", code, &log)
	}

	file, _ = kafkaConfig(t, "127.0.0.1:1", ", connect_timeout: 300ms")
	cmd = process(t, "run", file)
	var second testproc.Log
	cmd.Stderr = &second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if code := wait(t, cmd); code != exitFailure || !strings.Contains(second.String(), "127.0.0.1:1") {
		t.Errorf("exit code %d\n%s", code, &second)
	}
}
