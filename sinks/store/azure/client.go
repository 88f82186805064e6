package azure

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// creationKey is the name of metadata that says which call has created an object.
const creationKey = "x-ms-meta-urlmill_create"

// client implements [bucket.Client].
type client struct {
	bucket.Requests
	bucket.Staged
	container string // its URL
}

func newClient(q bucket.Requests, container string) *client {
	c := &client{Requests: q, container: container}
	c.Staged = bucket.Staged{Put: c.Put, List: c.List, Head: c.Head, Delete: c.Delete}
	return c
}

// blob returns the URL of a blob.
func (c *client) blob(key, query string) string { return c.whole(c.Key(key)) + query }

// whole returns the URL of a blob by its whole name, which may be any.
func (c *client) whole(name string) string {
	names := strings.Split(name, "/")
	for i, n := range names {
		names[i] = url.PathEscape(n)
	}
	return c.container + "/" + strings.Join(names, "/")
}

// Check implements [bucket.Client].
func (c *client) Check(ctx context.Context) error {
	_, err := c.Do(ctx, bucket.Call{Operation: "List Blobs", Method: http.MethodGet, URL: c.container + "?restype=container&comp=list&maxresults=1"})
	return err
}

// Create implements [bucket.Client].
func (c *client) Create(ctx context.Context, key string, content []byte, creation string) error {
	err := c.put(ctx, key, content, http.Header{"If-None-Match": {"*"}, http.CanonicalHeaderKey(creationKey): {creation}})
	if isThere(err) {
		return fs.ErrExist
	}
	return err
}

// isThere reports whether an error says that a blob is there that must not be.
func isThere(err error) bool {
	var e *bucket.StatusError
	return errors.As(err, &e) && (e.Status == http.StatusPreconditionFailed || e.Code == "BlobAlreadyExists")
}

// Put implements [bucket.Client].
func (c *client) Put(ctx context.Context, key string, content []byte) error {
	return c.put(ctx, key, content, http.Header{})
}

func (c *client) put(ctx context.Context, key string, content []byte, h http.Header) error {
	h.Set("x-ms-blob-type", "BlockBlob")
	h.Set("Content-MD5", sum(content))
	h.Set("Content-Type", "application/octet-stream")
	if strings.HasSuffix(key, ".json") {
		h.Set("Content-Type", "application/json")
	}
	_, err := c.Do(ctx, bucket.Call{Operation: "Put Blob", Key: key, Method: http.MethodPut, URL: c.blob(key, ""), Header: h, Body: [][]byte{content}})
	return err
}

// sum returns what the service verifies content by. The other checksum that it knows is faster, and refused by Azurite.
func sum(content []byte) string {
	digest := md5.Sum(content)
	return base64.StdEncoding.EncodeToString(digest[:])
}

// Head implements [bucket.Client].
func (c *client) Head(ctx context.Context, key string) (bucket.Info, error) {
	a, err := c.Do(ctx, bucket.Call{Operation: "Get Blob Properties", Key: key, Object: true, Method: http.MethodHead, URL: c.blob(key, "")})
	if err != nil {
		return bucket.Info{}, err
	}
	size, err := strconv.ParseInt(a.Header.Get("Content-Length"), 10, 64)
	if err != nil || size < 0 {
		return bucket.Info{}, fmt.Errorf("the server does not say how long %s is", c.URL(key))
	}
	modified, _ := http.ParseTime(a.Header.Get("Last-Modified")) // or else unknown
	return bucket.Info{Key: key, Size: size, Version: a.Header.Get("ETag"), Creation: a.Header.Get(creationKey), Modified: modified}, nil
}

// Read implements [bucket.Client].
func (c *client) Read(ctx context.Context, key string) ([]byte, error) {
	a, err := c.Do(ctx, bucket.Call{Operation: "Get Blob", Key: key, Object: true, Method: http.MethodGet, URL: c.blob(key, ""), Header: raw()})
	if err != nil {
		return nil, err
	}
	return a.Body, nil
}

// raw asks for the bytes as they are stored.
func raw() http.Header { return http.Header{"Accept-Encoding": {"identity"}} }

// ReadAt implements [bucket.Client].
func (c *client) ReadAt(ctx context.Context, key, version string, p []byte, off int64) error {
	h := raw()
	h.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+int64(len(p))-1))
	h.Set("If-Match", version)
	_, err := c.Do(ctx, bucket.Call{Operation: "Get Blob", Key: key, Object: true, Method: http.MethodGet, URL: c.blob(key, ""), Header: h, Into: p})
	return err
}

// decode reads an answer.
func decode[T any](a *bucket.Answer, err error) (answer T, _ error) {
	if err == nil {
		if err = xml.Unmarshal(a.Body, &answer); err != nil {
			err = fmt.Errorf("the answer of the server is not XML: %w", err)
		}
	}
	return answer, err
}

// page is one of a listing.
type page struct {
	Next  string `xml:"NextMarker"`
	Blobs struct {
		Blob []struct {
			Name       string
			Properties struct {
				Size     int64  `xml:"Content-Length"`
				ETag     string `xml:"Etag"`
				Modified string `xml:"Last-Modified"`
				Type     string `xml:"ResourceType"` // in accounts with a hierarchical namespace
			}
		}
		BlobPrefix []struct{ Name string }
	}
}

