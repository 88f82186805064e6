package kafkaconn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
)

// Names of the SASL mechanisms.
const (
	MechanismPlain       = "plain"
	MechanismScramSHA256 = "scram-sha-256"
	MechanismScramSHA512 = "scram-sha-512"
	MechanismOAuthBearer = "oauthbearer"
	MechanismAWS         = "aws-msk-iam"
)

// TLS says how connections are encrypted.
type TLS struct {
	Enabled bool
	// CAFile is a PEM file of the authorities to trust instead of the system's.
	CAFile string
	// CertFile and KeyFile are PEM files of this client's own certificate, for brokers that ask for one.
	CertFile, KeyFile string
	// ServerName is the name to expect in the brokers' certificates instead of their host names.
	ServerName string
	// InsecureSkipVerify accepts any certificate: anybody in between can read and change everything.
	InsecureSkipVerify bool
}

// SASL says how to log in. No Mechanism means not to.
type SASL struct {
	Mechanism string // one of the constants above
	// Username and Password are for plain and scram.
	Username string
	Password config.Secret
	OAuth    *OAuth // for oauthbearer
	// AWSRegion and AWSProfile are for aws-msk-iam; where they are empty, the environment says them.
	AWSRegion, AWSProfile string
}

// Config reads the files of t. It returns nil where TLS is not enabled. The error has every problem, joined, as of the
// section tls.
func (t TLS) Config() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.InsecureSkipVerify, //nolint:gosec // asked for by name
	}
	var p pipeline.Problems
	p.Join(t.Validate())
	if text := readPEM(&p, "tls.ca_file", t.CAFile); text != nil {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			p.Value("tls.ca_file", t.CAFile, "holds no certificate in PEM form")
		}
	}
	cert, key := readPEM(&p, "tls.cert_file", t.CertFile), readPEM(&p, "tls.key_file", t.KeyFile)
	if cert != nil && key != nil {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			p.Value("tls.cert_file", t.CertFile, "cannot be used: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, p.Err()
}

// readPEM reads the file that the option at key names. It returns nil where none is named, and where it cannot be read, which
// is a problem.
func readPEM(p *pipeline.Problems, key, file string) []byte {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			err = at.Err // the path is said already
		}
		p.Value(key, file, "cannot be read: %w", err)
		return nil
	}
	return text
}

// NewMechanism returns nil where no login is asked for.
func (s SASL) NewMechanism() (sasl.Mechanism, error) {
	var m sasl.Mechanism
	var err error
	switch s.Mechanism {
	case "":
		return nil, nil
	case MechanismPlain:
		m = plain.Mechanism{Username: s.Username, Password: s.Password.Reveal()}
	case MechanismScramSHA256:
		m, err = scram.Mechanism(scram.SHA256, s.Username, s.Password.Reveal())
	case MechanismScramSHA512:
		m, err = scram.Mechanism(scram.SHA512, s.Username, s.Password.Reveal())
	case MechanismOAuthBearer:
		return bearer{newTokens(s.OAuth.fetcher()), s.OAuth.Extensions, s.refusedAdvice()}, nil
	case MechanismAWS:
		return bearer{newTokens(awsFetcher(s)), nil, s.refusedAdvice()}, nil
	default:
		return nil, s.unknown()
	}
	if err != nil {
		return nil, pipeline.FieldErrorf("sasl", "%w", err) // the library's errors do not quote the password
	}
	return loginMechanism{m}, nil
}

// LoginError is an error of the exchange of credentials, as opposed to one of the connection.
type LoginError struct{ err error }

func (e *LoginError) Error() string { return "login: " + e.err.Error() }
func (e *LoginError) Unwrap() error { return e.err }

// loginMechanism marks the errors of a mechanism as a [LoginError].
type loginMechanism struct{ sasl.Mechanism }

func (m loginMechanism) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	state, first, err := m.Mechanism.Start(ctx)
	if err != nil {
		return nil, nil, &LoginError{err}
	}
	return loginState{state}, first, nil
}

type loginState struct{ sasl.StateMachine }

func (s loginState) Next(ctx context.Context, challenge []byte) (bool, []byte, error) {
	done, answer, err := s.StateMachine.Next(ctx, challenge)
	if err != nil {
		return false, nil, &LoginError{err}
	}
	return done, answer, nil
}
