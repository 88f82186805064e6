package kafka

import (
	"log/slog"
	"sync"
	"sync/atomic"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/internal/kafkaconn"
)

// session is what one run holds open: connections, and the clients on them.
type session struct {
	opts Options
	log  *slog.Logger

	trouble *trouble // nil for a session that is not shown to users, as that of a survey

	// Every lane may want to ask something at the same time, and each request has a connection to itself.
	commits, lookups places

	identities    atomic.Pointer[map[string]identity] // of the topics, as the generation knows them
	fetchVersions sync.Map                            // newest version of the fetch request, int16, by the broker's number

	dialer    *kafkaconn.Dialer
	transport *kafkago.Transport
	client    *kafkago.Client
}

func newSession(opts Options, log *slog.Logger) (*session, error) {
	dialer, err := kafkaconn.NewDialer(kafkaconn.Cluster{
		Brokers: opts.Brokers, ClientID: opts.ClientID, TLS: opts.TLS, SASL: opts.SASL, DialTimeout: opts.DialTimeout,
	})
	if err != nil {
		return nil, err
	}
	s := &session{opts: opts, log: log, dialer: dialer, commits: make(places, maxCommits), lookups: make(places, maxFetches)}
	s.transport = dialer.NewTransport(opts.Topics...)
	s.client = &kafkago.Client{Addr: dialer.Addr(), Transport: s.transport}
	return s, nil
}

// close breaks every connection, so that every request that waits for an answer fails. No connection is made after it.
func (s *session) close() {
	s.transport.CloseIdleConnections()
	s.dialer.Close()
}
