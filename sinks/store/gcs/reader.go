package gcs

import (
	"context"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// ReaderOptions are how to reach a bucket whose objects are read. They implement [objstore.Options].
type ReaderOptions struct {
	Options
	// Subscription is that of Pub/Sub with the notifications of the bucket, projects/PROJECT/subscriptions/NAME, "" for none.
	Subscription string
}

// NewReader returns the options of a configuration that says nothing.
func NewReader() *ReaderOptions { return &ReaderOptions{Options: Options{section: "source.file.gcs"}} }

// Section returns the section that the options are bound to.
func (o *ReaderOptions) Section() config.Section {
	return config.Section{Fields: append(bucket.ReadFields(o.Options.Section().Fields),
		config.Field{Name: "anonymous", Doc: "Requests without credentials, for buckets that everybody may read.", Value: config.Bool(&o.anonymous)},
		config.Field{Name: "user_project", Doc: "The project that pays for requests and bytes, where the bucket has its requesters pay.", Value: config.Text(&o.payer, "my-project")},
		config.Field{Name: "subscription", Doc: "Subscription of Pub/Sub in which the bucket says that objects are new: new ones are read as their messages come, and the run does not end.", Value: config.Text(&o.Subscription, "projects/my-project/subscriptions/new-logs")},
	)}
}

// CheckBucket implements [objstore.Options].
func (o *ReaderOptions) CheckBucket(name string) error { return CheckPlace(Scheme + name) }

// Open implements [objstore.Options].
func (o *ReaderOptions) Open(name string, log *slog.Logger) (objstore.Store, objstore.Trouble, error) {
	options := o.Options
	options.Options = options.WithDefaults()
	options.Log = log
	return &reader{options.client(name, "", options.HTTPClient(options.Transport), newTokens(options, options.endpoint(), scope))}, options.Trouble, nil
}

// reader implements [objstore.Store]. The ETag of an object is its generation.
type reader struct{ *client }

// List implements [objstore.Store]. A listing begins at a key, and not behind it: one object more is asked for, which is left out.
func (r *reader) List(ctx context.Context, prefix, after string, limit int) (page []objstore.Object, more bool, err error) {
	q := url.Values{"prefix": {prefix}, "fields": {"nextPageToken,items(name,size,generation)"}, "maxResults": {strconv.Itoa(limit)}}
	if after != "" {
		q.Set("startOffset", after)
		q.Set("maxResults", strconv.Itoa(limit+1)) // the service itself gives 1,000 at most
	}
	for seen := (bucket.Turns{}); ; {
		all, err := r.listing(ctx, prefix, q)
		if err != nil {
			return nil, false, err
		}
		for _, o := range all.Items {
			if o.Name != after {
				page = append(page, objstore.Object{Key: o.Name, Size: o.Size, ETag: strconv.FormatInt(o.Generation, 10)})
			}
		}
		if len(page) > limit { // the object after was removed
			return page[:limit], true, nil
		}
		if all.Next == "" || len(page) > 0 {
			return page, all.Next != "", nil
		}
		if seen.Turn(true, all.Next) != nil {
			return nil, false, r.Endless("objects.list", prefix)
		}
		q.Set("pageToken", all.Next)
	}
}

// Dirs implements [objstore.Store].
func (r *reader) Dirs(ctx context.Context, prefix string, each func(dirs []string) bool) error {
	q := url.Values{"prefix": {prefix}, "delimiter": {"/"}, "fields": {"nextPageToken,prefixes"}}
	for seen := (bucket.Turns{}); ; {
		page, err := r.listing(ctx, prefix, q)
		if err != nil || !each(page.Prefixes) || page.Next == "" {
			return err
		}
		if seen.Turn(true, page.Next) != nil {
			return r.Endless("objects.list", prefix)
		}
		q.Set("pageToken", page.Next)
	}
}

// Stat implements [objstore.Store].
func (r *reader) Stat(ctx context.Context, key string) (objstore.Object, error) {
	o, err := decode[resource](r.Do(ctx, bucket.Call{
		Operation: "objects.get", Key: key, Object: true, Method: http.MethodGet, URL: r.objects + "/" + url.PathEscape(key) + "?fields=size,generation",
	}))
	return objstore.Object{Key: key, Size: o.Size, ETag: strconv.FormatInt(o.Generation, 10)}, err
}

// Open implements [objstore.Store]. The generation is a condition and not the name of a version: of one that was replaced a bucket without
// versions would say that the object is not there.
func (r *reader) Open(ctx context.Context, o objstore.Object, off, n int64) (io.ReadCloser, error) {
	return r.Requests.Open(ctx, r.download(o, off, n))
}

// Sum implements [objstore.Summer].
func (r *reader) Sum(ctx context.Context, o objstore.Object) (want []byte, sum hash.Hash, err error) {
	return r.Checksum(ctx, r.download(o, 0, -1))
}

func (r *reader) download(o objstore.Object, off, n int64) bucket.Download {
	return bucket.Download{
		Call: bucket.Call{
			Operation: "objects.get", Key: o.Key, Object: true, Method: http.MethodGet, Header: raw,
			URL: r.objects + "/" + url.PathEscape(o.Key) + "?alt=media&ifGenerationMatch=" + url.QueryEscape(o.ETag),
		},
		Off: off, N: n, Check: func(h http.Header) error { // for servers that ignore the condition
			if g := h.Get("X-Goog-Generation"); g != "" && g != o.ETag {
				return objstore.ErrChanged
			}
			return nil
		},
		Sum: checksum, Alone: alone,
	}
}

// checksum returns the one that an answer has of the bytes as they are stored.
func checksum(h http.Header) ([]byte, hash.Hash) {
	for _, value := range h.Values("X-Goog-Hash") {
		for part := range strings.SplitSeq(value, ",") {
			if text, ok := strings.CutPrefix(strings.TrimSpace(part), "crc32c="); ok {
				if want, err := base64.StdEncoding.DecodeString(text); err == nil {
					return want, crc32.New(castagnoli)
				}
			}
		}
	}
	return nil, nil
}

// customerKey is the code of an answer about an object whose key of encryption requests have to bring, and kmsKey begins those about a
// key of the key management that cannot be used.
const customerKey, kmsKey = "resourceIsEncryptedWithCustomerEncryptionKey", "cloudKms"

// alone reports whether an answer with a code is about one object, and not about all.
func alone(code string) bool {
	return code == "forbidden" || code == customerKey || strings.HasPrefix(code, kmsKey)
}
