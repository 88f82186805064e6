package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/pipeline"
)

// origin says who held the offset that a lane began at.
type origin uint8

const (
	fromGroup  origin = iota // its committed offset
	fromSink                 // its position
	fromFirst                // nobody did: it is that of the first record that there is, or was when the lane began
	fromPolicy               // nobody did: it is what the start policy says
)

// begin returns the offset that the lane begins at: the sink's, or else what the group has committed, or else
// what the start policy says. What the policy says is committed at once: "latest" means another offset the
// next time, and records in between would never be read.
func (l *lane) begin(ctx context.Context, next int64) (int64, error) {
	if next >= 0 {
		return l.beginAtSink(ctx, next)
	}
	if l.anew {
		return l.beginAtFirst(ctx, start{earliestTime, "earliest, as the topic is new"})
	}
	if l.assigned >= 0 {
		// For a new output of an old group this is the only sign that it does not get what was there before.
		l.g.session.log.Info("the output has no position; going on where the group has committed", "lane", l.id.String(), "offset", l.assigned)
		return l.assigned, nil
	}
	// The assignment says that nothing is committed. Starting over, or at the end, on the word of one
	// answer would be a pity if it is wrong.
	committed, err := l.committed(ctx)
	if err != nil || committed >= 0 {
		return committed, err
	}
	return l.beginByPolicy(ctx)
}

// committed asks the group's coordinator for the committed offset, -1 if there is none.
func (l *lane) committed(ctx context.Context) (offset int64, err error) {
	err = l.retry(ctx, "fetching the committed offset", func(ctx context.Context) error {
		committed, err := l.g.session.committed(ctx, l.id.Stream, int(l.id.Partition))
		offset = committed[int(l.id.Partition)]
		return err
	})
	return offset, err
}

// beginAtSink begins at the position of a sink that holds one. The group's offset only follows it, and is behind
// after a crash. If it is ahead, then somebody has read for this group and written elsewhere, or the sink has
// lost what it had.
func (l *lane) beginAtSink(ctx context.Context, next int64) (int64, error) {
	l.origin = fromSink
	switch {
	case l.assigned < next:
		return next, l.followSink(ctx, next)
	case l.assigned == next:
		return next, nil
	}
	committed, err := l.committed(ctx)
	if err != nil || committed <= next {
		return next, err
	}
	o := l.g.session.opts
	log := l.g.session.log.With("lane", l.id.String(), "position", next, "committed", committed, "policy", o.OnAhead)
	switch o.OnAhead {
	case PolicyRewind:
		log.Warn("the group's committed offset is ahead of the output; reading again what is between")
		return next, nil
	case PolicySkip:
		log.Warn("the group's committed offset is ahead of the output; what is between is skipped", "skipped", committed-next)
		l.origin = fromGroup
		return committed, nil
	}
	return 0, &AheadError{Lane: l.id, Group: o.Group, Broker: o.Brokers[0], Position: next, Committed: committed}
}

// followSink commits the position of a sink that the group is behind. Who was to do so has died or has lost the partition, and
// the next to come would not before there are further records: until then the group would seem to be behind. A position that
// the log does not have is none to commit; the fetches tell of it.
func (l *lane) followSink(ctx context.Context, next int64) error {
	end, err := l.resolve(ctx, start{timestamp: latestTime}, false)
	if err != nil || next > end {
		return err
	}
	if err := l.commit(ctx, next); err != nil {
		return err
	}
	l.acknowledged.Store(next)
	return nil
}

// beginByPolicy begins where the start policy says, and a partition that was added to a known topic at its first record.
func (l *lane) beginByPolicy(ctx context.Context) (offset int64, err error) {
	policy := l.g.source.start
	if policy.timestamp != earliestTime {
		offset, err = l.firstStart(ctx, policy)
		if err != nil {
			return 0, err
		}
		if offset >= 0 {
			if l.origin = fromFirst; policy.timestamp == latestTime {
				l.origin = fromPolicy
			}
			return l.begun(offset, policy)
		}
		policy = start{earliestTime, "earliest, as the partition is new"}
	}
	return l.beginAtFirst(ctx, policy)
}

// beginAtFirst begins at the first record that there is, and has the group commit that.
func (l *lane) beginAtFirst(ctx context.Context, policy start) (offset int64, err error) {
	l.origin = fromFirst
	if offset, err = l.resolve(ctx, policy, l.g.session.opts.Isolation == ReadCommitted); err != nil {
		return 0, err
	}
	if err := l.commit(ctx, offset); err != nil {
		return 0, err
	}
	return l.begun(offset, policy)
}

