package azure

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// ReaderOptions are how to reach a container whose blobs are read. They implement [objstore.Options].
type ReaderOptions struct {
	Options
	// QueueURL is the URL of the storage queue with the notifications of the container, "" for none.
	QueueURL string
}

// NewReader returns the options of a configuration that says nothing.
func NewReader() *ReaderOptions {
	return &ReaderOptions{Options: Options{section: "source.file.azure"}}
}

// Section returns the section that the options are bound to.
func (o *ReaderOptions) Section() config.Section {
	return config.Section{Fields: append(bucket.ReadFields(o.Options.Section().Fields),
		config.Field{Name: "anonymous", Doc: "Requests without credentials, for containers that everybody may read.", Value: config.Bool(&o.anonymous)},
		config.Field{Name: "queue", Doc: "URL of the storage queue in which Event Grid says that blobs are new: new ones are read as their messages come, and the run does not end.", Value: config.Text(&o.QueueURL, "https://account.queue.core.windows.net/new-logs")},
	)}
}

// CheckBucket implements [objstore.Options]. The name is account/container.
func (o *ReaderOptions) CheckBucket(name string) error { return CheckPlace(Scheme + name) }

// Open implements [objstore.Options].
func (o *ReaderOptions) Open(name string, log *slog.Logger) (objstore.Store, objstore.Trouble, error) {
	options := o.Options
	options.Options = options.WithDefaults()
	options.Log = log
	account, container, _ := strings.Cut(name, "/")
	c, err := options.client(account, container, "", options.HTTPClient(options.Transport))
	return &reader{client: c, marks: map[string]mark{}}, options.Trouble, err
}

// reader implements [objstore.Store].
type reader struct {
	*client

	mu    sync.Mutex
	marks map[string]mark // where the last listing of a prefix has come to
}

// mark is a place in a listing: names that are greater than after come from the marker on.
type mark struct{ after, marker string }

// List implements [objstore.Store]. A listing cannot begin at a name. It begins at the last marker that is known to be before it, or else
// at its beginning, and what is before the name is left out.
func (r *reader) List(ctx context.Context, prefix, after string, limit int) (found []objstore.Object, more bool, err error) {
	r.mu.Lock()
	at := r.marks[prefix]
	r.mu.Unlock()
	if at.after > after {
		at = mark{}
	}
	q := listing(prefix)
	q.Set("maxresults", strconv.Itoa(limit))
	for seen := (bucket.Turns{}); ; {
		if at.marker != "" {
			q.Set("marker", at.marker)
		}
		p, err := r.page(ctx, prefix, q)
		if err != nil {
			return nil, false, err
		}
		for _, b := range p.Blobs.Blob {
			if b.Properties.Type == "directory" {
				continue
			}
			// A name that is out of order is not left out: the caller refuses a listing that has one.
			if b.Name > after || b.Name <= at.after {
				found = append(found, objstore.Object{Key: b.Name, Size: b.Properties.Size, ETag: b.Properties.ETag})
			}
			at.after = max(at.after, b.Name)
		}
		if at.marker = p.Next; at.marker != "" && limit > 1 { // a look at a single blob is not gone on with
			r.mu.Lock()
			r.marks[prefix] = at
			r.mu.Unlock()
		}
		if p.Next == "" || len(found) > 0 {
			return found, p.Next != "", nil
		}
		if seen.Turn(true, p.Next) != nil {
			return nil, false, r.Endless("List Blobs", prefix)
		}
	}
}

// Dirs implements [objstore.Store].
func (r *reader) Dirs(ctx context.Context, prefix string, each func(dirs []string) bool) error {
	q := listing(prefix)
	q.Set("delimiter", "/")
	for seen := (bucket.Turns{}); ; {
		p, err := r.page(ctx, prefix, q)
		if err != nil {
			return err
		}
		dirs := make([]string, 0, len(p.Blobs.BlobPrefix))
		for _, b := range p.Blobs.BlobPrefix {
			dirs = append(dirs, b.Name)
		}
		if !each(dirs) || p.Next == "" {
			return nil
		}
		if seen.Turn(true, p.Next) != nil {
			return r.Endless("List Blobs", prefix)
		}
		q.Set("marker", p.Next)
	}
}

// Stat implements [objstore.Store].
func (r *reader) Stat(ctx context.Context, key string) (objstore.Object, error) {
	a, err := r.Do(ctx, bucket.Call{Operation: "Get Blob Properties", Key: key, Object: true, Method: http.MethodHead, URL: r.whole(key)})
	if err != nil {
		return objstore.Object{}, err
	}
	size, err := strconv.ParseInt(a.Header.Get("Content-Length"), 10, 64)
	if err != nil {
		return objstore.Object{}, fmt.Errorf("the server does not say how long %s is", r.URL(key))
	}
	return objstore.Object{Key: key, Size: size, ETag: strings.Trim(a.Header.Get("ETag"), `"`)}, nil // a listing has it without quotes
}

// Open implements [objstore.Store].
func (r *reader) Open(ctx context.Context, o objstore.Object, off, n int64) (io.ReadCloser, error) {
	return r.Requests.Open(ctx, r.download(o, off, n))
}

// Sum implements [objstore.Summer].
func (r *reader) Sum(ctx context.Context, o objstore.Object) (want []byte, sum hash.Hash, err error) {
	return r.Checksum(ctx, r.download(o, 0, -1))
}

func (r *reader) download(o objstore.Object, off, n int64) bucket.Download {
	h := raw()
	h.Set("If-Match", o.ETag)
	return bucket.Download{
		Call: bucket.Call{Operation: "Get Blob", Key: o.Key, Object: true, Method: http.MethodGet, URL: r.whole(o.Key), Header: h},
		Off:  off, N: n, Sum: checksum, Alone: alone,
	}
}

// checksum returns the one that an answer has of a whole blob, if its writer has left one.
func checksum(h http.Header) ([]byte, hash.Hash) {
	if want, err := base64.StdEncoding.DecodeString(h.Get("Content-MD5")); err == nil && len(want) == md5.Size {
		return want, md5.New()
	}
	return nil, nil
}

// alone reports whether an answer with a code is about one blob, and not about all.
func alone(code string) bool {
	switch code {
	case "BlobArchived", "BlobBeingRehydrated", "BlobUsesCustomerSpecifiedEncryption", "AuthorizationPermissionMismatch":
		return true
	}
	return false
}
