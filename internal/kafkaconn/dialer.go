package kafkaconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
)

const (
	// DefaultClientID is what clients call themselves where nothing is set.
	DefaultClientID = "urlmill"
	// DefaultDialTimeout bounds connecting where nothing is set.
	DefaultDialTimeout = 10 * time.Second
	// metadataTTL bounds how long a transport believes what it has learned about leaders and partitions.
	metadataTTL = 4 * time.Second
)

// Cluster says which brokers to talk to, and how.
type Cluster struct {
	// Brokers are the addresses, host:port, to learn the cluster from.
	Brokers  []string
	ClientID string
	TLS      TLS
	SASL     SASL
	// DialTimeout bounds connecting to a broker, with the TLS handshake.
	DialTimeout time.Duration
}

// Addresses returns Brokers.
func (c *Cluster) Addresses() []string { return c.Brokers }

// Dialer connects to the brokers of a [Cluster]. Its methods may be called from several goroutines.
type Dialer struct {
	cluster Cluster
	sasl    sasl.Mechanism // nil: no login
	conns   connSet

	reading sync.Mutex
	tls     *tls.Config // as read last; nil: plain text
}

// NewDialer reads the files of c. It connects to no broker.
func NewDialer(c Cluster) (*Dialer, error) {
	d := &Dialer{cluster: c}
	var err error
	if d.tls, err = c.TLS.Config(); err != nil {
		return nil, err
	}
	d.sasl, err = c.SASL.NewMechanism()
	return d, err
}

// Addr returns the address of the brokers, for a client of kafka-go.
func (d *Dialer) Addr() net.Addr { return kafkago.TCP(d.cluster.Brokers...) }

// NewTransport returns a transport that keeps what it learns about topics, with connections of its own. The caller ends it by
// CloseIdleConnections.
func (d *Dialer) NewTransport(topics ...string) *kafkago.Transport {
	return &kafkago.Transport{
		Dial:           d.dial,
		DialTimeout:    d.cluster.DialTimeout,
		MetadataTTL:    metadataTTL,
		MetadataTopics: topics,
		ClientID:       d.cluster.ClientID,
		SASL:           d.sasl,
	}
}

// Close breaks every connection, so that every request that waits for an answer fails. No connection is made after it.
func (d *Dialer) Close() { d.conns.close() }

// Open returns the number of open connections.
func (d *Dialer) Open() int {
	d.conns.mu.Lock()
	defer d.conns.mu.Unlock()
	return len(d.conns.open)
}

// dial connects to a broker. It does the TLS handshake itself, so that an error of the handshake differs from one of the
// network. Every connection is in d.conns.
func (d *Dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.cluster.DialTimeout)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := &trackedConn{Conn: raw, set: &d.conns, sniff: !d.cluster.TLS.Enabled}
	if !d.conns.add(conn) {
		_ = raw.Close()
		return nil, fmt.Errorf("dialing %s: %w", address, net.ErrClosed)
	}
	if !d.cluster.TLS.Enabled {
		return d.guard(conn, address), nil
	}
	config := d.readTLS()
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		config = config.Clone()
		config.ServerName = host
	}
	encrypted := tls.Client(conn, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("TLS handshake with %s: %w", address, err)
	}
	return d.guard(encrypted, address), nil
}

// readTLS returns what the files say now, since others renew them while we run. Where that fails it returns what they said last: one
// may be half written, or not fit the other yet.
func (d *Dialer) readTLS() *tls.Config {
	d.reading.Lock()
	defer d.reading.Unlock()
	if fresh, err := d.cluster.TLS.Config(); err == nil {
		d.tls = fresh
	}
	return d.tls
}

// guard returns what kafka-go gets of a connection.
func (d *Dialer) guard(conn net.Conn, address string) *guardedConn {
	c := guard(conn)
	if d.sasl != nil {
		c.logIn = func() error {
			ctx, cancel := context.WithTimeout(context.Background(), d.cluster.DialTimeout)
			defer cancel()
			return d.logIn(ctx, c, address, 1) // only its answers say for how long
		}
	}
	return c
}

// connSet has every open connection of a [Dialer]. Closing the connection is the only way to end a request of kafka-go that
// waits for its answer.
type connSet struct {
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

// add reports whether c may be used: the set may be closed already.
func (s *connSet) add(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.open == nil {
		s.open = make(map[net.Conn]struct{})
	}
	s.open[c] = struct{}{}
	return true
}

func (s *connSet) remove(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// close closes every connection, and lets no other be added.
func (s *connSet) close() {
	s.mu.Lock()
	s.closed = true
	open := s.open
	s.open = nil
	s.mu.Unlock()
	for c := range open { // without the lock, which their remove takes
		_ = c.Close() // it is broken off, whatever its state
	}
}

// trackedConn leaves its set when it is closed. On a connection in plain text, it recognizes the alert that a TLS listener
// answers with, which kafka-go would take for the length of an answer.
type trackedConn struct {
	net.Conn
	set   *connSet
	sniff bool // nothing has been read yet; of the goroutine that reads
}

func (c *trackedConn) Close() error {
	c.set.remove(c)
	return c.Conn.Close()
}

func (c *trackedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.sniff && n > 0 {
		c.sniff = false
		// No answer of a broker begins with these two: it would be longer than 352 MB.
		const tlsAlert, tlsMajor = 0x15, 0x03
		if n >= 2 && b[0] == tlsAlert && b[1] == tlsMajor {
			return 0, wantsTLS(c.RemoteAddr().String())
		}
	}
	return n, err
}

func wantsTLS(address string) error {
	return &FatalError{fmt.Errorf("the listener at %s speaks TLS, and this client plain text", address), "enable TLS, or use the address of a listener without"}
}
