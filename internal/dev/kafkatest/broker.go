package kafkatest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// Broker is one process of a [Cluster].
type Broker struct {
	cluster *Cluster
	id      int
	dir     string
	addrs   map[string]string // by the name of the listener
	proxy   *Proxy            // nil without [Options.Proxy]

	process *testproc.Process // nil before the first start
}

func (b *Broker) config() string { return filepath.Join(b.dir, "server.properties") }

// Addr is the address of the broker's plain-text listener.
func (b *Broker) Addr() string { return b.addrs[plain.name] }

// Proxy is the proxy in front of the broker, with [Options.Proxy].
func (b *Broker) Proxy() *Proxy { return b.proxy }

// DataDir is the directory that has the logs of the broker's partitions.
func (b *Broker) DataDir() string { return filepath.Join(b.dir, "data") }

// format writes the broker's configuration and prepares its storage.
func (b *Broker) format() error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(b.config(), []byte(b.cluster.properties(b)), 0o644); err != nil {
		return err
	}
	args := append([]string{"format", "-t", b.cluster.id, "-c", b.config()}, b.cluster.opts.formatArgs()...)
	if out, err := b.cluster.dist.command("", "kafka.tools.StorageTool", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("formatting the storage of broker %d: %w\n%s", b.id, err, out)
	}
	return nil
}

// start starts the process if it is not running, and does not wait for more.
func (b *Broker) start() error {
	if !b.process.Ended() {
		return nil
	}
	cmd := b.cluster.dist.command(b.cluster.opts.Heap, "kafka.Kafka", b.config())
	var err error
	b.process, err = testproc.StartIn(b.dir, cmd)
	return err
}

// Start starts the broker again, with the data and the addresses it had before, and returns when the cluster
// takes requests.
func (b *Broker) Start(tb testing.TB) {
	tb.Helper()
	if err := b.start(); err != nil {
		tb.Fatal(err)
	}
	if err := b.cluster.ready(); err != nil {
		tb.Fatal(err)
	}
}

// Stop shuts the broker down in good order.
func (b *Broker) Stop(tb testing.TB) {
	tb.Helper()
	if !b.process.Stop(stopTimeout) {
		tb.Fatalf("broker %d did not stop within %v:\n%s", b.id, stopTimeout, b.logTail())
	}
}

// Kill ends the broker at once by SIGKILL, and returns when it is gone.
func (b *Broker) Kill() { b.process.Kill() }

// Signal sends the broker's process a signal, SIGSTOP for example, unless it has ended.
func (b *Broker) Signal(sig os.Signal) { b.process.Signal(sig) }

// logTail returns the lines of the broker's log that tell of trouble, and the last ones.
func (b *Broker) logTail() string {
	const troubles, last = 30, 15
	text, err := os.ReadFile(testproc.LogOf(b.dir))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	end := max(0, len(lines)-last)
	var tail []string
	for _, line := range lines[:end] {
		if strings.Contains(line, "] ERROR ") || strings.Contains(line, "] WARN ") || strings.Contains(line, "Exception") {
			tail = append(tail, line)
		}
	}
	tail = tail[max(0, len(tail)-troubles):]
	return strings.Join(append(tail, lines[end:]...), "\n")
}
