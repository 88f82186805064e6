package kafkatest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	startTimeout = 90 * time.Second
	stopTimeout  = 20 * time.Second
	startTries   = 3
)

// Cluster is a running Apache Kafka.
type Cluster struct {
	opts       Options
	dist       distribution
	dir        string
	id         string
	controller string // address of the controller's listener
	brokers    []*Broker
}

// Start runs an Apache Kafka until the test is over, and returns when it takes requests. A test that cannot
// have one is skipped, or fails if URLMILL_REQUIRE_KAFKA=1. The broker's log is shown if the test fails.
func Start(tb testing.TB, opts Options) *Cluster {
	tb.Helper()
	if testing.Short() && os.Getenv(EnvRequire) != "1" {
		tb.Skip("a real Kafka broker takes its time: not in -short")
	}
	dist, err := install()
	if err != nil {
		if os.Getenv(EnvRequire) == "1" {
			tb.Fatalf("no Apache Kafka: %v", err)
		}
		tb.Skipf("no Apache Kafka: %v", err)
	}
	// A port that was free when it was chosen may be taken by the time that the broker wants it.
	for try := 1; ; try++ {
		c, err := newCluster(tb.TempDir(), dist, opts)
		if err == nil {
			tb.Cleanup(func() { c.end(tb) })
			return c
		}
		if try == startTries || !strings.Contains(err.Error(), "Address already in use") {
			tb.Fatal(err)
		}
	}
}

func newCluster(dir string, dist distribution, opts Options) (_ *Cluster, err error) {
	if opts.Brokers == 0 {
		opts.Brokers = 1
	}
	c := &Cluster{opts: opts, dist: dist, dir: dir, id: newID()}
	defer func() {
		if err != nil {
			c.Kill()
		}
	}()
	if opts.TLS {
		if err := writeCertificates(dir); err != nil {
			return nil, err
		}
	}
	ports, err := freePorts(1 + opts.Brokers*len(opts.listeners()))
	if err != nil {
		return nil, err
	}
	c.controller, ports = ports[0], ports[1:]
	for id := 1; id <= opts.Brokers; id++ {
		b := &Broker{cluster: c, id: id, dir: filepath.Join(dir, fmt.Sprint("broker-", id)), addrs: map[string]string{}}
		for _, l := range opts.listeners() {
			b.addrs[l.name], ports = ports[0], ports[1:]
		}
		c.brokers = append(c.brokers, b)
		if err := b.format(); err != nil {
			return nil, err
		}
	}
	return c, c.start()
}

// newID returns a random identity as Kafka's storage tool wants it: 16 bytes in URL-safe base 64.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[0] &= 0x7f           // a leading "-" would look like an option
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// freePorts returns n addresses on 127.0.0.1 that nobody listens on.
func freePorts(n int) ([]string, error) {
	addrs := make([]string, n)
	for i := range addrs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // open until all are found, so that no two are the same
		addrs[i] = l.Addr().String()
	}
	return addrs, nil
}

// Addr is the address of the first broker's plain-text listener.
func (c *Cluster) Addr() string { return c.brokers[0].addrs[plain.name] }

// Addrs are the addresses of every broker's plain-text listener.
func (c *Cluster) Addrs() []string {
	addrs := make([]string, len(c.brokers))
	for i, b := range c.brokers {
		addrs[i] = b.addrs[plain.name]
	}
	return addrs
}

// TLSAddr is the address of the first broker's listener with TLS.
func (c *Cluster) TLSAddr() string { return c.brokers[0].addrs[secure.name] }

// SASLAddr is the address of the first broker's plain-text listener that asks for a login.
func (c *Cluster) SASLAddr() string { return c.brokers[0].addrs[login.name] }

// SASLTLSAddr is the address of the first broker's listener with TLS that asks for a login.
func (c *Cluster) SASLTLSAddr() string { return c.brokers[0].addrs[both.name] }

// CAFile is the path of the PEM certificate of the authority that signed the brokers' certificates.
func (c *Cluster) CAFile() string { return filepath.Join(c.dir, caFile) }

// Broker returns the i-th broker, from 0.
func (c *Cluster) Broker(i int) *Broker { return c.brokers[i] }

// Stop shuts every broker down in good order, the controller last. The data stay.
func (c *Cluster) Stop(tb testing.TB) {
	tb.Helper()
	for i := len(c.brokers) - 1; i >= 0; i-- {
		c.brokers[i].Stop(tb)
	}
}

// Kill ends every broker at once by SIGKILL. The data stay.
func (c *Cluster) Kill() {
	for _, b := range c.brokers {
		b.Kill()
	}
}

// Start starts every broker that is not running, with the data and the addresses it had before, and returns
// when the cluster takes requests.
func (c *Cluster) Start(tb testing.TB) {
	tb.Helper()
	if err := c.start(); err != nil {
		tb.Fatal(err)
	}
}

func (c *Cluster) start() error {
	for _, b := range c.brokers {
		if err := b.start(); err != nil {
			return err
		}
	}
	return c.ready()
}

// ready waits until every broker is known to every other and every partition has a leader.
func (c *Cluster) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		err := c.probe(ctx)
		if err == nil {
			return nil
		}
		for _, b := range c.brokers {
			if b.exited() {
				return fmt.Errorf("broker %d ended while it started:\n%s", b.id, b.logTail())
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the brokers of Apache Kafka are not ready after %v: %w\n%s", startTimeout, err, c.brokers[0].logTail())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (c *Cluster) probe(ctx context.Context) error {
	for _, addr := range c.Addrs() {
		if err := c.probeBroker(ctx, addr); err != nil {
			return fmt.Errorf("%s: %w", addr, err)
		}
	}
	return nil
}

func (c *Cluster) probeBroker(ctx context.Context, addr string) error {
	// A client would log and retry for a long while what is expected here: nobody listens yet.
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	_ = conn.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.RequestRetries(0))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	meta, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, client)
	if err != nil {
		return err
	}
	if len(meta.Brokers) != len(c.brokers) {
		return fmt.Errorf("%d of %d brokers are there", len(meta.Brokers), len(c.brokers))
	}
	for _, t := range meta.Topics {
		for _, p := range t.Partitions {
			if p.Leader < 0 {
				return errors.New("a partition has no leader")
			}
		}
	}
	return nil
}

// end shows the logs of a failed test and ends every broker.
func (c *Cluster) end(tb testing.TB) {
	c.Kill()
	if !tb.Failed() {
		return
	}
	for _, b := range c.brokers {
		tb.Logf("log of broker %d:\n%s", b.id, b.logTail())
	}
}

// command returns what runs a class of the distribution.
func (d distribution) command(class string, args ...string) *exec.Cmd {
	args = append([]string{
		"-Xmx512m", "-Xms128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true",
		"-Dorg.slf4j.simpleLogger.showDateTime=true", "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		"-cp", filepath.Join(d.libs, "*"), class,
	}, args...)
	return exec.Command(d.java, args...)
}