// begun notes that the group has committed the offset that a partition begins at.
func (l *lane) begun(offset int64, policy start) (int64, error) {
	l.g.session.log.Info("nothing committed yet; starting by policy", "lane", l.id.String(), "start", policy.text, "offset", offset)
	l.acknowledged.Store(offset)
	return offset, nil
}

// firstStart returns the offset that the start policy has the partition begin at, which the group has committed then. It is
// -1 for a partition of a topic that the group or the sink knows others of: that one was added, whether anybody was running
// then or not, and its records are as new as can be.
//
// At the first start of a topic all lanes are in that position, in several processes. Whoever has partition 0 settles where
// all begin, in one commit, which the brokers make as a whole; the others wait for it. Each for itself would find that
// somebody was first, and take its own partition for a new one.
func (l *lane) firstStart(ctx context.Context, policy start) (offset int64, err error) {
	all := []int{0, int(l.id.Partition)} // and what is asked for
	if l.id.Partition == 0 {
		all = l.g.partitions[l.id.Stream]
		if known, err := l.sinkKnows(ctx, "", all[1:]); known || err != nil {
			return -1, err
		}
	}
	err = l.retry(ctx, "settling where the partitions begin", func(ctx context.Context) error {
		committed, err := l.g.session.committed(ctx, l.id.Stream, all...)
		if err != nil {
			return err
		}
		offset = committed[int(l.id.Partition)]
		if slices.ContainsFunc(all, func(p int) bool { return committed[p] >= 0 }) {
			return nil
		}
		if l.id.Partition > 0 {
			return errNotBegun
		}
		offset, err = l.beginTopic(ctx, policy, all)
		return err
	})
	return offset, err
}

// errNotBegun says that a lane waits for another one.
var errNotBegun = errors.New("whoever has partition 0 of the topic has not begun it yet")

// sinkKnows reports whether the sink has a position of one of the partitions, in a session.
func (l *lane) sinkKnows(ctx context.Context, session string, partitions []int) (bool, error) {
	if l.g.source.positions == nil {
		return false, nil
	}
	for _, p := range partitions {
		m, err := l.g.source.positions.Position(ctx, pipeline.LaneID{Stream: l.id.Stream, Partition: int32(p), Session: session})
		if err != nil || m.Next >= 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// beginTopic commits where all partitions begin, and returns the offset of the first.
func (l *lane) beginTopic(ctx context.Context, policy start, partitions []int) (int64, error) {
	offsets := make([]kafkago.OffsetCommit, len(partitions))
	for i, p := range partitions {
		id := pipeline.LaneID{Stream: l.id.Stream, Partition: int32(p)}
		offset, err := l.resolveIn(ctx, id, policy, l.g.session.opts.Isolation == ReadCommitted)
		if err != nil {
			return 0, err
		}
		offsets[i] = kafkago.OffsetCommit{Partition: p, Offset: offset}
	}
	return offsets[0].Offset, l.commitAll(ctx, offsets)
}

// resolve asks the partition's leader for the offset that a start policy means now, among what is committed or
// among everything.
func (l *lane) resolve(ctx context.Context, from start, committed bool) (int64, error) {
	return l.resolveIn(ctx, l.id, from, committed)
}

// resolveIn is resolve for another partition.
func (l *lane) resolveIn(ctx context.Context, id pipeline.LaneID, from start, committed bool) (offset int64, err error) {
	err = l.retry(ctx, "looking up an offset", func(ctx context.Context) (err error) {
		offset, err = l.g.session.listOffset(ctx, id, from.timestamp, committed)
		if err == nil && offset < 0 { // no record is that young: begin with the next one
			offset, err = l.g.session.listOffset(ctx, id, latestTime, committed)
		}
		return err
	})
	return offset, err
}

// retry calls try until it succeeds, fails with an error that trying again does not cure, or the lane ends. A
// partition that is missing for longer than TopicTimeout is such an error.
func (l *lane) retry(ctx context.Context, what string, try func(context.Context) error) error {
	var pause backoff
	var missing time.Time
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err = l.g.session.hopeless(err, &missing); isFatal(err) {
			return fmt.Errorf("%s: %s: %w", l.id, what, err)
		}
		if pause.tries > 0 { // once is nothing: connections that were idle break
			l.g.session.log.Warn(what+" failed; trying again", "lane", l.id.String(), "error", err)
		}
		if !pause.wait(ctx, l.g.ending) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("%s: %s: %w", l.id, what, pipeline.ErrLaneLost)
		}
	}
}
