package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/urlmill/urlmill/pipeline"
)

// OffsetOutOfRangeError is the error of a lane whose next offset is not in the partition's log any more, or not
// yet. The lane stops rather than leave out or repeat records silently.
type OffsetOutOfRangeError struct {
	Lane        pipeline.LaneID
	Group       string
	Broker      string // to name in the remedy
	Offset      int64  // wanted
	First, Next int64  // what the log has; -1 if that could not be learned
}

func (e *OffsetOutOfRangeError) Error() string {
	why := "the log ends before it: the topic was created anew, or lost records in an unclean leader election"
	if e.Offset < e.First {
		why = fmt.Sprintf("retention has deleted %d offsets that were not read yet", e.First-e.Offset)
	}
	return fmt.Sprintf("%s: offset %d is out of range: the log has %d up to %d; %s. "+
		"Nothing was skipped. Either restore the records, or accept the gap by moving the group on: "+
		"kafka-consumer-groups.sh --bootstrap-server %s --group %s --topic %s:%d --reset-offsets --to-earliest --execute "+
		"(--to-latest leaves out what is there, a new group name reads it all)",
		e.Lane, e.Offset, e.First, e.Next, why, e.Broker, e.Group, e.Lane.Stream, e.Lane.Partition)
}

// CorruptError is the error of a lane whose next records cannot be read.
type CorruptError struct {
	Lane   pipeline.LaneID
	Group  string
	Broker string
	Offset int64 // of the first record that cannot be read
	Err    error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: the records from offset %d on cannot be read: %v. Nothing was skipped. "+
		"Check the broker's disk and network; to leave the batch out, find the offset after it with kafka-dump-log.sh and move the group there: "+
		"kafka-consumer-groups.sh --bootstrap-server %s --group %s --topic %s:%d --reset-offsets --to-offset OFFSET --execute",
		e.Lane, e.Offset, e.Err, e.Broker, e.Group, e.Lane.Stream, e.Lane.Partition)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// fatalError is an error that trying again does not cure, with what does.
type fatalError struct {
	err    error
	advice string
}

func (e *fatalError) Error() string { return e.err.Error() + ": " + e.advice }
func (e *fatalError) Unwrap() error { return e.err }

// classify returns err as a [fatalError] if it is one, and otherwise as it is: worth another try.
func (s *session) classify(err error) error {
	if err == nil {
		return nil
	}
	// kafka-go begins with the name of its method, which tells a user nothing.
	if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "kafka.(*Client).") {
		err = inner
	}
	var fatal *fatalError
	if errors.As(err, &fatal) {
		return err
	}
	if advice := s.advice(err); advice != "" {
		return &fatalError{err, advice}
	}
	return err
}

func isFatal(err error) bool {
	var fatal *fatalError
	return errors.As(err, &fatal)
}

// advice says what to do about an error that trying again does not cure, and nothing about others.
func (s *session) advice(err error) string {
	var code kafkago.Error
	if errors.As(err, &code) {
		return s.codeAdvice(code)
	}
	var login *loginError
	if errors.As(err, &login) {
		return "check SASL mechanism, username and password"
	}
	return tlsAdvice(err)
}

func (s *session) codeAdvice(code kafkago.Error) string {
	o := s.opts
	switch code {
	case kafkago.SASLAuthenticationFailed:
		return fmt.Sprintf("the brokers refused user %q with %s: check SASL username, password and mechanism", o.SASL.Username, o.SASL.Mechanism)
	case kafkago.UnsupportedSASLMechanism:
		return fmt.Sprintf("the listener does not offer %s: choose a SASL mechanism that it has enabled (sasl.enabled.mechanisms)", o.SASL.Mechanism)
	case kafkago.IllegalSASLState:
		return "the listener does not ask for a login: leave SASL out, or use the address of a listener with SASL"
	case kafkago.TopicAuthorizationFailed:
		return fmt.Sprintf("give the user the operations Read and Describe on the topics %q", o.Topics)
	case kafkago.GroupAuthorizationFailed:
		return fmt.Sprintf("give the user the operation Read on the group %q", o.Group)
	case kafkago.ClusterAuthorizationFailed:
		return "give the user access to the cluster"
	case kafkago.InvalidGroupId:
		return fmt.Sprintf("the brokers do not accept %q as a group name", o.Group)
	case kafkago.InvalidTopic:
		return fmt.Sprintf("the brokers do not accept one of the topic names %q", o.Topics)
	case kafkago.InvalidSessionTimeout:
		return fmt.Sprintf("the brokers do not accept a session timeout of %v: choose one between their group.min.session.timeout.ms and group.max.session.timeout.ms", o.SessionTimeout)
	case kafkago.InconsistentGroupProtocol:
		return fmt.Sprintf("the group %q has members of another kind, which assign partitions neither by \"range\" nor by \"roundrobin\" (a client with the new consumer protocol or cooperative-sticky?): choose another group name", o.Group)
	case kafkago.UnsupportedVersion:
		return "the brokers are older than Apache Kafka 0.11, or newer than this client speaks"
	}
	return ""
}

func tlsAdvice(err error) string {
	var record tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &record):
		return "the listener does not speak TLS: disable TLS, or use the address of a TLS listener"
	case isAlert(err):
		return "the broker refused the TLS handshake: it may want a client certificate (CertFile and KeyFile), or another version of TLS"
	case errors.As(err, &authority):
		return "the broker's certificate is signed by an authority that is not trusted: set CAFile to that authority's certificate"
	case errors.As(err, &name):
		return "the broker's certificate is for another name: use the name that it is for as the address, or set ServerName to it"
	case errors.As(err, &invalid):
		return "the broker's certificate is not valid"
	}
	return ""
}

// isAlert tells whether err is a TLS alert of the other side.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error" // as crypto/tls marks them
}

// hungUp tells whether the other side closed the connection without a word.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}

// isMissing tells whether err is that of a topic or partition that the brokers do not know.
func isMissing(err error) bool {
	return errors.Is(err, kafkago.UnknownTopicOrPartition) || errors.Is(err, protocol.ErrNoTopic) || errors.Is(err, protocol.ErrNoPartition)
}

// isFenced tells whether the brokers refused a request because its generation of the group is over.
func isFenced(err error) bool {
	return errors.Is(err, kafkago.IllegalGeneration) || errors.Is(err, kafkago.UnknownMemberId) || errors.Is(err, kafkago.FencedInstanceID)
}
