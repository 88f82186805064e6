package web

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

const (
	// pageFiles is how many files of a list are looked at for a page, and atOnce how many of them at a time.
	pageFiles = 64
	atOnce    = 16
	// maxList bounds a list, decompressed, and maxLine a line of it.
	maxList = 256 << 20
	maxLine = 8 << 10
)

// changed begins the ETag of a file that has a time of its last change in its place.
const changed = "modified "

// reader implements [objstore.Store]. Its keys are the paths of addresses as they are written.
type reader struct {
	bucket.Requests
	root    string
	options Options
	base    string
	whole   atomic.Bool // there was a file that the server does not send in parts

	mu     sync.Mutex
	keys   []string // of the list, sorted
	listed bool
}

func (r *reader) address(key string) string { return r.root + "/" + key }

// Whole implements [objstore.Whole].
func (r *reader) Whole() bool { return r.whole.Load() }

// List implements [objstore.Store]. Without a list, a prefix is a key.
func (r *reader) List(ctx context.Context, prefix, after string, limit int) (page []objstore.Object, more bool, err error) {
	if r.options.List == "" {
		if prefix <= after {
			return nil, false, nil
		}
		o, err := r.Stat(ctx, prefix)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, nil
		}
		return []objstore.Object{o}, false, err
	}
	keys, err := r.list(ctx, after == "" && limit > 1)
	if err != nil {
		return nil, false, err
	}
	at, there := slices.BinarySearch(keys, max(prefix, after))
	if there && after >= prefix {
		at++
	}
	for len(page) == 0 {
		end := at
		for end < len(keys) && end-at < min(limit, pageFiles) && strings.HasPrefix(keys[end], prefix) {
			end++
		}
		if page, err = r.look(ctx, keys[at:end]); err != nil {
			return nil, false, err
		}
		if more = end > at && end < len(keys) && strings.HasPrefix(keys[end], prefix); !more {
			break
		}
		at = end
	}
	return page, more, nil
}

// look returns the files that are there.
func (r *reader) look(ctx context.Context, keys []string) ([]objstore.Object, error) {
	all := make([]objstore.Object, len(keys))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, key := range keys {
		group.Go(func() (err error) {
			all[i], err = r.Stat(ctx, key)
			if errors.Is(err, fs.ErrNotExist) {
				all[i].Key = ""
				return nil
			}
			return err
		})
	}
	err := group.Wait()
	return slices.DeleteFunc(all, func(o objstore.Object) bool { return o.Key == "" }), err
}

// Dirs implements [objstore.Store].
func (r *reader) Dirs(ctx context.Context, prefix string, each func(dirs []string) bool) error {
	if r.options.List == "" {
		return nil
	}
	keys, err := r.list(ctx, false)
	if err != nil {
		return err
	}
	var dirs []string
	for at, _ := slices.BinarySearch(keys, prefix); at < len(keys) && strings.HasPrefix(keys[at], prefix); at++ {
		end := strings.IndexByte(keys[at][len(prefix):], '/')
		if dir := keys[at][:len(prefix)+end+1]; end >= 0 && (len(dirs) == 0 || dirs[len(dirs)-1] != dir) {
			dirs = append(dirs, dir)
		}
	}
	each(dirs)
	return nil
}

// Stat implements [objstore.Store].
func (r *reader) Stat(ctx context.Context, key string) (o objstore.Object, err error) {
	a, err := r.Do(ctx, bucket.Call{Operation: "HEAD", Key: key, Object: true, Method: http.MethodHead, URL: r.address(key), Header: plain()})
	var answer *bucket.StatusError
	switch {
	case errors.As(err, &answer) && answer.Status == http.StatusGone:
		return o, fmt.Errorf("%s: %w", r.address(key), fs.ErrNotExist)
	case err != nil:
		return o, err
	}
	size, err := strconv.ParseInt(a.Header.Get("Content-Length"), 10, 64)
	if err != nil || size < 0 {
		return o, fmt.Errorf("%s: the server does not say how long it is, so that nobody could tell whether all of it came: copy the file here", r.address(key))
	}
	if a.Header.Get("Accept-Ranges") != "bytes" {
		r.whole.Store(true)
	}
	o = objstore.Object{Key: key, Size: size, ETag: validator(a.Header)}
	if o.ETag == "" && !r.options.Unverified {
		return o, fmt.Errorf("%s: the server has neither an ETag nor a time of the last change, so that nobody could tell whether it is still the same file: "+
			"copy it here, or set %s.unverified: true", r.address(key), section)
	}
	return o, nil
}

