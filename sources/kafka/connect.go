package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
)

const (
	// requestTimeout bounds a request beyond the time that the broker may take on purpose. A peer that is
	// gone without a word is noticed after it.
	requestTimeout = 30 * time.Second
	// metadataTTL bounds how long the transport believes what it has learned about leaders.
	metadataTTL = 4 * time.Second
)

// session is what one run holds open: connections, and the clients on them.
type session struct {
	opts Options
	log  *slog.Logger
	tls  *tls.Config    // nil: plain text
	sasl sasl.Mechanism // nil: no login

	trouble *trouble // nil for a session that is not shown to users, as that of a survey

	// Every lane may want to ask something at the same time, and each request has a connection to itself.
	commits, lookups places

	identities    atomic.Pointer[map[string]identity] // of the topics, as the generation knows them
	fetchVersions sync.Map                            // newest version of the fetch request, int16, by the broker's number

	conns     connSet
	transport *kafkago.Transport
	client    *kafkago.Client
}

func newSession(opts Options, log *slog.Logger) (*session, error) {
	s := &session{opts: opts, log: log, commits: make(places, maxCommits), lookups: make(places, maxFetches)}
	var err error
	if s.tls, err = opts.TLS.Config(); err != nil {
		return nil, err
	}
	if s.sasl, err = opts.SASL.NewMechanism(); err != nil {
		return nil, err
	}
	s.transport = s.newTransport()
	s.client = &kafkago.Client{Addr: s.transportAddr(), Transport: s.transport}
	return s, nil
}

// newTransport returns a transport with connections of its own. The caller ends it by CloseIdleConnections.
func (s *session) newTransport() *kafkago.Transport {
	return &kafkago.Transport{
		Dial:           s.dial,
		DialTimeout:    s.opts.DialTimeout,
		MetadataTTL:    metadataTTL,
		MetadataTopics: s.opts.Topics,
		ClientID:       s.opts.ClientID,
		SASL:           s.sasl,
	}
}

func (s *session) transportAddr() net.Addr { return kafkago.TCP(s.opts.Brokers...) }

// dialer returns what kafka-go's consumer group opens its connections with.
func (s *session) dialer() *kafkago.Dialer {
	return &kafkago.Dialer{
		ClientID:      s.opts.ClientID,
		Timeout:       s.opts.DialTimeout,
		DialFunc:      s.dial,
		SASLMechanism: s.sasl,
	}
}

// close breaks every connection, so that every request that waits for an answer fails. No connection is made after it.
func (s *session) close() {
	s.transport.CloseIdleConnections()
	s.conns.close()
}

// dial connects to a broker. It does the TLS handshake itself, so that an error of the handshake differs from one of the
// network. kafka-go's transport and its consumer group both use it, and every connection is in s.conns.
func (s *session) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.DialTimeout)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := &trackedConn{Conn: raw, set: &s.conns, sniff: s.tls == nil}
	if !s.conns.add(conn) {
		_ = raw.Close()
		return nil, fmt.Errorf("dialing %s: %w", address, net.ErrClosed)
	}
	if s.tls == nil {
		return conn, nil
	}
	config := s.tls
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
	return encrypted, nil
}

// connSet has every open connection of a session. Closing the connection is the only way to end a request of kafka-go that
// waits for its answer.
type connSet struct {
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

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
	for c := range open {
		_ = c.Close() // it is broken off, whatever its state
	}
}

// trackedConn leaves its set when it is closed. On a connection in plain text, it recognizes the alert that a TLS listener
// answers with, which kafka-go would take for the length of an answer.
type trackedConn struct {
	net.Conn
	set   *connSet
	sniff bool // nothing has been read yet
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
	return &fatalError{fmt.Errorf("the listener at %s speaks TLS, and this client plain text", address), "enable TLS, or use the address of a listener without"}
}
