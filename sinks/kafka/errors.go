package kafka

import (
	"errors"
	"fmt"
	"io"
	"strings"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/urlmill/urlmill/internal/kafkaconn"
)

// errNoMore ends a [kafkago.RecordReader].
var errNoMore = io.EOF

// fatalError is an error that trying again does not cure, with what does.
type fatalError struct {
	topic  string
	err    error
	advice string
}

func (e *fatalError) Error() string {
	return fmt.Sprintf("kafka: writing to topic %q: %v: %s", e.topic, e.err, e.advice)
}
func (e *fatalError) Unwrap() error { return e.err }

func isFatal(err error) bool {
	var fatal *fatalError
	return errors.As(err, &fatal)
}

// explain returns err as a [fatalError] if it is one, and otherwise as it is: worth another try.
func (p *producer) explain(err error) error {
	if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "kafka.(*Client).") {
		err = inner
	}
	advice := kafkaconn.Advice(err)
	var code kafkago.Error
	if errors.As(err, &code) {
		advice = p.advice(code)
	}
	if advice == "" || isFatal(err) {
		return err
	}
	return &fatalError{p.target.Topic, err, advice}
}

func (p *producer) advice(code kafkago.Error) string {
	t := p.target
	switch code {
	case kafkago.TopicAuthorizationFailed:
		return "give the user the operations Write and Describe on the topic"
	case kafkago.ClusterAuthorizationFailed:
		return "give the user access to the cluster"
	case kafkago.SASLAuthenticationFailed:
		return fmt.Sprintf("the brokers refused user %q with %s: check SASL username, password and mechanism", t.SASL.Username, t.SASL.Mechanism)
	case kafkago.UnsupportedSASLMechanism:
		return fmt.Sprintf("the listener does not offer %s: choose a SASL mechanism that it has enabled (sasl.enabled.mechanisms)", t.SASL.Mechanism)
	case kafkago.IllegalSASLState:
		return "the listener does not ask for a login: leave SASL out, or use the address of a listener with SASL"
	case kafkago.InvalidTopic:
		return "the brokers do not accept the name"
	case kafkago.MessageSizeTooLarge, kafkago.RecordListTooLarge:
		return fmt.Sprintf("the topic takes less than max_message_bytes, %d: raise max.message.bytes of the topic, or lower max_message_bytes", t.MaxMessageBytes)
	case kafkago.UnsupportedCompressionType:
		return fmt.Sprintf("the brokers do not know compression %s: choose another", t.Compression)
	case kafkago.UnsupportedVersion, kafkago.UnsupportedForMessageFormat:
		return "the brokers are older than Apache Kafka 0.11, or newer than this client speaks"
	case kafkago.PolicyViolation:
		return "a policy of the brokers forbids it"
	}
	return ""
}

// tooLarge is the error of a record of n bytes.
func (p *producer) tooLarge(n int) error {
	return &fatalError{p.target.Topic, fmt.Errorf("a record of %d bytes", n), fmt.Sprintf(
		"it is larger than max_message_bytes, %d: raise that and max.message.bytes of the topic, or lower max_record_bytes of the source, or leave columns out",
		p.target.MaxMessageBytes)}
}

// missing is the error of a topic that nobody creates.
func (p *producer) missing() error {
	return &fatalError{p.target.Topic, fmt.Errorf("it does not exist on %s", strings.Join(p.target.Brokers, ",")), fmt.Sprintf(
		"check the spelling, or create it with: kafka-topics.sh --bootstrap-server %s --create --topic %s --partitions 4; start_timeout says how long to wait for it",
		p.target.Brokers[0], p.target.Topic)}
}

// isMissing reports whether err is that of a topic or partition that the brokers do not know.
func isMissing(err error) bool {
	return errors.Is(err, kafkago.UnknownTopicOrPartition) || errors.Is(err, protocol.ErrNoTopic) || errors.Is(err, protocol.ErrNoPartition)
}
