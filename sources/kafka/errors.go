package kafka

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/urlmill/urlmill/internal/kafkaconn"
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
	SinkHolds   bool   // the position is the sink's, and moving the group does not help
}

func (e *OffsetOutOfRangeError) Error() string {
	truncated := e.Offset < e.First
	why := "the log ends before it: the topic was created anew, or lost records in an unclean leader election"
	if truncated {
		why = fmt.Sprintf("retention has deleted %d offsets that were not read yet", e.First-e.Offset)
	}
	remedy := "accept the gap by moving the group on: " +
		resetCommand(e.Broker, e.Group, e.Lane, "--to-earliest") + " (--to-latest leaves out what is there, a new group name reads it all)"
	switch {
	case truncated && e.SinkHolds:
		remedy = fmt.Sprintf("accept the gap: with on_truncated: skip the lane goes on at offset %d", e.First)
	case truncated:
		remedy += fmt.Sprintf("; or with on_truncated: skip, which goes on at offset %d", e.First)
	case e.SinkHolds:
		remedy = "give the new topic an output of its own (another path): this one continues the old topic"
	}
	return fmt.Sprintf("%s: offset %d is out of range: the log has %d up to %d; %s. Nothing was skipped. Either restore the records, or %s",
		e.Lane, e.Offset, e.First, e.Next, why, remedy)
}

// resetCommand is how an operator moves the group in one partition.
func resetCommand(broker, group string, lane pipeline.LaneID, to string) string {
	return fmt.Sprintf("kafka-consumer-groups.sh --bootstrap-server %s --group %s --topic %s:%d --reset-offsets %s --execute",
		broker, group, lane.Stream, lane.Partition, to)
}

// AheadError is the error of a lane whose group has committed more than its sink holds.
type AheadError struct {
	Lane      pipeline.LaneID
	Group     string
	Broker    string
	Position  int64 // of the sink
	Committed int64 // by the group
}

func (e *AheadError) Error() string {
	return fmt.Sprintf("%s: the group %q has committed offset %d, but the output ends at offset %d: the %d offsets between were read for another "+
		"output, or skipped by hand, or this output has lost them. Nothing was read. Either read them into this output, with on_ahead: rewind or %s; "+
		"or leave them out of it, with on_ahead: skip",
		e.Lane, e.Group, e.Committed, e.Position, e.Committed-e.Position,
		resetCommand(e.Broker, e.Group, e.Lane, fmt.Sprint("--to-offset ", e.Position)))
}

// RecreatedError is the error of a lane whose topic is another one than that whose offsets are known.
type RecreatedError struct {
	Lane     pipeline.LaneID
	Was, Now string // ID of the cluster, and of the topic where brokers tell it
	Position int64  // of the sink, [pipeline.Unknown] if it holds none
}

func (e *RecreatedError) Error() string {
	read := "has been read so far"
	if e.Position >= 0 {
		read = fmt.Sprintf("the output has read up to offset %d", e.Position)
	}
	return fmt.Sprintf("%s: this is not the topic that %s: that is %s, and this is %s (cluster ID/topic ID): it was deleted and made anew, or the "+
		"brokers are those of another cluster. Its offsets begin again, and nothing of it was read. Either read it into this output as well, from its "+
		"first record on, with on_recreated: restart; or give it an output and a group of its own; or give the brokers of the old one",
		e.Lane, read, e.Was, e.Now)
}

// CorruptError is the error of a lane whose next records cannot be read.
type CorruptError struct {
	Lane   pipeline.LaneID
	Group  string
	Broker string
	Offset int64 // of the first record that cannot be read
	Next   int64 // behind what cannot be read, -1 if that cannot be told
	Err    error
}

func (e *CorruptError) Error() string {
	remedy := "find the offset after the batch with kafka-dump-log.sh and move the group there: " +
		resetCommand(e.Broker, e.Group, e.Lane, "--to-offset OFFSET") + " (where the output holds the position: with on_ahead: skip)"
	if e.Next >= 0 {
		remedy = fmt.Sprintf("set on_corrupt: dead_letter, which keeps its bytes as a row with an error and goes on at offset %d", e.Next)
	}
	return fmt.Sprintf("%s: the records from offset %d on cannot be read: %v. Nothing was skipped. "+
		"Check the broker's disk and network; to leave the batch out, %s", e.Lane, e.Offset, e.Err, remedy)
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

// hopeless returns err as a [fatalError] if it is one, or has become one by its duration, and err otherwise. since is when the
// partition was first missing. It belongs to the caller's loop of tries: hopeless sets it, and clears it at any other error.
func (s *session) hopeless(err error, since *time.Time) error {
	err = s.classify(err)
	if isFatal(err) || !isMissing(err) {
		*since = time.Time{}
		return err
	}
	if since.IsZero() {
		*since = time.Now()
	}
	limit := s.opts.TopicTimeout
	if limit < 0 || time.Since(*since) <= limit {
		return err
	}
	return &fatalError{err, fmt.Sprintf("the partition is gone since %v: was the topic deleted? "+
		"Create it again, or take it out of the topics; topic_timeout says how long to wait for it", time.Since(*since).Round(time.Second))}
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
	return kafkaconn.Advice(err)
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

// hungUp reports whether the other side closed the connection without an answer.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}

// isMissing reports whether err is that of a topic or partition that the brokers do not know.
func isMissing(err error) bool {
	return errors.Is(err, kafkago.UnknownTopicOrPartition) || errors.Is(err, kafkago.UnknownTopicID) || errors.Is(err, kafkago.InconsistentTopicID) ||
		errors.Is(err, protocol.ErrNoTopic) || errors.Is(err, protocol.ErrNoPartition)
}

// isFenced reports whether the brokers refused a request because its generation of the group is over.
func isFenced(err error) bool {
	return errors.Is(err, kafkago.IllegalGeneration) || errors.Is(err, kafkago.UnknownMemberId) || errors.Is(err, kafkago.FencedInstanceID)
}
