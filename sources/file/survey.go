package file

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/urlmill/urlmill/pipeline"
)

// Survey implements [pipeline.Surveyor]. Files are compared with what the output says of them as at a start. How many records
// have not been read is not known before they are.
func (s *Source) Survey(ctx context.Context, known []pipeline.Known) ([]pipeline.Standing, error) {
	o := s.o
	o.OnChanged = Stop
	look := &Source{o: o, codec: s.codec, log: slog.New(slog.DiscardHandler), inputs: s.inputs, positions: told(known)}
	inputs, problems, err := look.match(ctx)
	if err != nil {
		return nil, err
	}
	var found []pipeline.Standing
	seen := map[string]bool{}
	add := func(id pipeline.LaneID, kind pipeline.FindingKind, message string) {
		f := []pipeline.Finding{{Kind: kind, First: pipeline.Unknown, Next: pipeline.Unknown, Message: message}}
		found = append(found, pipeline.Standing{Lane: id, First: pipeline.Unknown, End: pipeline.Unknown, Findings: f})
		seen[id.Stream] = true
	}
	for _, in := range inputs {
		switch seen[in.id.Stream] = true; {
		case in.stream || in.done:
		case in.lane == nil || in.lane.mark == nil:
			add(in.id, pipeline.Unread, fmt.Sprintf("its %d bytes were not read yet", in.size))
		default:
			add(in.id, pipeline.Unread, fmt.Sprintf("of its %d bytes %d were read: record %d is next", in.size, in.lane.mark.n, in.lane.next))
		}
	}
	for _, err := range problems {
		var changed *ChangedError
		if !errors.As(err, &changed) {
			return nil, err
		}
		add(pipeline.LaneID{Stream: changed.Path}, pipeline.OtherSource, changed.Why)
	}
	for _, k := range known {
		if !seen[k.Lane.Stream] {
			add(k.Lane, pipeline.NoSource,
				"is none of the files that are there now: it was moved away, or is not among the paths; nothing can be said about it")
		}
	}
	return found, nil
}

// told is what an output has told about its lanes.
type told []pipeline.Known

// Position implements [pipeline.Positions].
func (t told) Position(_ context.Context, id pipeline.LaneID) (pipeline.Mark, error) {
	for _, k := range t {
		if k.Lane == id {
			return k.Mark, nil
		}
	}
	return pipeline.Mark{Next: pipeline.Unknown}, nil
}

// Lanes implements [pipeline.Lister].
func (t told) Lanes(context.Context) ([]pipeline.LaneID, error) {
	ids := make([]pipeline.LaneID, len(t))
	for i, k := range t {
		ids[i] = k.Lane
	}
	return ids, nil
}
