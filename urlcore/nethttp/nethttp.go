// Package nethttp joins urlcore and net/http: requests for URLs, and the URLs of requests. It is a package of its own so that
// urlcore does not bring net/http into programs that need no more than URLs.
package nethttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/urlmill/urlmill/urlcore"
)

// NewRequest returns a request for a URL, which it does not keep, as [http.NewRequestWithContext] does: that reads the URL
// once more by the rules of net/url, and refuses some, such as one with the path "/100%". What the client sends is the path
// and query of u, but for what [urlcore.URL.NetURL] escapes. A username and password become basic authentication.
//
// The errors are those of http.NewRequestWithContext and [urlcore.ErrNetURL].
func NewRequest(ctx context.Context, method string, u *urlcore.URL, body io.Reader) (*http.Request, error) {
	target, err := u.NetURL()
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, "", body)
	if err != nil {
		return nil, err
	}
	r.URL, r.Host = target, target.Host
	return r, nil
}

// ErrRequestTarget is returned for a request whose URL cannot be known: of the method CONNECT, whose target is a host and a
// port, or with something else than a host and a port in its header Host.
var ErrRequestTarget = errors.New("nethttp: the request's target and header Host make no URL")

// URL returns the URL that was requested from a server: for the usual target, a path, that of the header Host and of the
// scheme https where the connection is one of TLS. Behind a proxy, scheme and host are those which the proxy used, and
// headers such as X-Forwarded-Proto have no part in it, since any client may send them.
//
// A target such as //example.org/x is a path here, as it is for servers: reading it as a reference would make another host of
// it. For a request that was made for a client it is the URL that the request goes to. The errors are [ErrRequestTarget], and
// a *[urlcore.Error].
//
// https://www.rfc-editor.org/rfc/rfc9110#section-7.1, https://www.rfc-editor.org/rfc/rfc9112#section-3.2
func URL(r *http.Request) (*urlcore.URL, error) {
	target := r.RequestURI
	switch {
	case target == "":
		return urlcore.FromNetURL(r.URL)
	case r.Method == http.MethodConnect:
		return nil, ErrRequestTarget
	case target == "*":
		target = "/"
	case target[0] != '/':
		return urlcore.Parse(target)
	}
	if r.Host == "" || strings.ContainsAny(r.Host, `/\?#@`) {
		return nil, ErrRequestTarget
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return urlcore.Parse(scheme + r.Host + strings.ReplaceAll(target, "#", "%23"))
}
