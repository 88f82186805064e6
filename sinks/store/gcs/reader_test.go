package gcs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urlmill/urlmill/internal/dev/gcstest"
	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sinks/store/storetest"
)

// newReader returns the bucket at root for reading.
func newReader(t *testing.T, o Options, root string) objstore.Store {
	t.Helper()
	r := NewReader()
	o.section = r.section
	r.Options = o
	b, _, err := r.Open(strings.TrimPrefix(root, Scheme), quiet)
	must(t, err)
	return b
}

func TestReader(t *testing.T) {
	onEach(t, func(t *testing.T, o Options, root string) {
		b := newReader(t, o, root)
		storetest.Reader(t, b, b.(*reader).Put, b.(*reader).Delete)
	})
}

// A server that cannot take every tenth request is asked again: nothing is left out, and nothing else is read.
func TestReaderTenth(t *testing.T) {
	onEach(t, func(t *testing.T, o Options, root string) {
		tenth := &storetest.Tenth{To: o.Transport}
		o.Transport = tenth
		b := newReader(t, o, root)
		storetest.Reader(t, b, b.(*reader).Put, b.(*reader).Delete)
		if tenth.Failed() == 0 {
			t.Error("no request has failed")
		}
	})
}

// A listing whose pages are empty and have the same mark is refused.
func TestReaderEndless(t *testing.T) {
	server, _ := gcstest.Direct()
	o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) {
		body := `{"nextPageToken": "next"}`
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}))
	b := newReader(t, o, Scheme+server.Bucket)
	if _, _, err := b.List(t.Context(), "in/", "in/a", 10); !errors.Is(err, bucket.ErrEndless) {
		t.Error(err)
	}
}

// What servers answer becomes what the source acts on, and says what to do.
func TestReaderErrors(t *testing.T) {
	for code, tc := range map[string]struct {
		status int
		is     error
		want   string
	}{
		"authError":           {401, nil, "they have expired: renew them"},
		"clock":               {403, nil, "the clock of this machine is wrong"},
		"forbidden":           {403, fs.ErrPermission, "the credentials do not allow this"},
		customerKey:           {400, objstore.ErrUnreadable, "leave it out of the paths"},
		"cloudKmsDisabledKey": {400, objstore.ErrUnreadable, "its key of encryption cannot be used"},
		"accountDisabled":     {403, nil, "open one"},
		"userProjectMissing":  {400, nil, "set source.file.gcs.user_project"},
		"rateLimitExceeded":   {429, nil, "lower source.file.parallel"},
		"backendError":        {503, nil, "failed after 2 attempts"},
	} {
		t.Run(code, func(t *testing.T) {
			answer := says(tc.status, code)
			if code == "clock" {
				answer = skewed
			}
			server, direct := gcstest.Direct()
			o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) { return answer(r, direct) }))
			o.Attempts, o.Endpoint = 2, "http://store.invalid"
			_, err := newReader(t, o, Scheme+server.Bucket).Open(t.Context(), objstore.Object{Key: "k", ETag: "1"}, 0, -1)
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
				t.Error(err)
			}
			if alone := errors.Is(err, objstore.ErrUnreadable); alone != (tc.is != nil) {
				t.Errorf("about the object alone: %t", alone)
			}
		})
	}
}

// A server that is overloaded is asked again. Bytes with another checksum than the store has, a body that breaks off, and a whole object
// where a part was asked for, are errors.
func TestReaderFaults(t *testing.T) {
	server, direct := gcstest.Direct()
	requests, sum := 0, "md5=x,crc32c=Ya91Mw=="
	o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) {
		if requests++; requests == 1 {
			return says(http.StatusServiceUnavailable, "")(r, direct)
		}
		h := http.Header{"X-Goog-Hash": {sum}}
		return &http.Response{StatusCode: http.StatusOK, Header: h, ContentLength: 7, Body: io.NopCloser(strings.NewReader("content")), Request: r}, nil
	}))
	b := newReader(t, o, Scheme+server.Bucket)
	read := func() error {
		body, err := b.Open(t.Context(), objstore.Object{Key: "k", Size: 7, ETag: "1"}, 0, -1)
		must(t, err)
		_, err = io.ReadAll(body)
		must(t, body.Close())
		return err
	}
	must(t, read())
	sum = "crc32c=AAAAAA=="
	if err := read(); err == nil || requests != 3 {
		t.Errorf("%v after %d requests", err, requests)
	}
	if _, err := b.Open(t.Context(), objstore.Object{Key: "k", Size: 7, ETag: "1"}, 3, -1); err == nil || !strings.Contains(err.Error(), "does not send a part") || requests != 4 {
		t.Errorf("%v after %d requests", err, requests)
	}
}

// between is the time between the bytes of a body, less than an attempt may take.
const between = 20 * time.Second

// A body that stands still ends after the time of an attempt, however long it has been arriving before.
func TestReaderStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := gcstest.Direct()
		o := options(server, storetest.Transport(func(r *http.Request) (*http.Response, error) {
			in, out := io.Pipe()
			stop := context.AfterFunc(r.Context(), func() { _ = out.CloseWithError(context.Cause(r.Context())) })
			go func() {
				for range 5 {
					time.Sleep(between)
					_, _ = out.Write([]byte("x"))
				}
			}()
			t.Cleanup(func() { stop() })
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: 9, Body: in, Request: r}, nil
		}))
		body, err := newReader(t, o, Scheme+server.Bucket).Open(t.Context(), objstore.Object{Key: "k", Size: 9, ETag: "1"}, 0, -1)
		must(t, err)
		begun := time.Now()
		got, err := io.ReadAll(body)
		if string(got) != "xxxxx" || !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 5*between+o.Timeout {
			t.Errorf("%q, %v after %v", got, err, time.Since(begun))
		}
		must(t, body.Close())
	})
}
