package kafkaconn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	kafkago "github.com/segmentio/kafka-go"
)

// FatalError is an error that trying again does not cure, with what does.
type FatalError struct {
	Err    error
	Advice string
}

func (e *FatalError) Error() string { return e.Err.Error() + ": " + e.Advice }

// Unwrap returns the error without the advice.
func (e *FatalError) Unwrap() error { return e.Err }

// shownError is an error with a text of its own.
type shownError struct {
	error
	text string
}

func (e *shownError) Error() string { return e.text }
func (e *shownError) Unwrap() error { return e.error }

// IsFatal reports whether err is, or wraps, a [FatalError].
func IsFatal(err error) bool {
	var fatal *FatalError
	return errors.As(err, &fatal)
}

// Explain returns err as a [FatalError] if it is one that trying again does not cure, and otherwise as it is. login is what the
// brokers were given. own returns the caller's advice for an error of the protocol, "" for none; it goes before the advice
// that stands here.
func Explain(err error, login SASL, own func(kafkago.Error) string) error {
	// kafka-go begins with the name of its method, which tells a user nothing.
	if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "kafka.(*Client).") {
		err = inner
	}
	if err == nil || IsFatal(err) {
		return err
	}
	advice := connectionAdvice(err)
	var code kafkago.Error
	if errors.As(err, &code) {
		if advice = own(code); advice == "" {
			advice = login.codeAdvice(code)
		}
	}
	if advice == "" {
		return err
	}
	if code == kafkago.SASLAuthenticationFailed && login.refusedAdvice() != "" { // some brokers say what they refuse
		err = &shownError{err, clip(withoutTokens(err.Error()))}
	}
	return &FatalError{err, advice}
}

// codeAdvice returns what to do about an error of the protocol, whatever was asked for.
func (s SASL) codeAdvice(code kafkago.Error) string {
	switch code {
	case kafkago.SASLAuthenticationFailed:
		if advice := s.refusedAdvice(); advice != "" {
			return advice
		}
		return fmt.Sprintf("the brokers refused user %q with %s: check SASL username, password and mechanism", s.Username, s.Mechanism)
	case kafkago.UnsupportedSASLMechanism:
		return fmt.Sprintf("the listener does not offer %s: choose a SASL mechanism that it has enabled (sasl.enabled.mechanisms)", s.Mechanism)
	case kafkago.IllegalSASLState:
		return "the listener does not ask for a login: leave SASL out, or use the address of a listener with SASL"
	case kafkago.ClusterAuthorizationFailed:
		return "give the user access to the cluster"
	case kafkago.UnsupportedVersion, kafkago.UnsupportedForMessageFormat:
		return "the brokers are older than Apache Kafka 0.11, or newer than this client speaks"
	}
	return ""
}

// refusedAdvice returns what to do about a token that the brokers refuse, "" for other mechanisms.
func (s SASL) refusedAdvice() string {
	switch s.Mechanism {
	case MechanismOAuthBearer:
		return "check that the token is meant for these brokers (its issuer, audience and scope), that it has not ended, and that the clocks of " +
			"the brokers, of the identity provider and of this machine agree"
	case MechanismAWS:
		return "check that the role or user of AWS may kafka-cluster:Connect to this cluster, that aws_region is the brokers', and the clock of this machine"
	}
	return ""
}

// connectionAdvice returns what to do about an error of a login or of TLS, and nothing about others.
func connectionAdvice(err error) string {
	var login *LoginError
	var record tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &login):
		return "check SASL mechanism, username and password"
	case errors.As(err, &record):
		return "the listener does not speak TLS: disable TLS, or use the address of a TLS listener"
	case isAlert(err):
		return "the broker refused the TLS handshake: it may want a client certificate (cert_file and key_file), or another version of TLS"
	case errors.As(err, &authority):
		return "the broker's certificate is signed by an authority that is not trusted: set ca_file to that authority's certificate"
	case errors.As(err, &name):
		return "the broker's certificate is for another name: use the name that it is for as the address, or set server_name to it"
	case errors.As(err, &invalid):
		return "the broker's certificate is not valid"
	}
	return ""
}

// isAlert reports whether err is a TLS alert of the other side.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error" // as crypto/tls marks them
}
