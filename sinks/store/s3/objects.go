package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// creationKey is the key of metadata that says which call has created an object.
const creationKey = "urlmill-create"

// client implements [bucket.Client].
type client struct {
	bucket.Place
	api    *s3.Client
	opts   Options
	bucket string
}

// key returns the whole key of one that is relative to the prefix.
func (c *client) key(key string) *string { return aws.String(c.Key(key)) }

// dir returns what the keys of everything in a directory begin with.
func (c *client) dir(dir string) *string { return aws.String(c.Dir(dir)) }

// Check implements [bucket.Client].
func (c *client) Check(ctx context.Context) error {
	_, err := c.api.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &c.bucket})
	return c.explain("HeadBucket", "", err)
}

// Create implements [bucket.Client].
func (c *client) Create(ctx context.Context, key string, content []byte, creation string) error {
	in := c.newPut(key, content)
	in.IfNoneMatch = aws.String("*")
	in.Metadata = map[string]string{creationKey: creation}
	_, err := c.api.PutObject(ctx, in)
	switch code(err) {
	case codePrecondition:
		return fs.ErrExist
	case codeNotImplemented:
		return errors.Join(errors.ErrUnsupported, c.explain("PutObject with If-None-Match", key, err))
	}
	return c.explain("PutObject", key, err)
}

// Put implements [bucket.Client].
func (c *client) Put(ctx context.Context, key string, content []byte) error {
	_, err := c.api.PutObject(ctx, c.newPut(key, content))
	return c.explain("PutObject", key, err)
}

func (c *client) newPut(key string, content []byte) *s3.PutObjectInput {
	in := &s3.PutObjectInput{
		Bucket: &c.bucket, Key: c.key(key), Body: bytes.NewReader(content), ContentLength: aws.Int64(int64(len(content))),
		ChecksumCRC32C: c.crc(content),
	}
	in.ServerSideEncryption, in.SSEKMSKeyId = c.opts.sse()
	if strings.HasSuffix(key, ".json") {
		in.ContentType = aws.String("application/json")
	}
	return in
}

// Head implements [bucket.Client].
func (c *client) Head(ctx context.Context, key string) (bucket.Info, error) {
	head, err := c.api.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &c.bucket, Key: c.key(key)})
	if err != nil {
		return bucket.Info{}, c.explain("HeadObject", key, err)
	}
	return bucket.Info{
		Key: key, Size: aws.ToInt64(head.ContentLength), Version: aws.ToString(head.ETag), Creation: head.Metadata[creationKey], Modified: aws.ToTime(head.LastModified),
	}, nil
}

// Read implements [bucket.Client].
func (c *client) Read(ctx context.Context, key string) ([]byte, error) {
	var content []byte
	err := c.again(ctx, func() error {
		out, err := c.api.GetObject(ctx, &s3.GetObjectInput{Bucket: &c.bucket, Key: c.key(key)})
		if err != nil {
			return &finalError{err}
		}
		content, err = readBody(out.Body, out.ContentLength)
		return err
	})
	return content, c.explain("GetObject", key, err)
}

// readBody reads an answer to its end, and does not take a part of it for the whole. The buffer grows with what arrives: size,
// which is nil where the answer does not say it, is no more than what the server claims.
func readBody(body io.ReadCloser, size *int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(body, bucket.MaxRead+1))
	err = errors.Join(err, body.Close())
	switch {
	case len(content) > bucket.MaxRead || size != nil && *size > bucket.MaxRead:
		return nil, &finalError{fmt.Errorf("the answer has more than %d MiB, which nothing has that is read whole", bucket.MaxRead>>20)}
	case err == nil && size != nil && int64(len(content)) != *size:
		err = io.ErrUnexpectedEOF
	}
	return content, err
}

// finalError is an error of a request that has been repeated already, or that it is no use to repeat.
type finalError struct{ error }

func (e *finalError) Unwrap() error { return e.error }

// again repeats what fails after the answer has begun, which the SDK does not do.
func (c *client) again(ctx context.Context, f func() error) error {
	var err error
	for attempt := range c.opts.Attempts {
		var final *finalError
		if err = f(); err == nil || errors.As(err, &final) {
			return err
		}
		if !c.opts.Wait(ctx, attempt+1) {
			break
		}
	}
	return err
}

// ReadAt implements [bucket.Client].
func (c *client) ReadAt(ctx context.Context, key, version string, p []byte, off int64) error {
	err := c.again(ctx, func() error {
		out, err := c.api.GetObject(ctx, &s3.GetObjectInput{
			Bucket: &c.bucket, Key: c.key(key), IfMatch: optional(version),
			Range: aws.String(fmt.Sprintf("bytes=%d-%d", off, off+int64(len(p))-1)),
		})
		if err != nil {
			return &finalError{err}
		}
		_, err = io.ReadFull(out.Body, p)
		return errors.Join(err, out.Body.Close())
	})
	return c.explain("GetObject", key, err)
}

// List implements [bucket.Client].
func (c *client) List(ctx context.Context, dir, after string, deep bool, f func(bucket.Info)) error {
	prefix := c.dir(dir)
	in := &s3.ListObjectsV2Input{Bucket: &c.bucket, Prefix: prefix}
	if !deep {
		in.Delimiter = aws.String("/")
	}
	if after != "" {
		in.StartAfter = aws.String(*prefix + after)
	}
	root := *c.dir(".")
	pages, seen := s3.NewListObjectsV2Paginator(c.api, in), bucket.Turns{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err == nil {
			err = seen.Turn(pages.HasMorePages(), aws.ToString(page.NextContinuationToken))
		}
		if err != nil {
			return c.explain("ListObjectsV2", dir, err)
		}
		for _, o := range page.Contents {
			f(bucket.Info{
				Key: strings.TrimPrefix(aws.ToString(o.Key), root), Size: aws.ToInt64(o.Size), Version: aws.ToString(o.ETag), Modified: aws.ToTime(o.LastModified),
			})
		}
		for _, p := range page.CommonPrefixes {
			f(bucket.Info{Key: strings.TrimPrefix(aws.ToString(p.Prefix), root), Dir: true})
		}
	}
	return nil
}

// Delete implements [bucket.Client].
func (c *client) Delete(ctx context.Context, key string) error {
	_, err := c.api.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &c.bucket, Key: c.key(key)})
	if isMissing(err) {
		return nil // S3 does not say so, and others do
	}
	return c.explain("DeleteObject", key, err)
}
