package gcs

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// composed is how many objects one request composes.
const composed = 32

// creationKey is the key of metadata that says which call has created an object.
const creationKey = "urlmill-create"

// castagnoli is computed by the CPU, at 10 GB/s and more.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// client implements [bucket.Client].
type client struct {
	bucket.Requests
	bucket.Staged
	objects string // the URL of the bucket's objects
	uploads string // where they are sent to
}

func newClient(name string, q bucket.Requests, endpoint string) *client {
	c := &client{Requests: q, objects: endpoint + "/storage/v1/b/" + name + "/o", uploads: endpoint + "/upload/storage/v1/b/" + name + "/o"}
	c.Staged = bucket.Staged{Put: c.Put, List: c.List, Head: c.Head, Delete: c.remove}
	return c
}

// resource is an object as the API says it.
type resource struct {
	Name       string            `json:"name,omitempty"`
	Size       int64             `json:"size,omitempty,string"`
	Generation int64             `json:"generation,omitempty,string"`
	Updated    time.Time         `json:"updated,omitzero"`
	CRC32C     string            `json:"crc32c,omitempty"`
	Type       string            `json:"contentType,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
}

func (c *client) info(r resource) bucket.Info {
	key := r.Name
	if c.Prefix != "" {
		key = strings.TrimPrefix(key, c.Prefix+"/")
	}
	return bucket.Info{
		Key: key, Size: r.Size, Version: strconv.FormatInt(r.Generation, 10), Sum: r.CRC32C, Creation: r.Metadata[creationKey], Modified: r.Updated,
	}
}

// object returns the URL of an object.
func (c *client) object(key string) string { return c.objects + "/" + url.PathEscape(c.Key(key)) }

// decode reads an answer.
func decode[T any](a *bucket.Answer, err error) (answer T, _ error) {
	if err == nil {
		if err = json.Unmarshal(a.Body, &answer); err != nil {
			err = fmt.Errorf("the answer of the server is not JSON: %w", err)
		}
	}
	return answer, err
}

// Check implements [bucket.Client]. It asks for what every role for objects allows, which the properties of the bucket are not.
func (c *client) Check(ctx context.Context) error {
	_, err := c.Do(ctx, bucket.Call{Operation: "objects.list", Method: http.MethodGet, URL: c.objects + "?maxResults=1&fields=nextPageToken&prefix=" + url.QueryEscape(c.Dir("_tmp"))})
	return err
}

// Create implements [bucket.Client].
func (c *client) Create(ctx context.Context, key string, content []byte, creation string) error {
	_, err := c.insert(ctx, key, content, creation)
	if isStatus(err, http.StatusPreconditionFailed) {
		return fs.ErrExist
	}
	return err
}

// Put implements [bucket.Client].
func (c *client) Put(ctx context.Context, key string, content []byte) error {
	_, err := c.insert(ctx, key, content, "")
	return err
}

// boundary is between the parts of a request. The length of the last one says where it ends: content may hold it.
const boundary = "urlmill-c8f1b0a9e7d24653"

// insert makes an object, one that must not be there if it has a creation.
func (c *client) insert(ctx context.Context, key string, content []byte, creation string) (resource, error) {
	about := resource{
		Name: c.Key(key), Type: contentType(key),
		CRC32C: base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.Checksum(content, castagnoli))),
	}
	query := "?uploadType=multipart&fields=crc32c"
	if creation != "" {
		about.Metadata = map[string]string{creationKey: creation}
		query += "&ifGenerationMatch=0"
	}
	head, err := json.Marshal(about)
	if err != nil {
		return resource{}, err
	}
	head = fmt.Appendf(nil, "--%s\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n%s\r\n--%s\r\nContent-Type: %s\r\n\r\n", boundary, head, boundary, about.Type)
	return decode[resource](c.Do(ctx, bucket.Call{
		Operation: "objects.insert", Key: key, Method: http.MethodPost, URL: c.uploads + query,
		Header: http.Header{"Content-Type": {"multipart/related; boundary=" + boundary}},
		Body:   [][]byte{head, content, []byte("\r\n--" + boundary + "--\r\n")},
	}))
}

func contentType(key string) string {
	if strings.HasSuffix(key, ".json") {
		return "application/json"
	}
	return "application/octet-stream"
}

func isStatus(err error, status int) bool {
	var e *bucket.StatusError
	return errors.As(err, &e) && e.Status == status
}

// Head implements [bucket.Client].
func (c *client) Head(ctx context.Context, key string) (bucket.Info, error) {
	r, err := decode[resource](c.Do(ctx, bucket.Call{
		Operation: "objects.get", Key: key, Object: true, Method: http.MethodGet, URL: c.object(key) + "?fields=name,size,generation,updated,metadata",
	}))
	return c.info(r), err
}

// raw asks for the bytes as they are stored.
var raw = http.Header{"Accept-Encoding": {"gzip"}}

// Read implements [bucket.Client].
func (c *client) Read(ctx context.Context, key string) ([]byte, error) {
	a, err := c.Do(ctx, bucket.Call{Operation: "objects.get", Key: key, Object: true, Method: http.MethodGet, URL: c.object(key) + "?alt=media", Header: raw})
	if err != nil {
		return nil, err
	}
	return a.Body, nil
}

// ReadAt implements [bucket.Client].
func (c *client) ReadAt(ctx context.Context, key, version string, p []byte, off int64) error {
	h := raw.Clone()
	h.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+int64(len(p))-1))
	_, err := c.Do(ctx, bucket.Call{
		Operation: "objects.get", Key: key, Object: true, Method: http.MethodGet, URL: c.object(key) + "?alt=media&generation=" + url.QueryEscape(version), Header: h, Into: p,
	})
	return err
}

// List implements [bucket.Client].
func (c *client) List(ctx context.Context, dir, after string, deep bool, f func(bucket.Info)) error {
	prefix := c.Dir(dir)
	q := url.Values{"prefix": {prefix}, "fields": {"nextPageToken,prefixes,items(name,size,generation,updated,crc32c)"}}
	if !deep {
		q.Set("delimiter", "/")
	}
	if after != "" {
		q.Set("startOffset", prefix+after) // begins with it; the store leaves that out
	}
	for seen := (bucket.Turns{}); ; {
		page, err := c.listing(ctx, dir, q)
		if err != nil {
			return err
		}
		for _, r := range page.Items {
			f(c.info(r))
		}
		for _, p := range page.Prefixes {
			i := c.info(resource{Name: p})
			i.Dir = true
			f(i)
		}
		if page.Next == "" {
			return nil
		}
		if seen.Turn(true, page.Next) != nil {
			return c.Endless("objects.list", dir)
		}
		q.Set("pageToken", page.Next)
	}
}

// page is one of a listing.
type page struct {
	Next     string     `json:"nextPageToken"`
	Prefixes []string   `json:"prefixes"`
	Items    []resource `json:"items"`
}

// listing returns the page that a query asks for.
func (c *client) listing(ctx context.Context, key string, q url.Values) (page, error) {
	return decode[page](c.Do(ctx, bucket.Call{Operation: "objects.list", Key: key, Method: http.MethodGet, URL: c.objects + "?" + q.Encode()}))
}

// Delete implements [bucket.Client]. What is left of the upload of a data file goes first: a request of another process to compose the
// file, which is late, would make it again.
func (c *client) Delete(ctx context.Context, key string) error {
	if run := bucket.RunOf(key); run != "" {
		if err := c.Abort(ctx, key, bucket.ID(run, key)); err != nil {
			return err
		}
	}
	return c.remove(ctx, key)
}

func (c *client) remove(ctx context.Context, key string) error {
	_, err := c.Do(ctx, bucket.Call{Operation: "objects.delete", Key: key, Object: true, Method: http.MethodDelete, URL: c.object(key)})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Send implements [bucket.Client].
func (c *client) Send(ctx context.Context, name, id string, number int32, content []byte) (bucket.Part, error) {
	if err := bucket.CheckID(name, id); err != nil {
		return bucket.Part{}, err
	}
	r, err := c.insert(ctx, bucket.PartKey(id, number), content, "")
	return bucket.Part{Number: number, Size: int64(len(content)), Tag: r.CRC32C}, err
}

// Parts implements [bucket.Client].
func (c *client) Parts(ctx context.Context, name, id string) (bucket.Uploaded, error) {
	var up bucket.Uploaded
	all, err := c.Keys(ctx, name, id)
	if err != nil {
		return up, err
	}
	for _, o := range all {
		if o.Modified.After(up.Modified) {
			up.Modified = o.Modified
		}
		if n, err := strconv.ParseInt(strings.TrimPrefix(o.Key, id+"/"), 10, 32); err == nil && n > 0 && !o.Dir {
			up.Parts = append(up.Parts, bucket.Part{Number: int32(n), Size: o.Size, Tag: o.Sum})
		}
	}
	return up, nil
}

// source is an object that others are composed of. It has no generation: a request to send a part that was made again may arrive late,
// and changes nothing but that.
type source struct {
	Name string `json:"name"`
}

// Complete implements [bucket.Client]. That the file is there, or that parts are not, may be the work of another process. Of the latter
// some servers say that something has gone wrong.
func (c *client) Complete(ctx context.Context, name, id string, parts []bucket.Part, size int64) error {
	if err := bucket.CheckID(name, id); err != nil {
		return err
	}
	err := c.composeAll(ctx, name, id, parts)
	var answer *bucket.StatusError
	switch {
	case err == nil:
		return c.Abort(ctx, name, id)
	case !errors.As(err, &answer):
		return err
	case answer.Status == http.StatusPreconditionFailed, answer.Status == http.StatusNotFound:
		return c.Disturbed(ctx, name, id, size, err)
	case answer.Status >= http.StatusInternalServerError:
		if up, gone := c.Parts(ctx, name, id); errors.Is(gone, bucket.ErrNoUpload) || gone == nil && len(up.Parts) < len(parts) {
			return c.Disturbed(ctx, name, id, size, err)
		}
	}
	return err
}

// composeAll makes a file of its parts. More than one request composes are composed in groups first, which do not count as parts.
func (c *client) composeAll(ctx context.Context, name, id string, parts []bucket.Part) error {
	all := make([]source, 0, len(parts))
	for _, p := range parts {
		all = append(all, source{c.Key(bucket.PartKey(id, p.Number))})
	}
	if len(all) > composed {
		var groups []source
		for at := 0; at < len(all); at += composed {
			key := fmt.Sprintf("%s/group%05d", id, at)
			if err := c.compose(ctx, key, all[at:min(at+composed, len(all))], ""); err != nil {
				return err
			}
			groups = append(groups, source{c.Key(key)})
		}
		all = groups
	}
	return c.compose(ctx, name, all, "?ifGenerationMatch=0")
}

// compose makes an object of others.
func (c *client) compose(ctx context.Context, key string, of []source, query string) error {
	body, err := json.Marshal(struct {
		Sources     []source `json:"sourceObjects"`
		Destination resource `json:"destination"`
	}{of, resource{Type: contentType(key)}})
	if err != nil {
		return err
	}
	_, err = c.Do(ctx, bucket.Call{
		Operation: "objects.compose", Key: key, Method: http.MethodPost, URL: c.object(key) + "/compose" + query,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: [][]byte{body},
	})
	return err
}
