package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/apiversions"
	"github.com/segmentio/kafka-go/protocol/saslauthenticate"
	"github.com/segmentio/kafka-go/protocol/saslhandshake"
	"github.com/segmentio/kafka-go/sasl"

	"github.com/urlmill/urlmill/internal/kafkaconn"
)

// diagnose finds out why a listener closed the connection or does not answer. Brokers do so without an error when they are
// spoken to in plain text and want TLS, or the other way round, or want a login first, and some when they refuse
// the login; and all when they go down. It returns a [fatalError] if err turns out to be one of the
// former, and err otherwise: then the broker may come back, and trying again is right.
func (s *session) diagnose(ctx context.Context, err error) error {
	silent := s.tls != nil && errors.Is(err, context.DeadlineExceeded)
	if isFatal(err) || !hungUp(err) && !silent {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*s.opts.DialTimeout)
	defer cancel()
	for _, address := range s.opts.Brokers {
		if found := s.diagnoseListener(ctx, address); found != nil {
			return found
		}
	}
	return err
}

// diagnoseListener returns what is wrong with talking to address, nil if that cannot be told.
func (s *session) diagnoseListener(ctx context.Context, address string) error {
	switch {
	case s.tls != nil && speaksKafka(ctx, address):
		return &fatalError{fmt.Errorf("the listener at %s speaks plain text, and this client TLS", address), "disable TLS, or use the address of a TLS listener"}
	case s.tls == nil && s.sasl == nil && wantsLogin(ctx, address):
		return &fatalError{fmt.Errorf("the listener at %s asks for a login", address), "set SASL mechanism, username and password, or use the address of a listener without SASL"}
	}
	if s.sasl != nil {
		if found := s.diagnoseLogin(ctx, address); found != nil {
			return found
		}
	}
	if s.tls == nil && speaksTLS(ctx, address) {
		return wantsTLS(address)
	}
	return nil
}

// diagnoseLogin logs in once more and returns an error if the broker hangs up in answer to the credentials.
func (s *session) diagnoseLogin(ctx context.Context, address string) error {
	conn, err := s.dial(ctx, "tcp", address)
	if err != nil {
		return nil
	}
	defer conn.Close() // nothing is lost with it
	if err := limit(ctx, conn); err != nil {
		return nil
	}
	answer, err := protocol.RoundTrip(conn, 1, 1, s.opts.ClientID, &saslhandshake.Request{Mechanism: s.sasl.Name()})
	if err != nil || answer.(*saslhandshake.Response).ErrorCode != 0 {
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	number, _ := strconv.Atoi(port) // only for mechanisms that want to know
	state, message, err := s.sasl.Start(sasl.WithMetadata(ctx, &sasl.Metadata{Host: host, Port: number}))
	for done := false; err == nil && !done; {
		answer, err = protocol.RoundTrip(conn, 0, 2, s.opts.ClientID, &saslauthenticate.Request{AuthBytes: message})
		if hungUp(err) {
			return s.classify(kafkago.SASLAuthenticationFailed)
		}
		if err != nil {
			return nil
		}
		got := answer.(*saslauthenticate.Response)
		if got.ErrorCode != 0 {
			return s.classify(kafkago.Error(got.ErrorCode))
		}
		done, message, err = state.Next(ctx, got.AuthBytes)
	}
	return nil
}

// probe opens a connection for questions, with a deadline.
func probe(ctx context.Context, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if err := limit(ctx, conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// limit gives conn the deadline of ctx, or an earlier one.
func limit(ctx context.Context, conn net.Conn) error {
	deadline := time.Now().Add(3 * time.Second)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	return conn.SetDeadline(deadline)
}

// speaksTLS reports whether the listener answers a TLS handshake, also by refusing this client.
func speaksTLS(ctx context.Context, address string) bool {
	conn, err := probe(ctx, address)
	if err != nil {
		return false
	}
	defer conn.Close()                                                                  // nothing is lost with it
	err = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx) //nolint:gosec // nothing is sent
	return err == nil || kafkaconn.IsAlert(err)
}

// speaksKafka reports whether the listener answers a request in plain text.
func speaksKafka(ctx context.Context, address string) bool {
	conn, err := probe(ctx, address)
	if err != nil {
		return false
	}
	defer conn.Close() // nothing is lost with it
	_, err = protocol.RoundTrip(conn, 0, 1, "", &apiversions.Request{})
	return err == nil
}

// wantsLogin reports whether the listener takes part in a SASL handshake, which one without a login refuses.
func wantsLogin(ctx context.Context, address string) bool {
	conn, err := probe(ctx, address)
	if err != nil {
		return false
	}
	defer conn.Close() // nothing is lost with it
	answer, err := protocol.RoundTrip(conn, 1, 1, "", &saslhandshake.Request{Mechanism: "PLAIN"})
	if err != nil {
		return false
	}
	code := kafkago.Error(answer.(*saslhandshake.Response).ErrorCode)
	return code == 0 || code == kafkago.UnsupportedSASLMechanism
}
