package kafkaconn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// Describe asks a broker how many partitions each of the topics has, and which of them are missing. It is for the start, where
// no setting is known to be right: errors are explained as by [Explain], and a listener that hangs up is asked why. It uses
// connections of its own, for a transport's idea of the cluster is seconds old and keeps its first error to itself.
func (d *Dialer) Describe(ctx context.Context, own func(kafkago.Error) string, topics ...string) (partitions map[string]int, missing []string, err error) {
	transport := d.NewTransport(topics...)
	defer transport.CloseIdleConnections()
	// More than a request takes, so that diagnose has time left after a dial that nothing has answered.
	ctx, cancel := context.WithTimeout(ctx, d.cluster.DialTimeout+RequestTimeout)
	defer cancel()
	client := &kafkago.Client{Addr: d.Addr(), Transport: transport}
	meta, err := client.Metadata(ctx, &kafkago.MetadataRequest{Topics: topics})
	if err != nil {
		return nil, nil, d.diagnose(ctx, Explain(err, d.cluster.SASL, own))
	}
	partitions = make(map[string]int)
	for _, t := range meta.Topics {
		switch {
		case IsMissing(t.Error) || errors.Is(t.Error, kafkago.LeaderNotAvailable): // no leader: it is being created
			missing = append(missing, t.Name)
		case t.Error != nil:
			err = t.Error
			if len(topics) > 1 { // which one is clear otherwise, and the caller may have said it
				err = fmt.Errorf("topic %q: %w", t.Name, err)
			}
			return nil, nil, Explain(err, d.cluster.SASL, own)
		default:
			partitions[t.Name] = len(t.Partitions)
		}
	}
	return partitions, missing, nil
}

// IsMissing reports whether err is that of a topic or partition that the brokers, or the transport's idea of them, do not
// know. One that was deleted and made anew has another ID, and is missing by the old one.
func IsMissing(err error) bool {
	return errors.Is(err, kafkago.UnknownTopicOrPartition) || errors.Is(err, kafkago.UnknownTopicID) || errors.Is(err, kafkago.InconsistentTopicID) ||
		errors.Is(err, protocol.ErrNoTopic) || errors.Is(err, protocol.ErrNoPartition)
}

// NoTopics returns the error, what, of topics that were waited for and are not there. option is the key that says how long.
func NoTopics(what error, brokers []string, option string, topics ...string) error {
	commands := make([]string, len(topics))
	for i, topic := range topics {
		commands[i] = fmt.Sprintf("kafka-topics.sh --bootstrap-server %s --create --topic %s --partitions 4", brokers[0], topic)
	}
	return &FatalError{what, "check the spelling, or create it with: " + strings.Join(commands, "; ") + "; " + option + " says how long to wait for it"}
}

// NoBroker returns the error of brokers that were waited for and cannot be reached; err is how that failed last.
func NoBroker(brokers []string, after time.Duration, err error) error {
	return fmt.Errorf("no broker of %s after %v: %w", strings.Join(brokers, ","), after, err)
}
