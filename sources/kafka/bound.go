package kafka

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/urlmill/urlmill/pipeline"
)

// EndAt implements [pipeline.Bounded]. The end of what there is leaves out what is behind an open transaction, where that is not
// read either.
func (s *Source) EndAt(until time.Time) {
	s.until = &start{latestTime, "end"}
	if !until.IsZero() {
		s.until = &start{millis(until), until.Format(time.RFC3339Nano)}
	}
}

// ends are the offsets before which the lanes of a bounded run end, by topic and partition. A partition that is not there was
// added later: all of its records came after the start.
type ends map[string][]int64

// of returns the end of a partition, 0 if it was added later.
func (e ends) of(id pipeline.LaneID) int64 {
	if of := e[id.Stream]; int(id.Partition) < len(of) {
		return of[id.Partition]
	}
	return 0
}

// findEnds asks where every partition ends: at its first record that is not older than until, or else behind its last one. All
// are asked, and not only those that this member is assigned: it may be given others later.
func (r *consumer) findEnds(ctx context.Context, drain <-chan struct{}, until start) error {
	r.ends = ends{}
	var asked errgroup.Group
	asked.SetLimit(maxFetches)
	for topic, n := range r.known {
		of := make([]int64, n)
		r.ends[topic] = of
		for p := range of {
			id := pipeline.LaneID{Stream: topic, Partition: int32(p)}
			asked.Go(func() error {
				return r.session.retry(ctx, drain, func(ctx context.Context) (err error) {
					of[p], err = r.session.lookUp(ctx, id, until, r.session.opts.Isolation == ReadCommitted)
					return err
				}, "looking up where a partition ends failed", "lane", id.String())
			})
		}
	}
	return asked.Wait()
}

// bound sets where a lane that begins at offset from is to end. What the log has lost since the ends were looked up, as a topic
// that was made anew, is not waited for. A lane that begins behind the log itself has no end: its first fetch fails, and says
// what is wrong.
func (r *reading) bound(ctx context.Context, from int64) error {
	if r.g.ends == nil {
		return nil
	}
	now, err := r.resolve(ctx, start{timestamp: latestTime}, r.g.session.opts.Isolation == ReadCommitted)
	if err != nil {
		return err
	}
	end := min(r.g.ends.of(r.id), now)
	if from > now {
		if now, err = r.resolve(ctx, start{timestamp: latestTime}, false); err != nil || from > now {
			return err
		}
	}
	r.end = end
	return nil
}

// emptyAnswers is after how many answers without a record, one after the other, a bounded lane takes it that none is left before
// its end, though the log goes on: the last records of a compacted topic may be gone. Brokers hold each such answer back for
// MaxWait. One of them proves nothing, since a broker that has just become the leader may not know yet how far it may read. The
// position stays where it is, so that a record which does come is read by the next run.
const emptyAnswers = 10
