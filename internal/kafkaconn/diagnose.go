package kafkaconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/apiversions"
	"github.com/segmentio/kafka-go/protocol/saslauthenticate"
	"github.com/segmentio/kafka-go/protocol/saslhandshake"
	"github.com/segmentio/kafka-go/sasl"
)

// diagnose finds out why a listener closed the connection or does not answer, which err says. Brokers do so without an error
// when they are spoken to in plain text and want TLS, or the other way round, or want a login first, and some when they
// refuse the login; and all when they go down. It returns a [FatalError] if err turns out to be one of the former, and err
// otherwise: then the broker may come back, and trying again is right. It opens connections of its own to every broker.
func (d *Dialer) diagnose(ctx context.Context, err error) error {
	silent := d.cluster.TLS.Enabled && errors.Is(err, context.DeadlineExceeded)
	if IsFatal(err) || !hungUp(err) && !silent {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*d.cluster.DialTimeout)
	defer cancel()
	for _, address := range d.cluster.Brokers {
		if found := d.diagnoseListener(ctx, address); found != nil {
			return found
		}
	}
	return err
}

// diagnoseListener returns what is wrong with talking to address, nil if that cannot be told.
func (d *Dialer) diagnoseListener(ctx context.Context, address string) error {
	switch {
	case d.cluster.TLS.Enabled && speaksKafka(ctx, address):
		return &FatalError{fmt.Errorf("the listener at %s speaks plain text, and this client TLS", address), "disable TLS, or use the address of a TLS listener"}
	case !d.cluster.TLS.Enabled && d.sasl == nil && wantsLogin(ctx, address):
		return &FatalError{fmt.Errorf("the listener at %s asks for a login", address), "set SASL mechanism, username and password, or use the address of a listener without SASL"}
	}
	if d.sasl != nil {
		if found := d.diagnoseLogin(ctx, address); found != nil {
			return found
		}
	}
	if !d.cluster.TLS.Enabled && speaksTLS(ctx, address) {
		return wantsTLS(address)
	}
	return nil
}

// diagnoseLogin logs in once more and returns an error if the broker hangs up in answer to the credentials.
func (d *Dialer) diagnoseLogin(ctx context.Context, address string) error {
	conn, err := d.dial(ctx, "tcp", address)
	if err != nil {
		return nil
	}
	defer conn.Close() // nothing is lost with it
	if err := limit(ctx, conn); err != nil {
		return nil
	}
	err = d.logIn(ctx, conn, address, 0)
	var code kafkago.Error
	switch {
	case hungUp(err):
		return d.explain(kafkago.SASLAuthenticationFailed)
	case IsFatal(err):
		return err
	case errors.As(err, &code):
		return d.explain(err)
	}
	return nil
}

// logIn logs in over a connection that is open, as kafka-go does when it has opened one, with that version of the last request.
func (d *Dialer) logIn(ctx context.Context, conn net.Conn, address string, version int16) error {
	answer, err := protocol.RoundTrip(conn, 1, 1, d.cluster.ClientID, &saslhandshake.Request{Mechanism: d.sasl.Name()})
	if err != nil {
		return fmt.Errorf("asking for a login: %v", err) //nolint:errorlint // a broker that hangs up here has not seen the credentials
	}
	if code := answer.(*saslhandshake.Response).ErrorCode; code != 0 {
		return kafkago.Error(code)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	number, _ := strconv.Atoi(port) // only for mechanisms that want to know
	state, message, err := d.sasl.Start(sasl.WithMetadata(ctx, &sasl.Metadata{Host: host, Port: number}))
	for done := false; err == nil && !done; {
		answer, err = protocol.RoundTrip(conn, version, 2, d.cluster.ClientID, &saslauthenticate.Request{AuthBytes: message})
		if err != nil {
			return err
		}
		got := answer.(*saslauthenticate.Response)
		if got.ErrorCode != 0 {
			return fmt.Errorf("%w: %s", kafkago.Error(got.ErrorCode), got.ErrorMessage)
		}
		done, message, err = state.Next(ctx, got.AuthBytes)
	}
	return err
}

// explain returns the [FatalError] of an answer to credentials.
func (d *Dialer) explain(err error) error {
	return Explain(err, d.cluster.SASL, func(kafkago.Error) string { return "" })
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
	return err == nil || isAlert(err)
}

// speaksKafka reports whether the listener answers a request in plain text.
func speaksKafka(ctx context.Context, address string) bool {
	conn, err := probe(ctx, address)
	if err != nil {
		return false
	}
	defer conn.Close() // nothing is lost with it
	_, err = protocol.RoundTrip(guard(conn), 0, 1, "", &apiversions.Request{})
	return err == nil
}

// wantsLogin reports whether the listener takes part in a SASL handshake, which one without a login refuses.
func wantsLogin(ctx context.Context, address string) bool {
	conn, err := probe(ctx, address)
	if err != nil {
		return false
	}
	defer conn.Close() // nothing is lost with it
	answer, err := protocol.RoundTrip(guard(conn), 1, 1, "", &saslhandshake.Request{Mechanism: "PLAIN"})
	if err != nil {
		return false
	}
	code := kafkago.Error(answer.(*saslhandshake.Response).ErrorCode)
	return code == 0 || code == kafkago.UnsupportedSASLMechanism
}

// hungUp reports whether the other side closed the connection without an answer.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}
