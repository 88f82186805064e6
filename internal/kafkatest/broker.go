package kafkatest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Broker is one process of a [Cluster].
type Broker struct {
	cluster *Cluster
	id      int
	dir     string
	addrs   map[string]string // by the name of the listener
	proxy   *Proxy            // nil without [Options.Proxy]

	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended; nil before the first start
}

func (b *Broker) config() string  { return filepath.Join(b.dir, "server.properties") }
func (b *Broker) logFile() string { return filepath.Join(b.dir, "broker.log") }

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
	if b.done != nil && !b.exited() {
		return nil
	}
	log, err := os.OpenFile(b.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	cmd := b.cluster.dist.command(b.cluster.opts.Heap, "kafka.Kafka", b.config())
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.dir, log, log
	cmd.SysProcAttr = procAttr()
	started, done := make(chan error), make(chan struct{})
	go func() {
		// The kernel's parent is the thread, so that has to live as long as the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		defer log.Close() // only the child writes to it
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
		}
	}()
	if err := <-started; err != nil {
		<-done
		return err
	}
	b.cmd, b.done = cmd, done
	return nil
}

func (b *Broker) exited() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
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
	b.Signal(syscall.SIGTERM)
	if b.done == nil {
		return
	}
	select {
	case <-b.done:
	case <-time.After(stopTimeout):
		b.Kill()
		tb.Fatalf("broker %d did not stop within %v:\n%s", b.id, stopTimeout, b.logTail())
	}
}

// Kill ends the broker at once by SIGKILL, and returns when it is gone.
func (b *Broker) Kill() {
	b.Signal(syscall.SIGKILL)
	if b.done != nil {
		<-b.done
	}
}

// Signal sends the broker's process a signal, SIGSTOP for example, unless it has ended.
func (b *Broker) Signal(sig os.Signal) {
	if b.cmd != nil && !b.exited() {
		_ = b.cmd.Process.Signal(sig) // it may have ended by now
	}
}

// logTail returns the lines of the broker's log that tell of trouble, and the last ones.
func (b *Broker) logTail() string {
	const troubles, last = 30, 15
	text, err := os.ReadFile(b.logFile())
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
