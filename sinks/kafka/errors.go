package kafka

import (
	"fmt"
	"io"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/internal/kafkaconn"
)

// errNoMore ends a [kafkago.RecordReader].
var errNoMore = io.EOF

// fatal returns the error of writing to a topic that trying again does not cure.
func fatal(topic string, err error, advice string) error {
	return named(topic, &kafkaconn.FatalError{Err: err, Advice: advice})
}

// named returns err with the name of the topic if it is fatal, and otherwise as it is: logs of further tries have the name.
func named(topic string, err error) error {
	if !kafkaconn.IsFatal(err) {
		return err
	}
	return fmt.Errorf("kafka: writing to topic %q: %w", topic, err)
}

// explain returns err as a [kafkaconn.FatalError] if trying again does not cure it, and otherwise as it is. A topic that has
// been missing for longer than StartTimeout is an error that it does not cure.
func (p *producer) explain(err error, missing time.Duration) error {
	if missing > p.target.StartTimeout {
		return p.missing()
	}
	return kafkaconn.Explain(err, p.target.SASL, p.advice)
}

// advice returns what to do about an error of the protocol that has to do with writing, "" for others.
func (p *producer) advice(code kafkago.Error) string {
	t := p.target
	switch code {
	case kafkago.TopicAuthorizationFailed:
		return "give the user the operations Write and Describe on the topic"
	case kafkago.InvalidTopic:
		return "the brokers do not accept the name"
	case kafkago.MessageSizeTooLarge, kafkago.RecordListTooLarge:
		return fmt.Sprintf("the topic takes less than max_message_bytes, %d: raise max.message.bytes of the topic, or lower max_message_bytes", t.MaxMessageBytes)
	case kafkago.UnsupportedCompressionType:
		return fmt.Sprintf("the brokers do not know compression %s: choose another", t.Compression)
	case kafkago.PolicyViolation:
		return "a policy of the brokers forbids it"
	}
	return ""
}

// tooLarge is the error of a record of n bytes.
func (p *producer) tooLarge(n int) error {
	return fatal(p.target.Topic, fmt.Errorf("a record of %d bytes", n), fmt.Sprintf(
		"it is larger than max_message_bytes, %d: raise that and max.message.bytes of the topic, or lower max_record_bytes of the source, or leave columns out",
		p.target.MaxMessageBytes))
}

// missing is the error of a topic that was waited for and is not there.
func (p *producer) missing() error {
	what := fmt.Errorf("it does not exist on %s", strings.Join(p.target.Brokers, ","))
	return kafkaconn.NoTopics(what, p.target.Brokers, "start_timeout", p.target.Topic)
}
