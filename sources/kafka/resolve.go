package kafka

import (
	"context"
	"io"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
)

// pending is a record that was read, is in reading.record, and waits for what its codec needs from elsewhere.
type pending struct {
	from int64 // position before it
}

// needs reports whether the codec has to fetch something, such as a schema, before it can decode a value.
func (r *reading) needs(value []byte) bool {
	return r.resolver != nil && value != nil && !r.resolver.Resolved(value)
}

// resolvePending waits until the pending record can be decoded, and ends its waiting. A batch that has records already ends
// before it instead (errNothingYet): they must not wait with it.
func (r *reading) resolvePending(ctx context.Context, b *pipeline.Batch) error {
	if r.needs(r.record.Value) {
		if b.Next > b.First {
			return errNothingYet
		}
		if err := r.awaitSchema(ctx); err != nil {
			return err
		}
	}
	r.pending = nil
	return nil
}

// awaitSchema waits until the codec has what the pending record needs. It retries for ever, since leaving the record out
// would lose it, and the lane's trouble shows meanwhile. The error is io.EOF in a drain.
func (r *reading) awaitSchema(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	defer close(over)
	go func() { // cancels the request when the lane is to end: a drain must not wait for it
		select {
		case <-r.g.ending:
		case <-r.ctx.Done():
		case <-over:
		}
		cancel()
	}()
	for again := (kafkaconn.Backoff{}); ; {
		err := r.resolver.Resolve(ctx, r.record.Value)
		switch {
		case err == nil:
			if again.Tries() > 0 {
				r.g.source.log.Info("records can be decoded again", "lane", r.id)
			}
			r.schemaTrouble.end()
			return nil
		case r.g.isEnding():
			return io.EOF
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if again.Tries() == 0 {
			r.g.source.log.Warn("cannot fetch the schema of a record from the registry; retrying", "lane", r.id, "offset", r.record.Offset, "error", err)
		}
		r.schemaTrouble.add(err)
		again.Wait(ctx, r.g.ending)
	}
}
