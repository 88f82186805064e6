package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/pipeline"
)

// Survey implements [pipeline.Surveyor]. It asks the brokers for the first and last offsets of every partition and for what
// the group has committed, and does not join the group.
func (s *Source) Survey(ctx context.Context, known []pipeline.Known) ([]pipeline.Standing, error) {
	session, err := newSession(s.opts, s.log)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	defer session.close()
	layout, missing, err := session.describe(ctx)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	_, identities, err := session.identify(ctx)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	var found []pipeline.Standing
	left := slices.Clone(known)
	for _, topic := range s.opts.Topics {
		for p := range layout[topic] {
			id := pipeline.LaneID{Stream: topic, Partition: int32(p)}
			var k *pipeline.Known
			if i := current(left, id, identities[topic]); i >= 0 {
				k, id = &left[i], left[i].Lane
			}
			standing, err := session.stand(ctx, id, k, identities[topic])
			if err != nil {
				return nil, fmt.Errorf("kafka: %s: %w", id, err)
			}
			found = append(found, standing)
			left = slices.DeleteFunc(left, func(k pipeline.Known) bool { return k.Lane == id })
		}
	}
	for _, k := range left {
		found = append(found, absent(k, layout[k.Lane.Stream], slices.Contains(missing, k.Lane.Stream)))
	}
	return found, nil
}

// current returns the index of the lane of a partition among those that an output knows, -1 if it knows none: the lane that was
// begun for the topic as it is now, or else the one without a session, which the topic of that name had first.
func current(known []pipeline.Known, id pipeline.LaneID, now identity) int {
	first := slices.IndexFunc(known, func(k pipeline.Known) bool { return k.Lane == id })
	id.Session = now.session()
	if i := slices.IndexFunc(known, func(k pipeline.Known) bool { return k.Lane == id }); i >= 0 {
		return i
	}
	return first
}

// absent returns the standing of a lane that an output knows and the topics do not have. partitions is how many the topic of
// its name has now, and missing says that there is no such topic.
func absent(k pipeline.Known, partitions int, missing bool) pipeline.Standing {
	why := "is no partition of the topics of this configuration: nothing can be said about it"
	switch {
	case missing:
		why = "the topic does not exist any more: nothing can be said about it"
	case int(k.Lane.Partition) < partitions:
		why = "is of a topic of that name that there was before: nothing can be said about it"
	}
	return pipeline.Standing{
		Lane: k.Lane, First: pipeline.Unknown, End: pipeline.Unknown,
		Findings: []pipeline.Finding{{Kind: pipeline.NoSource, First: pipeline.Unknown, Next: pipeline.Unknown, Message: why}},
	}
}

// stand asks about a partition. k is what the output has of it, nil for nothing.
func (s *session) stand(ctx context.Context, id pipeline.LaneID, k *pipeline.Known, now identity) (pipeline.Standing, error) {
	st := pipeline.Standing{Lane: id}
	var err error
	if st.First, err = s.listOffset(ctx, id, earliestTime, false); err != nil {
		return st, err
	}
	if st.End, err = s.listOffset(ctx, id, latestTime, s.opts.Isolation == ReadCommitted); err != nil {
		return st, err
	}
	committed, err := s.committed(ctx, id.Stream, int(id.Partition))
	if errors.Is(err, kafkago.GroupIdNotFound) {
		committed, err = map[int]int64{int(id.Partition): pipeline.Unknown}, nil
	}
	if err != nil {
		return st, err
	}
	of := now.String()
	if k != nil && parseIdentity(k.Of).same(now) {
		of = k.Of // Hold compares texts, and one of the two may have been written before brokers told the IDs of topics
	}
	st.Findings = pipeline.Hold(k, st.First, st.End, of, committed[int(id.Partition)])
	return st, nil
}
