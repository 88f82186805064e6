package filesink

import (
	"context"
	"errors"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
)

// publisher is the [committer] for at-least-once delivery: it keeps no positions. Without a record that says which files
// belong together, a process that dies while it publishes them leaves some: their rows are there twice when they have been
// read again.
type publisher struct{ places *commit.Places }

// each calls f for all files, with the store of each, also after errors, and returns those.
func (p publisher) each(ctx context.Context, files []commit.File, f func(context.Context, store.Store, commit.File) error) error {
	var errs []error
	for _, file := range files {
		s, err := p.places.Get(ctx, file.Place)
		if err == nil {
			err = f(ctx, s, file)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Commit implements [committer]. When a file cannot be published, those that were are taken back.
func (p publisher) Commit(ctx context.Context, _ pipeline.Span, files []commit.File) error {
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), p.Discard(ctx, files))
	}
	ctx = context.WithoutCancel(ctx) // half of the files would be rows that are read again
	for i := range files {
		err := p.each(ctx, files[i:i+1], func(ctx context.Context, s store.Store, f commit.File) error {
			return s.Publish(ctx, []store.Pending{f.Pending()})
		})
		if err == nil {
			continue
		}
		undone := p.each(ctx, files[:i+1], func(ctx context.Context, s store.Store, f commit.File) error {
			return s.Delete(ctx, f.Name) // the run and number in the name make it ours
		})
		return errors.Join(err, undone, p.Discard(ctx, files[i:]))
	}
	return nil
}

// Discard implements [committer].
func (p publisher) Discard(ctx context.Context, files []commit.File) error {
	return p.each(context.WithoutCancel(ctx), files, func(ctx context.Context, s store.Store, f commit.File) error {
		return s.Discard(ctx, []store.Pending{f.Pending()})
	})
}
