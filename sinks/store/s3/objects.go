package s3

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/urlmill/urlmill/sinks/store"
)

// creationKey is the key of metadata that says which call has created an object.
const creationKey = "urlmill-create"

// Create implements [store.Objects]. A request whose answer was lost is made again, and then finds the object that it
// has created itself; the metadata tells.
func (s *Store) Create(ctx context.Context, key string, content []byte) error {
	if err := check(key); err != nil {
		return err
	}
	creation := rand.Text()
	in := s.newPut(key, content)
	in.IfNoneMatch = aws.String("*")
	in.Metadata = map[string]string{creationKey: creation}
	_, err := s.client.PutObject(ctx, in)
	if err == nil {
		return nil
	}
	switch code(err) {
	case codePrecondition:
		head, headErr := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: s.key(key)})
		switch {
		case headErr == nil && head.Metadata[creationKey] == creation:
			return nil
		case headErr == nil, isMissing(headErr): // it was removed again, and was there all the same
			return &fs.PathError{Op: "create", Path: s.url(key), Err: fs.ErrExist}
		}
		return s.explain("HeadObject", key, headErr)
	case codeNotImplemented:
		return errors.Join(errors.ErrUnsupported, s.explain("PutObject with If-None-Match", key, err))
	}
	return s.explain("PutObject", key, err)
}

// put writes an object, whether or not it is there.
func (s *Store) put(ctx context.Context, key string, content []byte) error {
	_, err := s.client.PutObject(ctx, s.newPut(key, content))
	return s.explain("PutObject", key, err)
}

func (s *Store) newPut(key string, content []byte) *s3.PutObjectInput {
	in := &s3.PutObjectInput{
		Bucket: &s.bucket, Key: s.key(key), Body: bytes.NewReader(content), ContentLength: aws.Int64(int64(len(content))),
		ChecksumCRC32C: s.crc(content),
	}
	in.ServerSideEncryption, in.SSEKMSKeyId = s.opts.sse()
	if strings.HasSuffix(key, ".json") {
		in.ContentType = aws.String("application/json")
	}
	return in
}

// Read implements [store.Objects].
func (s *Store) Read(ctx context.Context, key string) ([]byte, error) {
	if err := check(key); err != nil {
		return nil, err
	}
	var content []byte
	err := s.again(ctx, func() error {
		out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: s.key(key)})
		if err != nil {
			return &finalError{err}
		}
		content, err = readBody(out.Body, out.ContentLength)
		return err
	})
	return content, s.explain("GetObject", key, err)
}

// maxRead bounds what Read takes. The largest that is read whole is the metadata of a table, which has megabytes after thousands of
// snapshots.
const maxRead = 256 << 20

// readBody reads an answer to its end, and does not take a part of it for the whole. The buffer grows with what arrives: size,
// which is nil where the answer does not say it, is no more than what the server claims.
func readBody(body io.ReadCloser, size *int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(body, maxRead+1))
	err = errors.Join(err, body.Close())
	switch {
	case len(content) > maxRead || size != nil && *size > maxRead:
		return nil, &finalError{fmt.Errorf("the answer has more than %d MiB, which nothing has that is read whole", maxRead>>20)}
	case err == nil && size != nil && int64(len(content)) != *size:
		err = io.ErrUnexpectedEOF
	}
	return content, err
}

// finalError is an error of a request that has been repeated already, or that it is no use to repeat.
type finalError struct{ error }

func (e *finalError) Unwrap() error { return e.error }

// again repeats what fails after the answer has begun, which the SDK does not do.
func (s *Store) again(ctx context.Context, f func() error) error {
	var err error
	for attempt := range s.opts.Attempts {
		var final *finalError
		if err = f(); err == nil || errors.As(err, &final) {
			return err
		}
		if !s.wait(ctx, attempt+1) {
			break
		}
	}
	return err
}

