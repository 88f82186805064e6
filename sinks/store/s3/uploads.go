package s3

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// Begin implements [bucket.Client]. An answer may be lost with the identifier of an upload.
func (c *client) Begin(ctx context.Context, _, name string) (id string, again bool, err error) {
	in := &s3.CreateMultipartUploadInput{
		Bucket: &c.bucket, Key: c.key(name), ChecksumAlgorithm: c.opts.checksumAlgorithm(),
		StorageClass: types.StorageClass(c.opts.StorageClass),
	}
	in.ServerSideEncryption, in.SSEKMSKeyId = c.opts.sse()
	out, err := c.api.CreateMultipartUpload(ctx, in)
	if err != nil {
		return "", false, c.explain("CreateMultipartUpload", name, err)
	}
	tried, ok := retry.GetAttemptResults(out.ResultMetadata)
	return aws.ToString(out.UploadId), ok && len(tried.Results) > 1, nil
}

// Send implements [bucket.Client].
func (c *client) Send(ctx context.Context, name, id string, number int32, content []byte) (bucket.Part, error) {
	sum := c.crc(content)
	out, err := c.api.UploadPart(ctx, &s3.UploadPartInput{
		Bucket: &c.bucket, Key: c.key(name), UploadId: &id, PartNumber: &number, Body: bytes.NewReader(content),
		ContentLength: aws.Int64(int64(len(content))), ChecksumAlgorithm: c.opts.checksumAlgorithm(), ChecksumCRC32C: sum,
	})
	if err != nil {
		return bucket.Part{}, c.explain(fmt.Sprintf("UploadPart %d", number), name, err)
	}
	part := bucket.Part{Number: number, Size: int64(len(content)), Tag: unquote(out.ETag)}
	if out.ChecksumCRC32C != nil {
		part.Sum = *sum
	}
	return part, nil
}

// Parts implements [bucket.Client].
func (c *client) Parts(ctx context.Context, name, id string) (bucket.Uploaded, error) {
	var up bucket.Uploaded
	pages, seen := s3.NewListPartsPaginator(c.api, &s3.ListPartsInput{Bucket: &c.bucket, Key: c.key(name), UploadId: &id}), bucket.Turns{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err == nil {
			err = seen.Turn(pages.HasMorePages(), aws.ToString(page.NextPartNumberMarker))
		}
		if err != nil {
			return up, c.explain("ListParts", name, err)
		}
		for _, p := range page.Parts {
			up.Parts = append(up.Parts, bucket.Part{
				Number: aws.ToInt32(p.PartNumber), Size: aws.ToInt64(p.Size), Tag: unquote(p.ETag), Sum: aws.ToString(p.ChecksumCRC32C),
			})
			if at := aws.ToTime(p.LastModified); at.After(up.Modified) {
				up.Modified = at
			}
		}
	}
	return up, nil
}

// Complete implements [bucket.Client]. The answer begins before the server knows how it ends, and may have no end.
func (c *client) Complete(ctx context.Context, name, id string, parts []bucket.Part, size int64) error {
	all := make([]types.CompletedPart, 0, len(parts))
	for _, p := range parts {
		all = append(all, types.CompletedPart{PartNumber: aws.Int32(p.Number), ETag: aws.String(`"` + p.Tag + `"`), ChecksumCRC32C: optional(p.Sum)})
	}
	out, err := c.api.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
		Bucket: &c.bucket, Key: c.key(name), UploadId: &id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: all}, MpuObjectSize: &size,
	})
	if err == nil && out.ETag == nil {
		return bucket.ErrUncertain
	}
	return c.explain("CompleteMultipartUpload", name, err)
}

// Abort implements [bucket.Client].
func (c *client) Abort(ctx context.Context, name, id string) error {
	_, err := c.api.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &c.bucket, Key: c.key(name), UploadId: &id})
	if code(err) == codeNoSuchUpload || isMissing(err) {
		return nil
	}
	return c.explain("AbortMultipartUpload", name, err)
}

// Uploads implements [bucket.Client]. Those that f aborts are in pages that were read.
func (c *client) Uploads(ctx context.Context, dir string, f func(bucket.Upload)) error {
	root := *c.dir(".")
	pages, seen := s3.NewListMultipartUploadsPaginator(c.api, &s3.ListMultipartUploadsInput{Bucket: &c.bucket, Prefix: c.dir(dir)}), bucket.Turns{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err == nil {
			err = seen.Turn(pages.HasMorePages(), aws.ToString(page.NextKeyMarker), aws.ToString(page.NextUploadIdMarker))
		}
		if err != nil {
			return c.explain("ListMultipartUploads", "", err)
		}
		for _, u := range page.Uploads {
			f(bucket.Upload{Name: strings.TrimPrefix(aws.ToString(u.Key), root), ID: aws.ToString(u.UploadId), Begun: aws.ToTime(u.Initiated)})
		}
	}
	return nil
}
