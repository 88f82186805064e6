package nethttp_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/nethttp"
)

func ExampleNewRequest() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RequestURI) }))
	defer server.Close()

	u := urlcore.MustParse(server.URL).JoinPath("a%2Fb", "100%")
	r, err := nethttp.NewRequest(context.Background(), http.MethodGet, u, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := server.Client().Do(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	fmt.Printf("%s\n", body)
	// Output: /a%2Fb/100%25
}

func ExampleURL() {
	r := httptest.NewRequest(http.MethodGet, "//evil.example/../a?b=c", nil)
	r.Host = "Example.org:80"
	fmt.Println(nethttp.URL(r))
	// Output: http://example.org//a?b=c <nil>
}

func TestNewRequest(t *testing.T) {
	for input, want := range map[string]string{
		"http://h/a|b/%2F%?q=|%zz#f": "/a%7Cb/%2F%25?q=|%zz",
		"http://h?":                  "/?",
		"http://a{b/":                "/",
		"http://u:p@[::1]:81/":       "/",
	} {
		u := urlcore.MustParse(input)
		r, err := nethttp.NewRequest(t.Context(), http.MethodPost, u, strings.NewReader("x"))
		if err != nil || r.URL.RequestURI() != want || r.Host != u.Host() || r.ContentLength != 1 || r.Context() != t.Context() {
			t.Errorf("%s: %+v, %v", input, r, err)
		}
		back, err := nethttp.URL(r)
		if err != nil || !back.HostEqual(u) || back.Username() != u.Username() {
			t.Errorf("%s comes back as %v, %v", input, back, err)
		}
	}
	if _, err := nethttp.NewRequest(t.Context(), "NO METHOD", urlcore.MustParse("http://h/"), nil); err == nil {
		t.Error("a bad method was taken")
	}
	if _, err := nethttp.NewRequest(t.Context(), "", urlcore.MustParse("foo://a%3A80/"), nil); !errors.Is(err, urlcore.ErrNetURL) {
		t.Error(err)
	}
}

func TestURL(t *testing.T) {
	for _, c := range []struct{ line, host, want string }{
		{"GET /a/../b?c", "h", "http://h/b?c"},
		{"GET //evil/x", "h:81", "http://h:81//evil/x"},
		{`GET /\evil`, "h", "http://h//evil"},
		{"GET /a#b", "h", "http://h/a%23b"},
		{"GET http://other/a", "h", "http://other/a"},
		{"OPTIONS *", "h", "http://h/"},
		{"GET /", "B%C3%BCcher", "http://xn--bcher-kva/"},
		{"GET /", "[::1]:80", "http://[::1]/"},
		{"CONNECT h:443", "h:443", ""},
		{"GET /", "", ""},
		{"GET /", "u@h", ""},
		{"GET /", "h/x", ""},
		{"GET /", "h:x", ""},
	} {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(c.line + " HTTP/1.1\r\nHost: x\r\n\r\n")))
		if err != nil {
			t.Fatalf("%s: %v", c.line, err)
		}
		if r.URL.Host == "" || c.host != "h" {
			r.Host = c.host
		}
		u, err := nethttp.URL(r)
		if (err == nil) != (c.want != "") || err == nil && u.Href() != c.want {
			t.Errorf("%s with host %q: %v, %v, want %s", c.line, c.host, u, err, c.want)
		}
		var e *urlcore.Error
		if err != nil && !errors.Is(err, nethttp.ErrRequestTarget) && !errors.As(err, &e) {
			t.Errorf("%s with host %q: %v", c.line, c.host, err)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.TLS = new(tls.ConnectionState)
	if u, err := nethttp.URL(r); err != nil || u.Href() != "https://example.com/" {
		t.Errorf("%v, %v", u, err)
	}
}
