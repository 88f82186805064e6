package kafka

import (
	"context"
	"io"

	"github.com/urlmill/urlmill/pipeline"
)

// pending is a record that was read, is in lane.record, and waits for what its codec needs from elsewhere.
type pending struct {
	from int64 // position before it
}

// needs reports whether the codec has to fetch something, such as a schema, before it can decode a value.
func (l *lane) needs(value []byte) bool {
	return l.resolver != nil && value != nil && !l.resolver.Resolved(value)
}

// resolvePending waits until the pending record can be decoded, and ends its waiting. A batch that has records already ends
// before it instead (errNothingYet): they must not wait with it.
func (l *lane) resolvePending(ctx context.Context, b *pipeline.Batch) error {
	if l.needs(l.record.Value) {
		if b.Next > b.First {
			return errNothingYet
		}
		if err := l.awaitSchema(ctx); err != nil {
			return err
		}
	}
	l.pending = nil
	return nil
}

// awaitSchema waits until the codec has what the pending record needs. It retries for ever, since leaving the record out
// would lose it, and the lane's trouble shows meanwhile. The error is io.EOF in a drain.
func (l *lane) awaitSchema(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	defer close(over)
	go func() { // cancels the request when the lane is to end: a drain must not wait for it
		select {
		case <-l.g.ending:
		case <-l.ctx.Done():
		case <-over:
		}
		cancel()
	}()
	for again := (backoff{}); ; {
		err := l.resolver.Resolve(ctx, l.record.Value)
		switch {
		case err == nil:
			if again.tries > 0 {
				l.g.source.log.Info("records can be taken apart again", "lane", l.id)
			}
			l.unknown.end()
			return nil
		case l.g.isEnding():
			return io.EOF
		case l.ctx.Err() != nil:
			return l.ctx.Err()
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if again.tries == 0 {
			l.g.source.log.Warn("what a record needs cannot be had, and is asked for again and again", "lane", l.id, "offset", l.record.Offset, "error", err)
		}
		l.unknown.add(err)
		again.wait(ctx, l.g.ending)
	}
}
