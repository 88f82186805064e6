package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/apiversions"
	"github.com/segmentio/kafka-go/protocol/saslhandshake"
)

// diagnose finds out why a listener hung up on us. Brokers do so without a word when they are spoken to in plain
// text and want TLS, or the other way round, or want a login first; and when they go down. It returns a
// [fatalError] if err turns out to be one of the former, and err otherwise.
func (s *session) diagnose(ctx context.Context, err error) error {
	if isFatal(err) || !hungUp(err) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.DialTimeout)
	defer cancel()
	for _, address := range s.opts.Brokers {
		if found := s.diagnoseListener(ctx, address); found != nil {
			return found
		}
	}
	return err
}

func (s *session) diagnoseListener(ctx context.Context, address string) error {
	if s.tls != nil {
		if speaksKafka(ctx, address) == nil {
			return &fatalError{fmt.Errorf("the listener at %s speaks plain text, and this client TLS", address), "disable TLS, or use the address of a TLS listener"}
		}
		return nil
	}
	if speaksTLS(ctx, address) {
		return wantsTLS(address)
	}
	if s.sasl == nil && wantsLogin(ctx, address) {
		return &fatalError{fmt.Errorf("the listener at %s asks for a login", address), "set SASL mechanism, username and password, or use the address of a listener without SASL"}
	}
	return nil
}

// probe opens a connection for questions, with a deadline.
func probe(ctx context.Context, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	if soon := time.Now().Add(3 * time.Second); soon.Before(deadline) {
		deadline = soon
	}
	if err := conn.SetDeadline(deadline); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func speaksTLS(ctx context.Context, address string) bool {
	conn, err := probe(ctx, address)
	if err != nil {
		return false
	}
	defer conn.Close()                                                                  //nolint:errcheck // nothing is lost with it
	err = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx) //nolint:gosec // nothing is sent
	var alert tls.AlertError
	return err == nil || errors.As(err, &alert)
}

// speaksKafka returns nil if the listener answers in plain text.
func speaksKafka(ctx context.Context, address string) error {
	conn, err := probe(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // nothing is lost with it
	_, err = protocol.RoundTrip(conn, 0, 1, "", &apiversions.Request{})
	return err
}

func wantsLogin(ctx context.Context, address string) bool {
	conn, err := probe(ctx, address)
	if err != nil {
		return false
	}
	defer conn.Close() //nolint:errcheck // nothing is lost with it
	answer, err := protocol.RoundTrip(conn, 1, 1, "", &saslhandshake.Request{Mechanism: "PLAIN"})
	if err != nil {
		return false
	}
	code := kafkago.Error(answer.(*saslhandshake.Response).ErrorCode)
	return code == 0 || code == kafkago.UnsupportedSASLMechanism
}