// Open implements [store.Objects].
func (s *Store) Open(ctx context.Context, key string) (store.Object, error) {
	if err := check(key); err != nil {
		return nil, err
	}
	head, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: s.key(key)})
	if err != nil {
		return nil, s.explain("HeadObject", key, err)
	}
	return &object{store: s, ctx: context.WithoutCancel(ctx), key: key, size: aws.ToInt64(head.ContentLength), etag: head.ETag}, nil
}

// object implements [store.Object]. Each ReadAt is a request; those who read many small pieces should buffer.
type object struct {
	store *Store
	ctx   context.Context
	key   string
	size  int64
	etag  *string
}

func (o *object) Size() int64  { return o.size }
func (o *object) Close() error { return nil }

func (o *object) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("reading %s at %d", o.store.url(o.key), off)
	}
	n := int(min(int64(len(p)), max(0, o.size-off)))
	if n > 0 {
		err := o.store.again(o.ctx, func() error {
			out, err := o.store.client.GetObject(o.ctx, &s3.GetObjectInput{
				Bucket: &o.store.bucket, Key: o.store.key(o.key), IfMatch: o.etag,
				Range: aws.String(fmt.Sprintf("bytes=%d-%d", off, off+int64(n)-1)),
			})
			if err != nil {
				return &finalError{err}
			}
			_, err = io.ReadFull(out.Body, p[:n])
			return errors.Join(err, out.Body.Close())
		})
		if err != nil {
			return 0, o.store.explain("GetObject", o.key, err)
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// turns are the pages of a listing that were asked for, by their tokens.
type turns map[string]bool

// turn notes the tokens of the next page, if there are more. A server that gives the same again would be asked for ever.
func (t turns) turn(more bool, tokens ...*string) error {
	if !more {
		return nil
	}
	var at strings.Builder
	for _, token := range tokens {
		fmt.Fprintf(&at, "%q", aws.ToString(token))
	}
	if t[at.String()] {
		return errEndless
	}
	t[at.String()] = true
	return nil
}

// errEndless is the error of a listing whose pages repeat.
var errEndless = errors.New("the next page of its listing is one that it has given before, so that the listing has no end")

// List implements [store.Objects].
func (s *Store) List(ctx context.Context, dir, after string) ([]store.Entry, error) {
	if err := check(dir); err != nil {
		return nil, err
	}
	prefix := *s.dir(dir)
	in := &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &prefix, Delimiter: aws.String("/")}
	if after != "" {
		in.StartAfter = aws.String(prefix + after)
	}
	var entries []store.Entry
	pages, seen := s3.NewListObjectsV2Paginator(s.client, in), turns{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err == nil {
			err = seen.turn(pages.HasMorePages(), page.NextContinuationToken)
		}
		if err != nil {
			return nil, s.explain("ListObjectsV2", dir, err)
		}
		add := func(key string, isDir bool) {
			name := strings.TrimSuffix(strings.TrimPrefix(key, prefix), "/")
			if name > after { // not so for the mark of the directory itself, and a directory with the name after
				entries = append(entries, store.Entry{Name: name, Dir: isDir})
			}
		}
		for _, o := range page.Contents {
			add(aws.ToString(o.Key), strings.HasSuffix(aws.ToString(o.Key), "/"))
		}
		for _, p := range page.CommonPrefixes {
			add(aws.ToString(p.Prefix), true)
		}
	}
	// Keys and prefixes come in lists of their own, and an object may have the name of a directory.
	slices.SortFunc(entries, func(a, b store.Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, nil
}

// Delete implements [store.Objects].
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := check(key); err != nil {
		return err
	}
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: s.key(key)})
	if isMissing(err) {
		return nil // S3 does not say so, and others do
	}
	return s.explain("DeleteObject", key, err)
}

// Sync implements [store.Objects]. An object is durable when the request that makes it is answered, and before
// anybody sees it.
func (s *Store) Sync(_ context.Context, dir string) error { return check(dir) }
