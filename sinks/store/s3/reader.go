package s3

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// ReaderOptions are how to reach a bucket whose objects are read. They implement [objstore.Options].
type ReaderOptions struct {
	Options
	// Anonymous sends requests without credentials, for buckets that everybody may read.
	Anonymous bool
	// RequesterPays says that the owner of the credentials pays for requests and bytes.
	RequesterPays bool
	// QueueURL is the URL of the queue of Amazon SQS with the notifications of the bucket, "" for none.
	QueueURL string
}

// NewReader returns the options of a configuration that says nothing.
func NewReader() *ReaderOptions { return &ReaderOptions{Options: Options{section: "source.file.s3"}} }

// Section returns the section that the options are bound to.
func (o *ReaderOptions) Section() config.Section {
	return config.Section{Fields: append(bucket.ReadFields(o.Options.Section().Fields, "region", "addressing", "profile", "customer_key"),
		config.Field{Name: "anonymous", Doc: "Requests without credentials, for buckets that everybody may read.", Value: config.Bool(&o.Anonymous)},
		config.Field{Name: "requester_pays", Doc: "The owner of the credentials pays for requests and bytes, where the bucket's owner does not.", Value: config.Bool(&o.RequesterPays)},
		config.Field{Name: "queue", Doc: "URL of the queue of Amazon SQS in which the bucket says that objects are new: new ones are read as their messages come, and the run does not end.", Value: config.Text(&o.QueueURL, "https://sqs.eu-central-1.amazonaws.com/111122223333/new-logs")},
	)}
}

// CheckBucket implements [objstore.Options].
func (o *ReaderOptions) CheckBucket(name string) error {
	_, _, err := ParseLocation(Scheme + name)
	return err
}

// Open implements [objstore.Options].
func (o *ReaderOptions) Open(name string, log *slog.Logger) (objstore.Store, objstore.Trouble, error) {
	options := o.Options.withDefaults()
	options.Trouble, options.Log = new(Trouble), log
	if o.Anonymous {
		options.Credentials = aws.AnonymousCredentials{}
	}
	api, err := newClient(context.Background(), options)
	if err != nil {
		return nil, nil, err
	}
	r := &reader{at: &client{Place: bucket.Place{Root: Scheme + name}, api: api, opts: options, bucket: name}}
	if o.RequesterPays {
		r.payer = types.RequestPayerRequester
	}
	return r, options.Trouble, nil
}

// reader implements [objstore.Store].
type reader struct {
	at    *client // the whole bucket
	payer types.RequestPayer
}

// List implements [objstore.Store]. A page begins at a key and not at a token, so that it may be asked for by another process.
func (r *reader) List(ctx context.Context, prefix, after string, limit int) (page []objstore.Object, more bool, err error) {
	out, err := r.at.api.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
		Bucket: &r.at.bucket, Prefix: &prefix, StartAfter: optional(after), MaxKeys: aws.Int32(int32(limit)), RequestPayer: r.payer,
	})
	if err != nil {
		return nil, false, r.at.explain("ListObjectsV2", "", err)
	}
	page = make([]objstore.Object, 0, len(out.Contents))
	for _, o := range out.Contents {
		page = append(page, objstore.Object{Key: aws.ToString(o.Key), Size: aws.ToInt64(o.Size), ETag: aws.ToString(o.ETag)})
	}
	return page, aws.ToBool(out.IsTruncated), nil
}

// Dirs implements [objstore.Store].
func (r *reader) Dirs(ctx context.Context, prefix string, each func(dirs []string) bool) error {
	pages, seen := s3.NewListObjectsV2Paginator(r.at.api, &s3.ListObjectsV2Input{
		Bucket: &r.at.bucket, Prefix: &prefix, Delimiter: aws.String("/"), RequestPayer: r.payer,
	}), bucket.Turns{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err == nil {
			err = seen.Turn(pages.HasMorePages(), aws.ToString(page.NextContinuationToken))
		}
		if err != nil {
			return r.at.explain("ListObjectsV2", "", err)
		}
		dirs := make([]string, 0, len(page.CommonPrefixes))
		for _, p := range page.CommonPrefixes {
			dirs = append(dirs, aws.ToString(p.Prefix))
		}
		if !each(dirs) {
			return nil
		}
	}
	return nil
}

