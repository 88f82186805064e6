package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// errStopped says that a drain or the end of the context came while something was waited for.
var errStopped = errors.New("stopped")

// layout is how many partitions each topic has.
type layout map[string]int

// grownTo reports whether a topic has more partitions in now.
func (l layout) grownTo(now layout) bool {
	for topic, n := range now {
		if n > l[topic] {
			return true
		}
	}
	return false
}

// awaitTopics returns the layout of the topics when a broker is there and every topic exists. It waits for brokers as long as
// ConnectTimeout says and for topics as long as TopicTimeout says, returns at once an error that waiting does
// not cure, and returns errStopped if stop was closed or ctx ended.
func (s *session) awaitTopics(ctx context.Context, stop <-chan struct{}) (layout, error) {
	began := time.Now()
	var topicsMissing time.Time // since when
	var pause backoff
	for {
		partitions, missing, err := s.describe(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, errStopped
		case isFatal(err):
			return nil, err
		case err != nil:
			if limit := s.opts.ConnectTimeout; limit > 0 && time.Since(began) > limit {
				return nil, fmt.Errorf("no broker of %s after %v: %w", s.brokers(), limit, err)
			}
			s.trouble.add(err)
			s.log.Warn("no Kafka broker yet; trying again", "brokers", s.opts.Brokers, "error", err)
		case len(missing) == 0:
			s.trouble.end()
			return partitions, nil
		default:
			if topicsMissing.IsZero() {
				topicsMissing = time.Now()
				s.log.Warn("waiting for topics to be created", "topics", missing, "timeout", s.opts.TopicTimeout)
			}
			if limit := s.opts.TopicTimeout; limit >= 0 && time.Since(topicsMissing) > limit {
				return nil, s.missingTopics(missing)
			}
			pause.reset() // a broker answers, so it may be asked often
		}
		if !pause.wait(ctx, stop) {
			return nil, errStopped
		}
	}
}

func (s *session) brokers() string { return strings.Join(s.opts.Brokers, ",") }

func (s *session) missingTopics(missing []string) error {
	commands := make([]string, len(missing))
	for i, topic := range missing {
		commands[i] = fmt.Sprintf("kafka-topics.sh --bootstrap-server %s --create --topic %s --partitions 4", s.opts.Brokers[0], topic)
	}
	return &fatalError{
		fmt.Errorf("%s %q does not exist on %s", plural(len(missing), "topic"), missing, s.brokers()),
		"check the spelling, or create it with: " + strings.Join(commands, "; ") + "; topic_timeout says how long to wait for it",
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// describe asks a broker for the topics. It uses connections of its own, for the transport's idea of the cluster
// is seconds old and keeps its first error to itself.
func (s *session) describe(ctx context.Context) (layout, []string, error) {
	transport := s.newTransport()
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, s.opts.DialTimeout+requestTimeout)
	defer cancel()
	client := &kafkago.Client{Addr: s.transportAddr(), Transport: transport}
	meta, err := client.Metadata(ctx, &kafkago.MetadataRequest{Topics: s.opts.Topics})
	if err != nil {
		return nil, nil, s.diagnose(ctx, s.classify(err))
	}
	partitions, missing := make(layout), []string(nil)
	for _, t := range meta.Topics {
		switch {
		case isMissing(t.Error) || errors.Is(t.Error, kafkago.LeaderNotAvailable): // no leader: it is being created
			missing = append(missing, t.Name)
		case t.Error != nil:
			return nil, nil, s.classify(fmt.Errorf("topic %q: %w", t.Name, t.Error))
		default:
			partitions[t.Name] = len(t.Partitions)
		}
	}
	return partitions, missing, nil
}
