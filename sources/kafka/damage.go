package kafka

import (
	"context"
	"errors"
	"io"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/kafka/internal/recordbatch"
)

// refetches is how often a batch that cannot be read is fetched once more: the fault may have been on the way.
const refetches = 2

// damage is a part of the log that cannot be read.
type damage struct {
	entry []byte // as received, perhaps cut off; nil if the broker did not send it
	next  int64  // offset behind it, -1 if that cannot be told
	err   error
}

// overcome handles the damage at b.First, where b begins and has nothing yet: it fetches the part of the log once more, or
// makes it a row of b. It returns an error if the lane cannot go on.
//
// What is damaged says where it ends, and cannot be believed as such: d.next is only known where the fields of a header agree
// ([records.Behind], [records.Reader.Broken]). Otherwise the lane stops under either policy, since going on too late would
// lose sound records.
func (r *reading) overcome(ctx context.Context, b *pipeline.Batch) error {
	if r.failure != nil {
		return r.failure
	}
	at, d := b.First, r.damage
	if r.damagedAt != at { // the first time; the tries are counted by offset, since fetchFrom drops the damage
		r.damagedAt, r.refetched = at, kafkaconn.Backoff{}
		r.g.source.unreadable.Add(1)
	}
	log := r.g.session.log.With("lane", r.id.String(), "offset", at, "error", d.err)
	if r.refetched.Tries() < refetches && !errors.Is(d.err, recordbatch.ErrTooLarge) { // its checksum is right
		log.Warn("records cannot be read; fetching them again")
		if !r.refetched.Wait(ctx, r.g.ending) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return io.EOF
		}
		r.fetchFrom(at)
		return nil
	}
	if r.g.session.opts.OnCorrupt != PolicyDeadLetter || d.next < 0 {
		r.failure = r.corrupt(at, d)
		return r.failure
	}
	log.Warn("records cannot be read; their bytes become a row with an error", "next", d.next, "bytes", len(d.entry))
	r.addCorrupt(b, at, d.entry) // before fetchFrom, which gives back the memory that entry lies in
	r.fetchFrom(d.next)
	return nil
}

// addCorrupt appends a row for bytes that could not be read.
func (r *reading) addCorrupt(b *pipeline.Batch, offset int64, entry []byte) {
	codec.DecodeCorrupt(r.codec, b, entry[:min(len(entry), r.g.session.opts.MaxRecordBytes)])
	b.Offsets = append(b.Offsets, offset)
	b.Timestamps = append(b.Timestamps, 0)
	b.Keys.AppendNull()
	b.Headers.EndRow()
}

func (r *reading) corrupt(offset int64, d *damage) error {
	o := r.g.session.opts
	return &CorruptError{Lane: r.id, Group: o.Group, Broker: o.Brokers[0], Offset: offset, Next: d.next, Err: d.err}
}
