package storetest

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// Tenth is a transport by which every tenth request is answered with 503, in turn without the server and after it has done it.
type Tenth struct {
	To http.RoundTripper // nil: that of net/http
	n  atomic.Int64
}

// RoundTrip implements [http.RoundTripper].
func (t *Tenth) RoundTrip(r *http.Request) (*http.Response, error) {
	to := t.To
	if to == nil {
		to = http.DefaultTransport
	}
	n := t.n.Add(1)
	if n%10 != 0 {
		return to.RoundTrip(r)
	}
	if n%20 == 0 {
		if answer, err := to.RoundTrip(r); err == nil {
			_ = answer.Body.Close()
		}
	}
	return &http.Response{
		StatusCode: http.StatusServiceUnavailable, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")),
	}, nil
}

// Failed returns how many requests were answered so.
func (t *Tenth) Failed() int64 { return t.n.Load() / 10 }
