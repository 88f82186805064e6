package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
)

// origin says where the offset that a lane began at comes from. It matters when the log does not have that offset: only
// fromFirst, before anything is fetched, may move on to another one without a word, since it stands for no record.
type origin uint8

const (
	fromGroup  origin = iota // the group's committed offset
	fromSink                 // the sink's position
	fromFirst                // the first record of the log, or the one that was the first when the lane began
	fromPolicy               // the start policy "latest", as it was resolved
)

// begin returns the offset that the lane begins at: the sink's, or else what the group has committed, or else
// what the start policy says. What the policy says is committed at once: "latest" means another offset the
// next time, and records in between would never be read. It is called by the reader, before there is a prefetcher.
func (r *reading) begin(ctx context.Context, next int64) (int64, error) {
	if next >= 0 {
		return r.beginAtSink(ctx, next)
	}
	if r.anew {
		return r.beginAtFirst(ctx, start{earliestTime, "earliest, as the topic is new"})
	}
	if r.assigned >= 0 {
		// For a new output of an old group this is the only sign that it does not get what was there before.
		r.g.session.log.Info("the output has no position; going on where the group has committed", "lane", r.id.String(), "offset", r.assigned)
		return r.assigned, nil
	}
	// The assignment says that nothing is committed. The lane is about to start over, or at the end, so the coordinator is
	// asked itself: should the answer be wrong, everything would be repeated or left out.
	committed, err := r.committed(ctx)
	if err != nil || committed >= 0 {
		return committed, err
	}
	return r.beginByPolicy(ctx)
}

// committed asks the group's coordinator for the committed offset, -1 if there is none.
func (a *assignment) committed(ctx context.Context) (offset int64, err error) {
	err = a.retry(ctx, "fetching the committed offset", func(ctx context.Context) error {
		committed, err := a.g.session.committed(ctx, a.id.Stream, int(a.id.Partition))
		offset = committed[int(a.id.Partition)]
		return err
	})
	return offset, err
}

// beginAtSink begins at the position of a sink that holds one. The group's offset only follows it, and is behind
// after a crash. If it is ahead, then another process has read for this group and written elsewhere, or the sink has
// lost what it had.
func (r *reading) beginAtSink(ctx context.Context, next int64) (int64, error) {
	r.origin = fromSink
	switch {
	case r.assigned < next:
		return next, r.followSink(ctx, next)
	case r.assigned == next:
		return next, nil
	}
	committed, err := r.committed(ctx)
	if err != nil || committed <= next {
		return next, err
	}
	o := r.g.session.opts
	log := r.g.session.log.With("lane", r.id.String(), "position", next, "committed", committed, "policy", o.OnAhead)
	switch o.OnAhead {
	case PolicyRewind:
		log.Warn("the group's committed offset is ahead of the output; reading again what is between")
		return next, nil
	case PolicySkip:
		log.Warn("the group's committed offset is ahead of the output; what is between is skipped", "skipped", committed-next)
		r.origin = fromGroup
		return committed, nil
	}
	return 0, &AheadError{Lane: r.id, Group: o.Group, Broker: o.Brokers[0], Position: next, Committed: committed}
}

// followSink commits the position of a sink that the group is behind. The process that was to do so has died or has lost the
// partition. Without this, the group's lag would show records as unread until there are further ones and they are committed. A
// position behind the end of the log is not committed: the first fetch then fails, and its error says what to do.
func (r *reading) followSink(ctx context.Context, next int64) error {
	end, err := r.resolve(ctx, start{timestamp: latestTime}, false)
	if err != nil || next > end {
		return err
	}
	if err := r.commit(ctx, next); err != nil {
		return err
	}
	r.acknowledged.Store(next)
	return nil
}

// beginByPolicy begins where the start policy says; a partition that was added to a known topic begins at its first record.
func (r *reading) beginByPolicy(ctx context.Context) (offset int64, err error) {
	policy := r.g.source.start
	if policy.timestamp != earliestTime {
		offset, err = r.firstStart(ctx, policy)
		if err != nil {
			return 0, err
		}
		if offset >= 0 {
			if r.origin = fromFirst; policy.timestamp == latestTime {
				r.origin = fromPolicy
			}
			return r.begun(offset, policy)
		}
		policy = start{earliestTime, "earliest, as the partition is new"}
	}
	return r.beginAtFirst(ctx, policy)
}

// beginAtFirst begins at the first record that there is, and commits that for the group.
func (r *reading) beginAtFirst(ctx context.Context, policy start) (offset int64, err error) {
	r.origin = fromFirst
	if offset, err = r.resolve(ctx, policy, r.g.session.opts.Isolation == ReadCommitted); err != nil {
		return 0, err
	}
	if err := r.commit(ctx, offset); err != nil {
		return 0, err
	}
	return r.begun(offset, policy)
}

