package kafka

import (
	"context"
	"fmt"
	"slices"

	"github.com/urlmill/urlmill/pipeline"
)

// Survey implements [pipeline.Surveyor]. It asks the brokers for the first and last offsets of every partition and for what
// the group has committed, and joins nobody.
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
	var found []pipeline.Standing
	for _, topic := range s.opts.Topics {
		for p := range layout[topic] {
			id := pipeline.LaneID{Stream: topic, Partition: int32(p)}
			standing, err := session.stand(ctx, id, knownOf(known, id))
			if err != nil {
				return nil, fmt.Errorf("kafka: %s: %w", id, err)
			}
			found = append(found, standing)
		}
	}
	for _, k := range known {
		if int(k.Lane.Partition) >= layout[k.Lane.Stream] {
			found = append(found, absent(k, slices.Contains(missing, k.Lane.Stream)))
		}
	}
	return found, nil
}

// knownOf returns what an output has of a partition, nil for nothing.
func knownOf(known []pipeline.Known, id pipeline.LaneID) *pipeline.Known {
	i := slices.IndexFunc(known, func(k pipeline.Known) bool { return k.Lane == id })
	if i < 0 {
		return nil
	}
	return &known[i]
}

// absent is what there is to say of a lane that is no partition of the topics.
func absent(k pipeline.Known, missing bool) pipeline.Standing {
	why := "is no partition of the topics of this configuration: nothing can be said about it"
	if missing {
		why = "the topic does not exist any more: nothing can be said about it"
	}
	return pipeline.Standing{
		Lane: k.Lane, First: pipeline.Unknown, End: pipeline.Unknown,
		Findings: []pipeline.Finding{{Kind: pipeline.NoSource, First: pipeline.Unknown, Next: pipeline.Unknown, Message: why}},
	}
}

// stand asks about a partition.
func (s *session) stand(ctx context.Context, id pipeline.LaneID, k *pipeline.Known) (pipeline.Standing, error) {
	st := pipeline.Standing{Lane: id}
	var err error
	if st.First, err = s.listOffset(ctx, id, earliestTime, false); err != nil {
		return st, err
	}
	if st.End, err = s.listOffset(ctx, id, latestTime, s.opts.Isolation == ReadCommitted); err != nil {
		return st, err
	}
	committed, err := s.committed(ctx, id)
	if err != nil {
		return st, err
	}
	st.Findings = pipeline.Hold(k, st.First, st.End, "", committed)
	return st, nil
}
