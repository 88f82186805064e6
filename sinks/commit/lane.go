package commit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/store"
)

// Lane is the chain of a lane, as far as this process knows it. It is used by one goroutine at a time.
type Lane struct {
	chain *Chain
	id    pipeline.LaneID
	name  string // laneName(id)
	dir   string // Dir/name

	next    int64 // position of the next record, [pipeline.Unknown] before the lane has begun
	covered int64 // position after the last checkpoint that is known
	since   int   // records after it
	err     error // nothing can be committed any more
	kept    *Kept // what the next record names
}

func (l *Lane) take(h head) { l.next, l.covered, l.since, l.kept = h.next, h.covered, h.since, h.kept }

// Next returns the position that the lane has to be read from, [pipeline.Unknown] if nothing was ever committed.
func (l *Lane) Next() int64 { return l.next }

// Commit commits the positions of span, with the files that their rows are in, and publishes the files. span begins at
// Next, or later if the positions between are to be left out for ever.
//
// After the first error this Lane commits nothing any more. The files are the chain's from now on: it removes them when they
// were not committed, and leaves them where they are when that cannot be known. A [*FencedError] says that another process
// has the lane.
func (l *Lane) Commit(ctx context.Context, span pipeline.Span, files []File) error {
	if l.err == nil {
		l.err = l.commit(ctx, span, files)
	} else {
		_ = l.Discard(ctx, files)
	}
	return l.err
}

func (l *Lane) commit(ctx context.Context, span pipeline.Span, files []File) error {
	r, err := l.prepare(ctx, span, files)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return errors.Join(err, l.Discard(ctx, files))
	}
	// From here on the commit may be there, and its files must not be discarded. It is finished also when the lane is being
	// taken away: a record whose files are published by the next start would delay their readers.
	ctx = context.WithoutCancel(ctx)
	if err := l.create(ctx, r); err != nil {
		var fenced *FencedError
		if errors.As(err, &fenced) {
			return errors.Join(err, l.Discard(ctx, files))
		}
		return err
	}
	err = l.chain.each(ctx, files, func(s store.Store, p []store.Pending) error { return s.Publish(ctx, p) })
	var gone *store.GoneError
	if errors.As(err, &gone) {
		// Another process has published them, and one has been moved away or deleted since. Opening the lane finds out about
		// each.
		return fmt.Errorf("%s: the positions %d to %d are committed, and another process has seen to their files: %w: %w",
			l.id, r.First, r.Next, pipeline.ErrLaneLost, err)
	}
	if err != nil {
		return fmt.Errorf("%s: the positions %d to %d are committed, and their files will be published by the next start: %w",
			l.id, r.First, r.Next, err)
	}
	l.next, l.since = r.Next, l.since+1
	l.maintain(ctx)
	return nil
}

// Discard removes files that are not going to be committed.
func (l *Lane) Discard(ctx context.Context, files []File) error {
	ctx = context.WithoutCancel(ctx)
	return l.chain.each(ctx, files, func(s store.Store, p []store.Pending) error { return s.Discard(ctx, p) })
}

// prepare does all that comes before the commit.
func (l *Lane) prepare(ctx context.Context, span pipeline.Span, files []File) (*Record, error) {
	if l.next == pipeline.Unknown {
		if err := l.begin(ctx, span); err != nil {
			return nil, err
		}
	}
	if span.First < l.next || span.Next <= l.next {
		return nil, fmt.Errorf("%s: positions %d to %d cannot be committed after %d", l.id, span.First, span.Next, l.next)
	}
	// A record must name no file that a crash can take away: they are made durable before it is written.
	err := l.chain.each(ctx, files, func(s store.Store, p []store.Pending) error { return s.Settle(ctx, p) })
	if err != nil {
		return nil, err
	}
	r := &Record{
		Version: formatVersion, Lane: l.name, Stream: strings.ToValidUTF8(l.id.Stream, "\ufffd"), Partition: l.id.Partition, Of: span.Of,
		First: l.next, Next: span.Next, Files: files, Kept: l.kept, Origin: l.chain.newOrigin(),
	}
	if r.Files == nil {
		r.Files = []File{} // [] in JSON, not null
	}
	if span.First > l.next {
		r.From = span.First
	}
	return r, nil
}

// begin makes the start of the chain, so that two processes cannot begin it at different positions.
func (l *Lane) begin(ctx context.Context, span pipeline.Span) error {
	first, at := span.First, path.Join(l.dir, startName)
	s := start{
		Version: formatVersion, Lane: l.name, Stream: strings.ToValidUTF8(l.id.Stream, "\ufffd"), Partition: l.id.Partition,
		Prefix: filePrefix(l.id), Start: first, Of: span.Of, Origin: l.chain.newOrigin(),
	}
	err := l.chain.root.Create(ctx, at, encode(s))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err == nil {
		l.next, l.covered = first, first
		return nil
	}
	// Another process has begun the lane, or a call of this one that seemed to fail has. That is no harm as long as the next
	// position is ours.
	h, err := readHead(ctx, l.chain.root, l.name)
	if err != nil {
		return err
	}
	if h.next != first {
		return &FencedError{Lane: l.id, Position: first, Run: h.start.Run, Time: h.start.Time}
	}
	kept := l.kept // what Keep was given for this commit
	l.take(h)
	if kept != nil {
		l.kept = kept
	}
	return nil
}

// create creates the record. An error that is no [*FencedError] leaves open whether it is there.
func (l *Lane) create(ctx context.Context, r *Record) error {
	at, content := recordKey(l.dir, r.First), encode(r)
	err := l.chain.root.Create(ctx, at, content)
	if errors.Is(err, fs.ErrExist) {
		err = l.whose(ctx, at, r, content)
	}
	if err != nil {
		return err
	}
	return l.superseded(ctx, r)
}

// whose returns nil if the record that is there is the one that this process has tried to create: over a network, it may have
// been created by a call that seemed to fail.
func (l *Lane) whose(ctx context.Context, at string, r *Record, content []byte) error {
	fenced := &FencedError{Lane: l.id, Position: r.First}
	there, err := l.chain.root.Read(ctx, at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fenced // a checkpoint has it by now
	case err != nil:
		return err
	case bytes.Equal(there, content):
		return nil
	}
	if other, err := decodeRecord(at, l.name, r.First, there); err == nil {
		fenced.Run, fenced.Time = other.Run, other.Time
	}
	return fenced
}

// superseded returns a [*FencedError] if the position was free only because the record that had been there was removed. A
// checkpoint has it in that case, since records are removed only after: the one that this process knows of, or one that follows.
// It is looked for after the record was created. Before, another process could write the checkpoint and remove the record in
// between.
func (l *Lane) superseded(ctx context.Context, r *Record) error {
	for r.First >= l.covered {
		c, err := readCheckpoint(ctx, l.chain.root, l.name, l.covered)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		l.covered, l.since = c.Next, max(0, l.since-c.Count)
	}
	// The record counts for nothing, and is removed to be tidy. Or it is the very one that the checkpoint has: then the
	// checkpoint has to be durable before the record goes, and the process that made it may have died before that.
	err := l.chain.root.Sync(ctx, path.Join(l.dir, checkpointsDir))
	if err == nil {
		err = l.chain.root.Delete(ctx, recordKey(l.dir, r.First))
	}
	if err != nil {
		l.chain.log.Warn("cannot remove a commit record that came too late", "lane", l.id.String(), "error", err)
	}
	return &FencedError{Lane: l.id, Position: r.First}
}
