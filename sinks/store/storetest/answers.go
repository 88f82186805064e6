package storetest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
)

// FuzzAnswers does all that a store does with a server that answers anything: a status, the same value of all headers, a body. A call gets
// a few answers, and memory for what has arrived.
func FuzzAnswers(f *testing.F, open func(http.RoundTripper, bucket.Options) (store.Store, error)) {
	f.Add(404, "", "")
	f.Add(503, "Mon, 02 Jan 2006 15:04:05 GMT", "<html>")
	var status, left int
	var header, body string
	s, err := open(Transport(func(r *http.Request) (*http.Response, error) {
		if left--; left < 0 {
			return nil, context.Canceled
		}
		h := http.Header{}
		for _, name := range []string{"ETag", "Content-Length", "X-Ms-Error-Code", "Date", "Last-Modified"} {
			h.Set(name, header)
		}
		return &http.Response{
			StatusCode: status, Header: h, Request: r, ContentLength: []int64{-1, int64(len(body)), 1 << 62}[len(body)%3], Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	}), bucket.Options{Attempts: 1, Pause: func(int) time.Duration { return 0 }, Trouble: new(bucket.Trouble)})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer int, in, content string) {
		const most = 4 // answers to a call
		status, header, body = 200+((answer-200)%400+400)%400, in, content
		calls := Calls(t, s, []store.Pending{{Name: "a", Token: "_tmp/0123abcd/a", Bytes: 3}}, "a-0123abcd0001.txt", func([]byte) {})
		alloctest.Bound(t, most*len(calls)*(len(in)+len(content)), 512, 32<<20, func() {
			for _, call := range calls {
				left = most
				call()
			}
		})
	})
}

// Calls are those that a store makes requests for: pending are files to settle and publish, remove is what is deleted, and content is called
// with what was read. A listing has to be in order.
func Calls(t *testing.T, s store.Store, pending []store.Pending, remove string, content func([]byte)) []func() {
	ctx := t.Context()
	return []func(){
		func() {
			if read, err := s.Read(ctx, "a"); err == nil {
				content(read)
			}
		},
		func() { _ = s.Create(ctx, "a", []byte("b")) },
		func() {
			entries, err := s.List(ctx, "dir", "")
			for i := 1; err == nil && i < len(entries); i++ {
				if entries[i].Name < entries[i-1].Name {
					t.Fatalf("%v are not in order", entries)
				}
			}
		},
		func() {
			if o, err := s.Open(ctx, "a"); err == nil {
				_, _ = o.ReadAt(make([]byte, 16), 1)
			}
		},
		func() { _ = s.Settle(ctx, pending) },
		func() { _ = s.Publish(ctx, pending) },
		func() { _ = s.Delete(ctx, remove) },
		func() { _ = s.Sweep(ctx, func(store.Leftover) bool { return true }) },
	}
}
