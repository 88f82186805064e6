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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

const (
	startTimeout = 3 * time.Minute
	stopTimeout  = 2 * time.Minute
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
	release    func() // the ports
}

// Start runs an Apache Kafka until the test is over, and returns when it takes requests. A test that cannot
// have one is skipped, or fails if URLMILL_REQUIRE_KAFKA=1. The broker's log is shown if the test fails.
func Start(tb testing.TB, opts Options) *Cluster {
	tb.Helper()
	if os.Getenv(EnvRequire) != "1" && testing.Short() {
		tb.Skip("a real Kafka broker takes its time: not in -short")
	}
	dist, err := install()
	if err != nil {
		testproc.Missing(tb, EnvRequire, fmt.Sprintf("no Apache Kafka: %v", err))
	}
	var failures []error
	for range startTries {
		c, err := newCluster(tb.TempDir(), dist, opts)
		if err == nil {
			tb.Cleanup(func() { c.end(tb) })
			return c
		}
		failures = append(failures, err)
	}
	tb.Fatalf("no Apache Kafka after %d tries: %v", startTries, errors.Join(failures...))
	return nil
}

func newCluster(dir string, dist distribution, opts Options) (_ *Cluster, err error) {
	if opts.Brokers == 0 {
		opts.Brokers = 1
	}
	ports, release, err := testproc.ReservePorts(1 + opts.Brokers*len(opts.listeners()))
	if err != nil {
		return nil, err
	}
	c := &Cluster{opts: opts, dist: dist, dir: dir, id: newID(), release: release}
	defer func() {
		if err != nil {
			c.Kill()
			release()
			c.closeProxies()
		}
	}()
	if opts.TLS {
		if err := writeCertificates(dir); err != nil {
			return nil, err
		}
	}
	next := func() string {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[0]))
		ports = ports[1:]
		return addr
	}
	c.controller = next()
	for id := 1; id <= opts.Brokers; id++ {
		b := &Broker{cluster: c, id: id, dir: filepath.Join(dir, fmt.Sprint("broker-", id)), addrs: map[string]string{}}
		for _, l := range opts.listeners() {
			b.addrs[l.name] = next()
		}
		if opts.Proxy {
			if b.proxy, err = NewProxy(b.addrs[proxied.name]); err != nil {
				return nil, err
			}
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

// Addr is the address of the first broker's plain-text listener.
func (c *Cluster) Addr() string { return c.brokers[0].addrs[plain.name] }

// ProxyAddrs are the addresses of the proxies in front of every broker. Who connects to one of them is sent to the
// others.
func (c *Cluster) ProxyAddrs() []string {
	addrs := make([]string, len(c.brokers))
	for i, b := range c.brokers {
		addrs[i] = b.proxy.Addr()
	}
	return addrs
}

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

// ready waits until every broker is known to every other and listens wherever it is to, and every partition has a leader.
func (c *Cluster) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		err := c.probe(ctx)
		if err == nil {
			return nil
		}
		for _, b := range c.brokers {
			if b.process.Ended() {
				return fmt.Errorf("broker %d ended while it started:\n%s", b.id, b.logTail())
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the brokers of Apache Kafka are not ready after %v: %w\n%s", startTimeout, err, c.logTails())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (c *Cluster) probe(ctx context.Context) error {
	for _, b := range c.brokers {
		for _, addr := range b.addrs { // a broker opens its listeners one after the other, and takes requests at the first one
			// A client would log and retry for a long while what is expected here: nobody listens yet.
			conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
			if err != nil {
				return err
			}
			_ = conn.Close()
		}
		if err := c.probeBroker(ctx, b.addrs[plain.name]); err != nil {
			return fmt.Errorf("%s: %w", b.addrs[plain.name], err)
		}
	}
	return nil
}

func (c *Cluster) probeBroker(ctx context.Context, addr string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.RequestRetries(0))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
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
	c.release()
	c.closeProxies()
	if !tb.Failed() {
		return
	}
	tb.Log(c.logTails())
}

// logTails returns what [Broker.logTail] does of every broker.
func (c *Cluster) logTails() string {
	var text strings.Builder
	for _, b := range c.brokers {
		fmt.Fprintf(&text, "log of broker %d:\n%s\n", b.id, b.logTail())
	}
	return text.String()
}

func (c *Cluster) closeProxies() {
	for _, b := range c.brokers {
		if b.proxy != nil {
			_ = b.proxy.Close()
		}
	}
}

// command returns what runs a class of the distribution.
func (d distribution) command(heap, class string, args ...string) *exec.Cmd {
	if heap == "" {
		heap = "512m"
	}
	args = append([]string{
		"-Xmx" + heap, "-Xms64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true",
		"-Dorg.slf4j.simpleLogger.showDateTime=true", "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
		"-cp", filepath.Join(d.libs, "*"), class,
	}, args...)
	return exec.Command(d.java, args...)
}