// listing returns the query of a listing.
func listing(prefix string) url.Values {
	return url.Values{"restype": {"container"}, "comp": {"list"}, "prefix": {prefix}}
}

// page returns the page that a query asks for.
func (c *client) page(ctx context.Context, key string, q url.Values) (page, error) {
	return decode[page](c.Do(ctx, bucket.Call{Operation: "List Blobs", Key: key, Method: http.MethodGet, URL: c.container + "?" + q.Encode()}))
}

// List implements [bucket.Client]. A listing cannot begin after a name: what is before it is left out here.
func (c *client) List(ctx context.Context, dir, after string, deep bool, f func(bucket.Info)) error {
	prefix, root := c.Dir(dir), c.Dir(".")
	q := listing(prefix)
	if !deep {
		q.Set("delimiter", "/")
	}
	for seen := (bucket.Turns{}); ; {
		p, err := c.page(ctx, dir, q)
		if err != nil {
			return err
		}
		for _, b := range p.Blobs.Blob {
			if (after == "" || b.Name > prefix+after) && b.Properties.Type != "directory" {
				modified, _ := http.ParseTime(b.Properties.Modified) // or else unknown
				f(bucket.Info{Key: strings.TrimPrefix(b.Name, root), Size: b.Properties.Size, Version: b.Properties.ETag, Modified: modified})
			}
		}
		for _, b := range p.Blobs.BlobPrefix {
			f(bucket.Info{Key: strings.TrimPrefix(b.Name, root), Dir: true})
		}
		if p.Next == "" {
			return nil
		}
		if seen.Turn(true, p.Next) != nil {
			return c.Endless("List Blobs", dir)
		}
		q.Set("marker", p.Next)
	}
}

// Delete implements [bucket.Client].
func (c *client) Delete(ctx context.Context, key string) error {
	_, err := c.Do(ctx, bucket.Call{Operation: "Delete Blob", Key: key, Object: true, Method: http.MethodDelete, URL: c.blob(key, "")})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Send implements [bucket.Client]. The identifier of a block has its number and checksum, so that one that is sent again is the same,
// and another one is not.
func (c *client) Send(ctx context.Context, name, id string, number int32, content []byte) (bucket.Part, error) {
	if err := bucket.CheckID(name, id); err != nil {
		return bucket.Part{}, err
	}
	check := sum(content)
	block := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%05d-%s", number, check))
	_, err := c.Do(ctx, bucket.Call{
		Operation: "Put Block", Key: name, Method: http.MethodPut, URL: c.blob(name, "?comp=block&blockid="+url.QueryEscape(block)),
		Header: http.Header{"Content-Md5": {check}}, Body: [][]byte{content},
	})
	return bucket.Part{Number: number, Size: int64(len(content)), Tag: block}, err
}

// Parts implements [bucket.Client].
func (c *client) Parts(ctx context.Context, name, id string) (bucket.Uploaded, error) {
	var up bucket.Uploaded
	marks, err := c.Keys(ctx, name, id)
	if err != nil {
		return up, err
	}
	up.Modified = marks[0].Modified
	list, err := decode[struct {
		Uncommitted struct {
			Block []struct {
				Name string
				Size int64
			}
		} `xml:"UncommittedBlocks"`
	}](c.Do(ctx, bucket.Call{
		Operation: "Get Block List", Key: name, Object: true, Method: http.MethodGet, URL: c.blob(name, "?comp=blocklist&blocklisttype=uncommitted"),
	}))
	if errors.Is(err, fs.ErrNotExist) { // of a blob without a block
		return up, nil
	}
	for _, b := range list.Uncommitted.Block {
		text, _ := base64.StdEncoding.DecodeString(b.Name)
		number, _, _ := strings.Cut(string(text), "-")
		n, err := strconv.ParseInt(number, 10, 32)
		if err != nil {
			return up, fmt.Errorf("%s has a block %q, which is not urlmill's", c.URL(name), b.Name)
		}
		up.Parts = append(up.Parts, bucket.Part{Number: int32(n), Size: b.Size, Tag: b.Name})
	}
	slices.SortFunc(up.Parts, func(a, b bucket.Part) int { return int(a.Number) - int(b.Number) })
	return up, err
}

// Complete implements [bucket.Client]. That the file is there, or that blocks are not, may be the work of another process.
func (c *client) Complete(ctx context.Context, name, id string, parts []bucket.Part, size int64) error {
	if err := bucket.CheckID(name, id); err != nil {
		return err
	}
	list := struct {
		XMLName     xml.Name `xml:"BlockList"`
		Uncommitted []string
	}{}
	for _, p := range parts {
		list.Uncommitted = append(list.Uncommitted, p.Tag)
	}
	body, err := xml.Marshal(list)
	if err != nil {
		return err
	}
	_, err = c.Do(ctx, bucket.Call{
		Operation: "Put Block List", Key: name, Method: http.MethodPut, URL: c.blob(name, "?comp=blocklist"),
		Header: http.Header{"If-None-Match": {"*"}, "Content-Type": {"application/xml"}, "X-Ms-Blob-Content-Type": {"application/octet-stream"}}, Body: [][]byte{body},
	})
	var e *bucket.StatusError
	switch {
	case err == nil:
		return c.Abort(ctx, name, id)
	case isThere(err), errors.As(err, &e) && e.Code == "InvalidBlockList":
		return c.Disturbed(ctx, name, id, size, err)
	}
	return err
}
