package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/kafka/internal/recordbatch"
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
		"output, or skipped by hand, or this output has lost them. Nothing was read. Either read them into this output, with on_group_ahead: rewind or %s; "+
		"or leave them out of it, with on_group_ahead: skip",
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
		resetCommand(e.Broker, e.Group, e.Lane, "--to-offset OFFSET") + " (where the output holds the position: with on_group_ahead: skip)"
	if e.Next >= 0 {
		remedy = fmt.Sprintf("set on_corrupt: dead_letter, which keeps its bytes as a row with an error and goes on at offset %d", e.Next)
	}
	cure := "Check the broker's disk and network"
	if errors.Is(e.Err, recordbatch.ErrTooLarge) {
		cure = "Raise fetch_memory, and with it memory_limit"
	}
	return fmt.Sprintf("%s: the records from offset %d on cannot be read: %v. Nothing was skipped. "+
		"%s; to leave the batch out, %s", e.Lane, e.Offset, e.Err, cure, remedy)
}

func (e *CorruptError) Unwrap() error { return e.Err }

// explain returns err as a [kafkaconn.FatalError] if trying again does not cure it, and otherwise as it is. A partition that has
// been missing for longer than TopicTimeout is an error that it does not cure.
func (s *session) explain(err error, missing time.Duration) error {
	err = kafkaconn.Explain(err, s.opts.SASL, s.codeAdvice)
	limit := s.opts.TopicTimeout
	if kafkaconn.IsFatal(err) || limit == 0 || missing <= limit {
		return err
	}
	return &kafkaconn.FatalError{Err: err, Advice: fmt.Sprintf("the partition has been missing for %v: was the topic deleted? "+
		"Create it again, or take it out of the topics; topic_timeout says how long to wait for it", missing.Round(time.Second))}
}

// retry repeats try until it succeeds or fails for good, ctx ends, or stop is closed ([kafkaconn.ErrStopped]). It logs what,
// with args, when a try but the first has failed.
func (s *session) retry(ctx context.Context, stop <-chan struct{}, try func(context.Context) error, what string, args ...any) error {
	return kafkaconn.Retry{
		Explain: s.explain,
		Warn:    func(err error) { s.log.With(args...).Warn(what+"; trying again", "error", err) },
		Stop:    stop,
	}.Do(ctx, try)
}

// codeAdvice returns what to do about an error of the protocol that has to do with topics and groups, "" for others.
func (s *session) codeAdvice(code kafkago.Error) string {
	o := s.opts
	switch code {
	case kafkago.TopicAuthorizationFailed:
		return fmt.Sprintf("give the user the operations Read and Describe on the topics %q", o.Topics)
	case kafkago.GroupAuthorizationFailed:
		return fmt.Sprintf("give the user the operation Read on the group %q", o.Group)
	case kafkago.InvalidGroupId:
		return fmt.Sprintf("the brokers do not accept %q as a group name", o.Group)
	case kafkago.InvalidTopic:
		return fmt.Sprintf("the brokers do not accept one of the topic names %q", o.Topics)
	case kafkago.FencedInstanceID:
		return fmt.Sprintf("another process has joined the group with instance_id %q: give each process its own", o.InstanceID)
	case kafkago.InvalidSessionTimeout:
		return fmt.Sprintf("the brokers do not accept a session timeout of %v: choose one between their group.min.session.timeout.ms and group.max.session.timeout.ms", o.SessionTimeout)
	case kafkago.InconsistentGroupProtocol:
		return fmt.Sprintf("the group %q has members of another kind, which assign partitions neither by \"range\" nor by \"roundrobin\" (a client with the new consumer protocol or cooperative-sticky?): choose another group name", o.Group)
	}
	return ""
}

// isFenced reports whether the brokers refused a request because its generation of the group is over.
func isFenced(err error) bool {
	return errors.Is(err, kafkago.IllegalGeneration) || errors.Is(err, kafkago.UnknownMemberId) || errors.Is(err, kafkago.FencedInstanceID)
}
