package s3

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
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
	return &store.GoneError{Token: "upload " + upload, Name: s.url(name), Rule: "nothing but urlmill may abort its uploads; " +
		"a lifecycle rule of the bucket may do so after seven days, see docs/s3.md"}
}

// uploaded is what the server has of an upload.
type uploaded struct {
	parts    sent
	bytes    int64
	modified time.Time // of the part that came last
}

// listParts asks for the parts of an upload.
func (s *Store) listParts(ctx context.Context, f store.Pending) (uploaded, error) {
	var up uploaded
	pages, seen := s3.NewListPartsPaginator(s.client, &s3.ListPartsInput{Bucket: &s.bucket, Key: s.key(f.Name), UploadId: &f.Token}), turns{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err == nil {
			err = seen.turn(pages.HasMorePages(), page.NextPartNumberMarker)
		}
		if err != nil {
			return up, err
		}
		for _, p := range page.Parts {
			up.parts = append(up.parts, types.CompletedPart{PartNumber: p.PartNumber, ETag: p.ETag, ChecksumCRC32C: p.ChecksumCRC32C})
			up.bytes += aws.ToInt64(p.Size)
			if at := aws.ToTime(p.LastModified); at.After(up.modified) {
				up.modified = at
			}
		}
	}
	return up, nil
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
	up, err := s.listParts(ctx, f)
	if code(err) == codeNoSuchUpload {
		return s.gone(f.Token, f.Name)
	}
	if err != nil {
		return s.explain("ListParts", f.Name, err)
	}
	if up.bytes != f.Bytes {
		return fmt.Errorf("the upload %s of %s has %d bytes after %d were written to it", f.Token, s.url(f.Name), up.bytes, f.Bytes)
	}
	if want, ok := s.sent(f.Token); ok && !want.equal(up.parts) {
		return fmt.Errorf("the upload %s of %s does not have the parts that were sent", f.Token, s.url(f.Name))
	}
	return nil
}

func (s *Store) sent(token string) (sent, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts, ok := s.finished[token]
	return parts, ok
}

func (a sent) equal(b sent) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if *a[i].PartNumber != aws.ToInt32(b[i].PartNumber) || unquote(a[i].ETag) != unquote(b[i].ETag) {
			return false
		}
	}
	return true
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
		if err == nil || !isDisturbed(err) {
			return s.explain("CompleteMultipartUpload", f.Name, err)
		}
		if found := s.published(ctx, f); !isMissing(found) {
			return found
		}
		switch {
		case attempt < lookAgain && s.wait(ctx, attempt):
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case code(err) == codeNoSuchUpload:
			return s.gone(f.Token, f.Name)
		default:
			return s.explain("CompleteMultipartUpload", f.Name, err)
		}
	}
}

// errNotWhole is the error of an upload that does not have all of its bytes.
var errNotWhole = errors.New("parts of the upload are missing")

// isDisturbed reports whether an error may come from another process that completes the same upload.
func isDisturbed(err error) bool {
	return code(err) == codeNoSuchUpload || code(err) == codeInvalidPart || errors.Is(err, errNotWhole)
}

func (s *Store) complete(ctx context.Context, f store.Pending) error {
	parts, ok := s.sent(f.Token)
	if !ok {
		up, err := s.listParts(ctx, f)
		if err != nil {
			return err
		}
		if up.bytes != f.Bytes {
			return fmt.Errorf("%w: it has %d bytes instead of %d", errNotWhole, up.bytes, f.Bytes)
		}
		parts = up.parts
	}
	out, err := s.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &s.bucket, Key: s.key(f.Name), UploadId: &f.Token,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: parts}, MpuObjectSize: &f.Bytes,
	})
	if err == nil && out.ETag == nil {
		// The answer begins before the server knows how it ends; this one had no end.
		return s.published(ctx, f)
	}
	return err
}

// published returns nil if a file is there. The error is [fs.ErrNotExist] if it is not, and [fs.ErrExist] if another
// one is.
func (s *Store) published(ctx context.Context, f store.Pending) error {
	head, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: s.key(f.Name)})
	if err != nil {
		return s.explain("HeadObject", f.Name, err)
	}
	if aws.ToInt64(head.ContentLength) != f.Bytes {
		return fmt.Errorf("%s is there already, and is another file: %w", s.url(f.Name), fs.ErrExist)
	}
	return nil
}

// Discard implements [store.Files].
func (s *Store) Discard(ctx context.Context, files []store.Pending) error {
	return each(ctx, files, func(ctx context.Context, f store.Pending) error {
		err := s.abort(ctx, f.Name, f.Token)
		if err == nil {
			s.forget(f.Token)
		}
		return err
	})
}

// abort removes an upload, and is content if it is not there.
func (s *Store) abort(ctx context.Context, name, upload string) error {
	_, err := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &s.bucket, Key: s.key(name), UploadId: &upload})
	if code(err) == codeNoSuchUpload || isMissing(err) {
		return nil
	}
	return s.explain("AbortMultipartUpload", name, err)
}
