package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/internal/objstore"
)

// newReader returns the bucket of a server for reading.
func newReader(t *testing.T, o Options, server *s3test.Server) objstore.Store {
	t.Helper()
	r := NewReader()
	section := r.section
	r.Options = o
	r.section = section
	b, _, err := r.Open(server.Bucket, quiet)
	must(t, err)
	return b
}

// Keys come in their order and page by page, and objects are read at their ETag, from any byte.
func TestReader(t *testing.T) {
	onEach(t, func(t *testing.T, server *s3test.Server) {
		o := options(t, server)
		b := newReader(t, o, server)
		put := b.(*reader).at.Put
		var want []string
		for i := range 25 {
			key := fmt.Sprintf("in/%02d/a b+ä.log", i)
			want = append(want, key)
			must(t, put(t.Context(), key, []byte("content "+key)))
		}
		must(t, put(t.Context(), "other", nil))
		var keys []string
		after := ""
		for more := true; more; {
			page, next, err := b.List(t.Context(), "in/", after, 10)
			must(t, err)
			for _, o := range page {
				keys = append(keys, o.Key)
				after = o.Key
			}
			more = next
		}
		if !slices.Equal(keys, want) {
			t.Errorf("keys %q", keys)
		}
		page, _, err := b.List(t.Context(), "in/07", "", 1)
		must(t, err)
		object, content := page[0], "content "+page[0].Key
		for _, c := range []struct {
			off, n int64
			want   string
		}{{0, -1, content}, {3, -1, content[3:]}, {3, 4, content[3:7]}, {0, 1, "c"}} {
			body, err := b.Open(t.Context(), object, c.off, c.n)
			must(t, err)
			if got, err := io.ReadAll(body); err != nil || string(got) != c.want {
				t.Errorf("%d bytes from %d: %q, %v", c.n, c.off, got, err)
			}
			must(t, body.Close())
		}
		must(t, put(t.Context(), object.Key, []byte("another")))
		if _, err := b.Open(t.Context(), object, 0, -1); !errors.Is(err, objstore.ErrChanged) {
			t.Errorf("changed: %v", err)
		}
		must(t, b.(*reader).at.Delete(t.Context(), object.Key))
		if _, err := b.Open(t.Context(), object, 0, -1); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("gone: %v", err)
		}
	})
}

// What servers answer becomes what the source acts on, and says what to do.
func TestReaderErrors(t *testing.T) {
	for code, tc := range map[string]struct {
		status int
		is     error
		want   string
	}{
		"InvalidObjectState":   {403, objstore.ErrUnreadable, "it is archived"},
		"AccessDenied":         {403, fs.ErrPermission, "the credentials do not allow this"},
		"ExpiredToken":         {400, nil, "the credentials have expired"},
		"RequestTimeTooSkewed": {403, nil, "the clock of this machine is wrong"},
		"PermanentRedirect":    {301, nil, "set source.file.s3.region"},
		"SlowDown":             {503, nil, "lower source.file.parallel"},
		"NoSuchBucket":         {404, nil, "there is no bucket"},
	} {
		t.Run(code, func(t *testing.T) {
			server, _ := s3test.Direct(t)
			o := options(t, server)
			o.Attempts = 2
			o.Transport = transportFunc(func(r *http.Request) (*http.Response, error) {
				body := fmt.Sprintf("<Error><Code>%s</Code><Message>no</Message></Error>", code)
				return &http.Response{StatusCode: tc.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
			})
			_, err := newReader(t, o, server).Open(t.Context(), objstore.Object{Key: "k", ETag: `"e"`}, 0, -1)
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
				t.Error(err)
			}
			if unreadable := errors.Is(err, objstore.ErrUnreadable); unreadable != (tc.is != nil) {
				t.Errorf("about the object alone: %t", unreadable)
			}
		})
	}
}

// A server that is overloaded is asked again, and bytes with another checksum than the store has are an error at their end.
func TestReaderFaults(t *testing.T) {
	var requests atomic.Int64
	server, _ := s3test.Direct(t)
	o := options(t, server)
	o.Transport = transportFunc(func(r *http.Request) (*http.Response, error) {
		if requests.Add(1) == 1 {
			return &http.Response{StatusCode: 503, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		}
		header := http.Header{"X-Amz-Checksum-Crc32c": {"AAAAAA=="}, "Etag": {`"e"`}}
		return &http.Response{StatusCode: 200, Header: header, ContentLength: 7, Body: io.NopCloser(bytes.NewReader([]byte("damaged"))), Request: r}, nil
	})
	body, err := newReader(t, o, server).Open(context.Background(), objstore.Object{Key: "k", Size: 7, ETag: `"e"`}, 0, -1)
	must(t, err)
	if got, err := io.ReadAll(body); err == nil {
		t.Errorf("%q is taken", got)
	}
	must(t, body.Close())
	if requests.Load() != 2 {
		t.Errorf("%d requests", requests.Load())
	}
}
