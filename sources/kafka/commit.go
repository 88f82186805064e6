package kafka

import (
	"context"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/listoffsets"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
)

// commit records next as the offset that the group goes on at in the lane's partition. It is made with the
// identity that the member had in this generation, so that the brokers refuse it if the partition may belong to
// another member by now. Generation.CommitOffsets of kafka-go would do the same over a connection that ends
// with the generation; this one survives a broker that restarts in between.
//
// It tries until ctx ends, which it does when the lane is lost, unless the partition is gone. After a refusal every lane of
// the generation is lost, before it returns: the identity is the same for all. It may be called from any goroutine.
func (a *assignment) commit(ctx context.Context, next int64) error {
	return a.commitAll(ctx, []kafkago.OffsetCommit{{Partition: int(a.id.Partition), Offset: next}})
}

// commitAll is commit for several partitions of the topic, at once.
func (a *assignment) commitAll(ctx context.Context, offsets []kafkago.OffsetCommit) error {
	g, next := a.g, offsets[0].Offset
	if g.member.GroupID == "" {
		return nil // a generation of a [Sample], which leaves no trace
	}
	var fenced error
	err := g.session.retry(ctx, nil, func(ctx context.Context) error {
		err := g.session.commit(ctx, g.member, a.id.Stream, offsets)
		if isFenced(err) && ctx.Err() == nil {
			fenced, err = err, nil // no other try
		}
		return err
	}, "committing an offset failed", "lane", a.id.String(), "offset", next)
	switch {
	case fenced != nil:
		g.lose(fenced.Error())
		return fmt.Errorf("%s: committing offset %d: %w: %w", a.id, next, pipeline.ErrLaneLost, fenced)
	case kafkaconn.IsFatal(err):
		return fmt.Errorf("%s: committing offset %d: %w", a.id, next, err)
	}
	return err
}

// commit makes one try.
func (s *session) commit(ctx context.Context, member *kafkago.Generation, topic string, offsets []kafkago.OffsetCommit) error {
	if err := s.commits.enter(ctx); err != nil {
		return err
	}
	defer s.commits.leave()
	ctx, cancel := context.WithTimeout(ctx, kafkaconn.RequestTimeout)
	defer cancel()
	resp, err := s.client.OffsetCommit(ctx, &kafkago.OffsetCommitRequest{
		GroupID:      member.GroupID,
		GenerationID: int(member.ID),
		MemberID:     member.MemberID,
		InstanceID:   s.opts.InstanceID,
		Topics:       map[string][]kafkago.OffsetCommit{topic: offsets},
	})
	if err != nil {
		return err
	}
	if len(resp.Topics[topic]) < len(offsets) {
		return errNoAnswer
	}
	for _, p := range resp.Topics[topic] {
		if p.Error != nil {
			return p.Error
		}
	}
	return nil
}

// errNoAnswer says that an answer leaves out what was asked for.
var errNoAnswer = errors.New("the broker's answer leaves out the partition")

// heartbeat tells the group that this member is alive. Its error is [kafkago.RebalanceInProgress] while the group waits for members
// to join again.
func (s *session) heartbeat(ctx context.Context, member *kafkago.Generation) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.SessionTimeout)
	defer cancel()
	r := &heartbeatRequest{clientID: s.opts.ClientID, group: member.GroupID, instance: s.opts.InstanceID, member: member.MemberID, generation: member.ID}
	if _, err := s.transport.RoundTrip(ctx, s.client.Addr, r); err != nil {
		return err
	}
	if r.code != 0 {
		return r.code
	}
	return nil
}

// committed returns the offsets that the group has committed for partitions of a topic, -1 where none is. They come in one
// answer of the coordinator, so that a commit for several partitions is seen as a whole or not at all.
func (s *session) committed(ctx context.Context, topic string, partitions ...int) (map[int]int64, error) {
	if err := s.commits.enter(ctx); err != nil {
		return nil, err
	}
	defer s.commits.leave()
	ctx, cancel := context.WithTimeout(ctx, kafkaconn.RequestTimeout)
	defer cancel()
	resp, err := s.client.OffsetFetch(ctx, &kafkago.OffsetFetchRequest{
		GroupID: s.opts.Group,
		Topics:  map[string][]int{topic: partitions},
	})
	if err != nil {
		return nil, err
	}
	if resp.Error != nil {
		return nil, resp.Error
	}
	offsets := make(map[int]int64, len(partitions))
	for _, p := range resp.Topics[topic] {
		if p.Error != nil {
			return nil, p.Error
		}
		offsets[p.Partition] = p.CommittedOffset
	}
	if len(offsets) < len(partitions) {
		return nil, errNoAnswer
	}
	return offsets, nil
}

// lookUp asks for the offset that a start policy means now: that of the next record where none is so young.
func (s *session) lookUp(ctx context.Context, id pipeline.LaneID, from start, committed bool) (int64, error) {
	offset, err := s.listOffset(ctx, id, from.timestamp, committed)
	if err == nil && offset < 0 {
		return s.listOffset(ctx, id, latestTime, committed)
	}
	return offset, err
}

// listOffset returns the first offset of a partition whose record is not older than timestamp, in milliseconds
// since 1970 UTC, or one of the special times; -1 if there is no such record. committed says to look only where
// transactions have ended.
func (s *session) listOffset(ctx context.Context, id pipeline.LaneID, timestamp int64, committed bool) (int64, error) {
	if err := s.lookups.enter(ctx); err != nil {
		return 0, err
	}
	defer s.lookups.leave()
	ctx, cancel := context.WithTimeout(ctx, kafkaconn.RequestTimeout)
	defer cancel()
	// Client.ListOffsets mixes up times and offsets where the answer has no record.
	resp, err := s.transport.RoundTrip(ctx, s.client.Addr, &listoffsets.Request{
		ReplicaID:      -1,
		IsolationLevel: int8(isolationLevel(committed)),
		Topics: []listoffsets.RequestTopic{{
			Topic:      id.Stream,
			Partitions: []listoffsets.RequestPartition{{Partition: id.Partition, CurrentLeaderEpoch: -1, Timestamp: timestamp}},
		}},
	})
	if err != nil {
		return 0, err
	}
	for _, t := range resp.(*listoffsets.Response).Topics {
		for _, p := range t.Partitions {
			if t.Topic == id.Stream && p.Partition == id.Partition {
				if p.ErrorCode != 0 {
					return 0, kafkago.Error(p.ErrorCode)
				}
				return p.Offset, nil
			}
		}
	}
	return 0, errNoAnswer
}