// Stat implements [objstore.Store].
func (r *reader) Stat(ctx context.Context, key string) (objstore.Object, error) {
	head, err := r.at.api.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &r.at.bucket, Key: &key, RequestPayer: r.payer})
	if err != nil {
		return objstore.Object{}, r.at.explain("HeadObject", key, err)
	}
	return objstore.Object{Key: key, Size: aws.ToInt64(head.ContentLength), ETag: aws.ToString(head.ETag)}, nil
}

// Open implements [objstore.Store]. The store compares the ETag, and the SDK the checksum of an object that is read whole.
func (r *reader) Open(ctx context.Context, o objstore.Object, off, n int64) (io.ReadCloser, error) {
	in := &s3.GetObjectInput{Bucket: &r.at.bucket, Key: &o.Key, IfMatch: optional(o.ETag), RequestPayer: r.payer}
	switch {
	case n >= 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	case off > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", off))
	default: // some servers send the checksum of the whole object with a part of it
		in.ChecksumMode = types.ChecksumModeEnabled
	}
	out, err := r.at.api.GetObject(ctx, in, func(s *s3.Options) { s.DisableLogOutputChecksumValidationSkipped = true })
	switch {
	case err == nil && unquote(out.ETag) != unquote(&o.ETag) && out.ETag != nil: // of a server that ignores If-Match
		return nil, errors.Join(objstore.ErrChanged, out.Body.Close())
	case err == nil && in.Range != nil && out.ContentRange == nil:
		return nil, errors.Join(fmt.Errorf("GetObject %s: %w: read from another server", r.at.URL(o.Key), errWhole), out.Body.Close())
	case err == nil:
		return out.Body, nil
	}
	switch c := code(err); {
	case c == codePrecondition:
		return nil, objstore.ErrChanged
	case status(err) == http.StatusBadRequest && (c == "InvalidRequest" || c == "InvalidArgument") && r.at.opts.section != "":
		return nil, fmt.Errorf("%w: it may be encrypted with a key that requests have to bring: set %s, or leave it out of the paths: %w",
			objstore.ErrUnreadable, r.at.opts.service().Option("customer_key"), err)
	case c == "InvalidObjectState":
		return nil, fmt.Errorf("%w: it is archived; restore it, or leave it out of the paths: %w", objstore.ErrUnreadable, err)
	case c == "AccessDenied", strings.HasPrefix(c, "KMS."):
		return nil, errors.Join(objstore.ErrUnreadable, r.at.explain("GetObject", o.Key, err), fs.ErrPermission)
	}
	return nil, r.at.explain("GetObject", o.Key, err)
}

// errWhole is the error of a server that ignores ranges.
var errWhole = errors.New("the server does not send a part of an object where one is asked for")

// Sum implements [objstore.Summer]. A composite checksum, which is one of the checksums of parts, is none of the object.
func (r *reader) Sum(ctx context.Context, o objstore.Object) (want []byte, sum hash.Hash, err error) {
	out, err := r.at.api.HeadObject(ctx, &s3.HeadObjectInput{
		Bucket: &r.at.bucket, Key: &o.Key, IfMatch: optional(o.ETag), RequestPayer: r.payer, ChecksumMode: types.ChecksumModeEnabled,
	})
	if err != nil {
		return nil, nil, r.at.explain("HeadObject", o.Key, err)
	}
	for _, c := range []struct {
		text *string
		sum  func() hash.Hash
	}{
		{out.ChecksumCRC64NVME, func() hash.Hash { return crc64.New(nvme) }},
		{out.ChecksumCRC32C, func() hash.Hash { return crc32.New(castagnoli) }},
		{out.ChecksumCRC32, func() hash.Hash { return crc32.NewIEEE() }},
	} {
		if c.text == nil || out.ChecksumType == types.ChecksumTypeComposite {
			continue
		}
		if want, err := base64.StdEncoding.DecodeString(*c.text); err == nil {
			return want, c.sum(), nil
		}
	}
	return nil, nil, nil
}
