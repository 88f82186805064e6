package bucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/urlmill/urlmill/sinks/store"
)

// lookAgain is how often a file that seems to be gone is looked for, in about two seconds: another process may be
// publishing it just now, and versitygw for one has neither the upload nor the object for a moment then.
const lookAgain = 6

// filesAtATime is how many files of a commit are looked after at the same time.
const filesAtATime = 16

// gone is the error of an upload that is not there any more, and neither is its object.
func (s *Store) gone(upload, name string) error {
	return &store.GoneError{Token: "upload " + upload, Name: s.URL(name), Rule: s.service.Kept}
}

// each calls f with every file, several at a time, as a commit may have thousands. It returns the first error.
func each(ctx context.Context, files []store.Pending, f func(context.Context, store.Pending) error) error {
	for _, file := range files {
		if err := check(file.Name); err != nil {
			return err
		}
	}
	if len(files) == 1 {
		return f(ctx, files[0])
	}
	var group errgroup.Group
	group.SetLimit(filesAtATime)
	for _, file := range files {
		group.Go(func() error { return f(ctx, file) })
	}
	return group.Wait()
}

// Settle implements [store.Files]. Parts are durable already; that they are still there is what a commit must be sure
// of, since an upload that was aborted cannot be published any more.
func (s *Store) Settle(ctx context.Context, files []store.Pending) error {
	return each(ctx, files, s.settle)
}

func (s *Store) settle(ctx context.Context, f store.Pending) error {
	up, err := s.client.Parts(ctx, f.Name, f.Token)
	if errors.Is(err, ErrNoUpload) {
		return s.gone(f.Token, f.Name)
	}
	if err != nil {
		return err
	}
	if n := up.bytes(); n != f.Bytes {
		return fmt.Errorf("the upload %s of %s has %d bytes after %d were written to it", f.Token, s.URL(f.Name), n, f.Bytes)
	}
	if want, ok := s.sent(f.Token); ok && !same(want, up.Parts) {
		return fmt.Errorf("the upload %s of %s does not have the parts that were sent", f.Token, s.URL(f.Name))
	}
	return nil
}

func (s *Store) sent(token string) ([]Part, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts, ok := s.finished[token]
	return parts, ok
}

// same reports whether parts are those that were sent.
func same(sent, there []Part) bool {
	return slices.EqualFunc(sent, there, func(a, b Part) bool { return a.Number == b.Number && a.Tag == b.Tag })
}

// Publish implements [store.Files].
func (s *Store) Publish(ctx context.Context, files []store.Pending) error {
	return each(ctx, files, func(ctx context.Context, f store.Pending) error {
		err := s.publish(ctx, f)
		if err == nil {
			s.forget(f.Token)
		}
		return err
	})
}

// forget drops what is known of an upload that is over.
func (s *Store) forget(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.finished, token)
}

// publish completes one upload. That it is not there, or not whole, can mean that this was done before, by a request
// whose answer was lost, or that another process is doing it.
func (s *Store) publish(ctx context.Context, f store.Pending) error {
	for attempt := 1; ; attempt++ {
		err := s.complete(ctx, f)
		if errors.Is(err, ErrUncertain) {
			return s.published(ctx, f)
		}
		if err == nil || !errors.Is(err, ErrNoUpload) && !errors.Is(err, ErrDisturbed) {
			return err
		}
		if found := s.published(ctx, f); !isMissing(found) {
			return found
		}
		switch {
		case attempt < lookAgain && s.opts.Wait(ctx, attempt):
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, ErrNoUpload):
			return s.gone(f.Token, f.Name)
		default:
			return err
		}
	}
}

func (s *Store) complete(ctx context.Context, f store.Pending) error {
	parts, ok := s.sent(f.Token)
	if !ok {
		up, err := s.client.Parts(ctx, f.Name, f.Token)
		if err != nil {
			return err
		}
		if n := up.bytes(); n != f.Bytes {
			return fmt.Errorf("%s: %w: it has %d bytes instead of %d", s.URL(f.Name), ErrDisturbed, n, f.Bytes)
		}
		parts = up.Parts
	}
	return s.client.Complete(ctx, f.Name, f.Token, parts, f.Bytes)
}

// published returns nil if a file is there. The error is [fs.ErrNotExist] if it is not, and [fs.ErrExist] if another
// one is.
func (s *Store) published(ctx context.Context, f store.Pending) error {
	head, err := s.client.Head(ctx, f.Name)
	if err != nil {
		return err
	}
	if head.Size != f.Bytes {
		return fmt.Errorf("%s is there already, and is another file: %w", s.URL(f.Name), fs.ErrExist)
	}
	return nil
}

// Discard implements [store.Files].
func (s *Store) Discard(ctx context.Context, files []store.Pending) error {
	return each(ctx, files, func(ctx context.Context, f store.Pending) error {
		err := s.client.Abort(ctx, f.Name, f.Token)
		if err == nil {
			s.forget(f.Token)
		}
		return err
	})
}
