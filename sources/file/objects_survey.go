package file

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
)

// shelf is what an output has of a lane of objects, compared with what is in the bucket now.
type shelf struct {
	id    pipeline.LaneID
	read  seen
	found []uint64 // a bit for each of read.old: it is in the bucket

	unread, bytes int64 // objects that are in the bucket alone
	example       string
	open          *objectMark // of which records were read, and not all
	next          int64       // the record of it that is next
	openThere     bool
}

// Survey implements [pipeline.Surveyor]. All keys are listed, and compared with what the commits of the output say was read: eight bytes
// and a bit of memory for each object. Of objects that were read nothing but a fingerprint is known, so that those that are gone are counted, and
// objects with another content are among those that were not read.
func (s *ObjectSource) Survey(ctx context.Context, known []pipeline.Known) ([]pipeline.Standing, error) {
	var shelves [objectLanes]*shelf
	for slot := range shelves {
		shelves[slot] = &shelf{id: s.laneID(slot)}
	}
	var standings []pipeline.Standing
	for _, k := range known {
		at := slices.IndexFunc(shelves[:], func(h *shelf) bool { return h.id == k.Lane })
		if at < 0 {
			standings = append(standings, standing(k.Lane, noteOf(pipeline.NoSource,
				"is no lane of the objects that are read: its input is another one, or was moved; nothing can be said about it")))
		} else if err := shelves[at].recall(ctx, k); err != nil {
			return nil, err
		}
	}
	for i := range s.places {
		err := s.walk(ctx, stretch{place: &s.places[i]}, func(o objstore.Object) error {
			shelves[xxh3.HashString(o.Key)%objectLanes].there(o)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, h := range shelves {
		if found := h.findings(s); len(found) > 0 {
			standings = append(standings, standing(h.id, found...))
		}
	}
	return standings, nil
}

func standing(id pipeline.LaneID, found ...pipeline.Finding) pipeline.Standing {
	return pipeline.Standing{Lane: id, First: pipeline.Unknown, End: pipeline.Unknown, Findings: found}
}

func noteOf(kind pipeline.FindingKind, message string) pipeline.Finding {
	return pipeline.Finding{Kind: kind, First: pipeline.Unknown, Next: pipeline.Unknown, Message: message}
}

// recall reads what the commits of the lane say.
func (h *shelf) recall(ctx context.Context, k pipeline.Known) error {
	if k.History == nil {
		return errors.New("the commits of the output cannot be read, which say what objects were read")
	}
	last, at := new(objectMark), int64(0)
	err := k.History(ctx, func(m pipeline.Mark) (err error) {
		last, err = h.read.recall(m)
		at = m.Next
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", k.Lane, err)
	}
	h.read.sort()
	h.found = make([]uint64, (len(h.read.old)+63)/64)
	if at > 0 && !last.ended(at) {
		h.open, h.next = last, at-last.Base
	}
	return nil
}

// there notes an object of the bucket.
func (h *shelf) there(o objstore.Object) {
	f := fingerprint(o)
	if h.open != nil && f == fingerprint(h.open.object()) {
		h.openThere = true
		return
	}
	if i, read := slices.BinarySearch(h.read.old, f); read {
		h.found[i/64] |= 1 << (i % 64)
		return
	}
	if h.unread == 0 {
		h.example = o.Key
	}
	h.unread, h.bytes = h.unread+1, h.bytes+o.Size
}

// findings says what the bucket and the output do not have in common.
func (h *shelf) findings(s *ObjectSource) (found []pipeline.Finding) {
	add := func(kind pipeline.FindingKind, format string, args ...any) {
		found = append(found, noteOf(kind, fmt.Sprintf(format, args...)))
	}
	switch {
	case h.open == nil:
	case h.openThere:
		add(pipeline.Unread, "of %s %d records were read, and the rest was not yet", s.address(h.open.Key), h.next)
	default:
		add(pipeline.NeverRead, "of %s %d records were read; it was removed or replaced since, so that the rest of it never will be: the next run does what on_changed says",
			s.address(h.open.Key), h.next)
	}
	if h.unread > 0 {
		add(pipeline.Unread, "%s not read yet, of %d bytes, such as %s", objects(h.unread, "was", "were"), h.bytes, s.address(h.example))
	}
	gone := int64(len(h.read.old))
	for _, b := range h.found {
		gone -= int64(bits.OnesCount64(b))
	}
	if gone > 0 {
		add(pipeline.NoSource, "%s read, and not in the bucket now, or there with another content", objects(gone, "was", "were"))
	}
	return found
}

// objects returns a number of objects as the subject of a sentence whose verb is one or many.
func objects(n int64, one, many string) string {
	if n == 1 {
		return "1 object " + one
	}
	return fmt.Sprintf("%d objects %s", n, many)
}