// plain asks for the bytes as they are stored.
func plain() http.Header { return http.Header{"Accept-Encoding": {"identity"}} }

// validator returns what tells a content from another one. A weak ETag may be that of two, and is taken where there is no time alone.
func validator(h http.Header) string {
	etag := h.Get("ETag")
	if modified := h.Get("Last-Modified"); modified != "" && (etag == "" || strings.HasPrefix(etag, "W/")) {
		return changed + modified
	}
	return etag
}

// Open implements [objstore.Store]. A server that ignores conditions is found out by its answer.
func (r *reader) Open(ctx context.Context, o objstore.Object, off, n int64) (io.ReadCloser, error) {
	h := plain()
	if modified, ok := strings.CutPrefix(o.ETag, changed); ok {
		h.Set("If-Unmodified-Since", modified)
	} else if o.ETag != "" && !strings.HasPrefix(o.ETag, "W/") {
		h.Set("If-Match", o.ETag)
	}
	body, err := r.Requests.Open(ctx, bucket.Download{
		Call: bucket.Call{Operation: "GET", Key: o.Key, Object: true, Method: http.MethodGet, URL: r.address(o.Key), Header: h},
		Off:  off, N: n, Skip: true,
		Check: func(h http.Header) error {
			if got := validator(h); got != o.ETag {
				return objstore.ErrChanged
			}
			if total := h.Get("Content-Range"); total != "" && !strings.HasSuffix(total, "/"+strconv.FormatInt(o.Size, 10)) {
				return objstore.ErrChanged
			}
			return nil
		},
		Sum:   func(http.Header) ([]byte, hash.Hash) { return nil, nil },
		Alone: func(string) bool { return false },
	})
	var answer *bucket.StatusError
	if errors.As(err, &answer) && answer.Status == http.StatusGone {
		return nil, fmt.Errorf("%s: %w", r.address(o.Key), fs.ErrNotExist)
	}
	return body, err
}

// list returns the keys of the list, sorted; anew reads it once more.
func (r *reader) list(ctx context.Context, anew bool) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.listed && !anew {
		return r.keys, nil
	}
	content, err := r.content(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := parseList(content, r.base, r.root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.options.List, err)
	}
	r.keys, r.listed = keys, true
	return keys, nil
}

// content returns the list, decompressed.
func (r *reader) content(ctx context.Context) (content []byte, err error) {
	at := r.options.List
	if !strings.HasPrefix(at, Scheme) && !strings.HasPrefix(at, PlainScheme) {
		content, err = os.ReadFile(at)
	} else {
		var a *bucket.Answer
		of := r.Requests
		of.Place = bucket.Place{Root: at}
		if a, err = of.Do(ctx, bucket.Call{Operation: "GET", Object: true, Method: http.MethodGet, URL: at, Header: plain()}); err == nil {
			content = a.Body
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(content) == 0:
		return nil, fmt.Errorf("%s: there is no such list, or nothing in it; correct %s.list", at, section)
	case err != nil:
		return nil, err
	case len(content) < 2 || content[0] != 0x1f || content[1] != 0x8b:
		return content, nil
	}
	z, err := gzip.NewReader(strings.NewReader(string(content)))
	if err == nil {
		content, err = io.ReadAll(io.LimitReader(z, maxList+1))
	}
	if err == nil && len(content) > maxList {
		err = fmt.Errorf("it has more than %d MiB", maxList>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: the list cannot be decompressed; get it anew: %w", at, err)
	}
	return content, nil
}

// parseList returns the keys of a list on a server, sorted, each once.
func parseList(content []byte, base, root string) ([]string, error) {
	var keys []string
	for text := range strings.Lines(string(content)) {
		line := strings.TrimSpace(text)
		if line == "" {
			continue
		}
		address := line
		if !strings.HasPrefix(line, Scheme) && !strings.HasPrefix(line, PlainScheme) {
			address = base + strings.TrimPrefix(line, "/")
		}
		key, ok := strings.CutPrefix(address, root+"/")
		switch u, err := url.Parse(address); {
		case len(line) > maxLine, err != nil:
			return nil, fmt.Errorf("%.200q is neither an address nor a path; give one a line", line)
		case !ok:
			return nil, fmt.Errorf("%.200q is not on %s; read each server by a pipeline of its own", line, root)
		case u.RawQuery != "" || u.Fragment != "":
			return nil, fmt.Errorf("%.200q has a query; give addresses of files without one", line)
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}