// begun notes that the group has committed the offset that a partition begins at.
func (r *reading) begun(offset int64, policy start) (int64, error) {
	r.g.session.log.Info("nothing committed yet; starting by policy", "lane", r.id.String(), "start", policy.text, "offset", offset)
	r.acknowledged.Store(offset)
	return offset, nil
}

// firstStart returns the offset at which the start policy lets the partition begin, once it is committed for the group. It is
// -1 for a partition of a topic of which the group or the sink knows others: that one was added, whether a member was running
// then or not, and all of its records are newer than the first start.
//
// At the first start of a topic no partition has an offset, and their lanes are in several processes. The lane of partition 0
// settles where all begin, in one commit, which the brokers make as a whole; the others wait for it. If each committed for
// itself, a lane would find the offset of another one and take its own partition for an added one.
func (a *assignment) firstStart(ctx context.Context, policy start) (offset int64, err error) {
	all := []int{0, int(a.id.Partition)} // an offset of partition 0 means that the topic has been begun
	if a.id.Partition == 0 {
		all = a.g.partitions[a.id.Stream]
		if known, err := a.sinkKnows(ctx, "", all[1:]); known || err != nil {
			return -1, err
		}
	}
	err = a.retry(ctx, "settling where the partitions begin", func(ctx context.Context) error {
		committed, err := a.g.session.committed(ctx, a.id.Stream, all...)
		if err != nil {
			return err
		}
		offset = committed[int(a.id.Partition)]
		if slices.ContainsFunc(all, func(p int) bool { return committed[p] >= 0 }) {
			return nil
		}
		if a.id.Partition > 0 {
			return errNotBegun
		}
		offset, err = a.beginTopic(ctx, policy, all)
		return err
	})
	return offset, err
}

// errNotBegun says that a lane waits for that of partition 0. It is no fatal error, so retry goes on.
var errNotBegun = errors.New("whoever has partition 0 of the topic has not begun it yet")

// sinkKnows reports whether the sink has a position of one of the partitions, in a session.
func (a *assignment) sinkKnows(ctx context.Context, session string, partitions []int) (bool, error) {
	if a.g.source.positions == nil {
		return false, nil
	}
	for _, p := range partitions {
		m, err := a.g.source.positions.Position(ctx, pipeline.LaneID{Stream: a.id.Stream, Partition: int32(p), Session: session})
		if err != nil || m.Next >= 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// beginTopic commits where all partitions begin, and returns the offset of the first in the list.
func (a *assignment) beginTopic(ctx context.Context, policy start, partitions []int) (int64, error) {
	offsets := make([]kafkago.OffsetCommit, len(partitions))
	for i, p := range partitions {
		id := pipeline.LaneID{Stream: a.id.Stream, Partition: int32(p)}
		offset, err := a.resolveIn(ctx, id, policy, a.g.session.opts.Isolation == ReadCommitted)
		if err != nil {
			return 0, err
		}
		offsets[i] = kafkago.OffsetCommit{Partition: p, Offset: offset}
	}
	return offsets[0].Offset, a.commitAll(ctx, offsets)
}

// resolve asks the partition's leader for the offset that a start policy means now, among what is committed or
// among everything.
func (a *assignment) resolve(ctx context.Context, from start, committed bool) (int64, error) {
	return a.resolveIn(ctx, a.id, from, committed)
}

// resolveIn is resolve for another partition.
func (a *assignment) resolveIn(ctx context.Context, id pipeline.LaneID, from start, committed bool) (offset int64, err error) {
	err = a.retry(ctx, "looking up an offset", func(ctx context.Context) (err error) {
		offset, err = a.g.session.lookUp(ctx, id, from, committed)
		return err
	})
	return offset, err
}

// retry calls try until it succeeds, fails with an error that trying again does not cure, or the lane ends: then the error is
// that of ctx, or [pipeline.ErrLaneLost] in a drain or rebalance. A partition that is missing for longer than TopicTimeout
// is an error that trying again does not cure.
func (a *assignment) retry(ctx context.Context, what string, try func(context.Context) error) error {
	err := a.g.session.retry(ctx, a.g.ending, try, what+" failed", "lane", a.id.String())
	switch {
	case errors.Is(err, kafkaconn.ErrStopped):
		return fmt.Errorf("%s: %s: %w", a.id, what, pipeline.ErrLaneLost)
	case kafkaconn.IsFatal(err):
		return fmt.Errorf("%s: %s: %w", a.id, what, err)
	}
	return err
}
