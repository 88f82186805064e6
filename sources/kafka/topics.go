package kafka

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urlmill/urlmill/internal/kafkaconn"
)

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
// not cure, and returns kafkaconn.ErrStopped if stop was closed or ctx ended.
func (s *session) awaitTopics(ctx context.Context, stop <-chan struct{}) (layout, error) {
	began := time.Now()
	var topicsMissing time.Time // since when
	var pause kafkaconn.Backoff
	for {
		partitions, missing, err := s.describe(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, kafkaconn.ErrStopped
		case kafkaconn.IsFatal(err):
			return nil, err
		case err != nil:
			if limit := s.opts.ConnectTimeout; limit > 0 && time.Since(began) > limit {
				return nil, kafkaconn.NoBroker(s.opts.Brokers, limit, err)
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
			if limit := s.opts.TopicTimeout; limit > 0 && time.Since(topicsMissing) > limit {
				return nil, s.missingTopics(missing)
			}
			pause.Reset() // a broker answers, so it may be asked often
		}
		if !pause.Wait(ctx, stop) {
			return nil, kafkaconn.ErrStopped
		}
	}
}

func (s *session) missingTopics(missing []string) error {
	noun := "topic"
	if len(missing) > 1 {
		noun = "topics"
	}
	what := fmt.Errorf("%s %q does not exist on %s", noun, missing, strings.Join(s.opts.Brokers, ","))
	return kafkaconn.NoTopics(what, s.opts.Brokers, "topic_timeout", missing...)
}

// describe asks a broker for the topics.
func (s *session) describe(ctx context.Context) (layout, []string, error) {
	return s.dialer.Describe(ctx, s.codeAdvice, s.opts.Topics...)
}
