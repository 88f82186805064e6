package urlcore_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/form"
)

func ExampleBuilder() {
	b := urlcore.Builder{
		Scheme:   "https",
		Username: "me@work",
		Host:     "B\u00fccher.example",
		Port:     8443,
		Segments: []string{"a/b", "100%", ""},
		Query:    []form.Pair{{Name: "q", Value: "x & y"}},
		Fragment: "top",
	}
	fmt.Println(b.URL())
	b.Segments = append(b.Segments, "..")
	_, err := b.URL()
	fmt.Println(err)
	// Output:
	// https://me%40work@xn--bcher-kva.example:8443/a%2Fb/100%25/?q=x+%26+y#top <nil>
	// urlcore: Segments ["a/b" "100%" "" ".."]: urlcore: "." and ".." cannot be segments of a path
}

func TestBuilder(t *testing.T) {
	for _, c := range []struct {
		b    urlcore.Builder
		want string
	}{
		{urlcore.Builder{Scheme: "HTTP", Host: "h", Port: 80}, "http://h/"},
		{urlcore.Builder{Scheme: "http", Host: "::1", Port: 1}, "http://[::1]:1/"},
		{urlcore.Builder{Scheme: "http", Host: "[::1]"}, "http://[::1]/"},
		{urlcore.Builder{Scheme: "http", Host: "0x7f.1"}, "http://127.0.0.1/"},
		{urlcore.Builder{Scheme: "http", Host: "h", Password: "p:/@"}, "http://:p%3A%2F%40@h/"},
		{urlcore.Builder{Scheme: "http", Host: "h", Username: "%41"}, "http://%2541@h/"},
		{urlcore.Builder{Scheme: "http", Host: "h", Segments: []string{"", "a"}}, "http://h//a"},
		{urlcore.Builder{Scheme: "http", Host: "h", Fragment: "#%41 \xff"}, "http://h/#%23%2541%20%FF"},
		{urlcore.Builder{Scheme: "http", Host: "h", Query: []form.Pair{{}}}, "http://h/?="},
		{urlcore.Builder{Scheme: "file", Segments: []string{"C|", "a"}}, "file:///C%7C/a"},
		{urlcore.Builder{Scheme: "file", Host: "h", Segments: []string{"a"}}, "file://h/a"},
		{urlcore.Builder{Scheme: "foo", Segments: []string{"", "a"}}, "foo:/.//a"},
		{urlcore.Builder{Scheme: "foo", Host: "A b%", Port: 80}, ""},
		{urlcore.Builder{Scheme: "foo", Host: "A%é", Port: 80}, "foo://A%%C3%A9:80/"},
	} {
		u, err := c.b.URL()
		if (err == nil) != (c.want != "") || err == nil && u.Href() != c.want {
			t.Errorf("%+v: %v, %v, want %s", c.b, u, err, c.want)
		}
		if err == nil && !reparses(u) {
			t.Errorf("%+v: %s is not what it parses to", c.b, u)
		}
	}
}

func TestBuilderRefuses(t *testing.T) {
	for _, c := range []struct {
		b    urlcore.Builder
		want string
	}{
		{urlcore.Builder{}, `Scheme ""`},
		{urlcore.Builder{Scheme: "1a", Host: "h"}, `Scheme "1a"`},
		{urlcore.Builder{Scheme: " http", Host: "h"}, `Scheme " http"`},
		{urlcore.Builder{Scheme: "http://evil/?", Host: "h"}, `Scheme "http://evil/?"`},
		{urlcore.Builder{Scheme: "ht\ntp", Host: "h"}, `Scheme "ht\ntp"`},
		{urlcore.Builder{Scheme: "http"}, "the scheme http needs a Host"},
		{urlcore.Builder{Scheme: "http", Host: "h/evil"}, `Host "h/evil"`},
		{urlcore.Builder{Scheme: "http", Host: "a@h"}, `Host "a@h"`},
		{urlcore.Builder{Scheme: "http", Host: "h:80"}, `Host "h:80"`},
		{urlcore.Builder{Scheme: "foo", Host: "h?"}, `Host "h?"`},
		{urlcore.Builder{Scheme: "foo", Port: 1}, "Port is set, which needs a Host"},
		{urlcore.Builder{Scheme: "FILE", Host: "h", Username: "u"}, "Username is set, which URLs of the scheme file do not have"},
		{urlcore.Builder{Scheme: "foo", Password: "p"}, "Password is set, which needs a Host"},
		{urlcore.Builder{Scheme: "http", Host: "h", Segments: []string{"."}}, `Segments ["."]`},
	} {
		u, err := c.b.URL()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, %v, want %q", c.b, u, err, c.want)
		}
	}
	_, err := (&urlcore.Builder{Scheme: "http"}).URL()
	if !errors.Is(err, urlcore.ErrBuilder) {
		t.Error(err)
	}
	_, err = (&urlcore.Builder{Scheme: "http", Host: "a b"}).URL()
	var e *urlcore.Error
	if !errors.As(err, &e) || e.Code != urlcore.CodeDomainToASCII {
		t.Error(err)
	}
}

// TestBuilderParts: what goes into a part comes out of it, whatever it holds.
func TestBuilderParts(t *testing.T) {
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]rune("a.:/?#@%&=+ \t\n\\|[]é\"'")), 0, 6), func(r []rune) string { return string(r) })
	rapid.Check(t, func(t *rapid.T) {
		b := urlcore.Builder{
			Scheme: rapid.SampledFrom([]string{"https", "foo"}).Draw(t, "scheme"), Host: "h", Port: 81,
			Username: text.Draw(t, "username"), Password: text.Draw(t, "password"), Fragment: text.Draw(t, "fragment"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			b.Segments = append(b.Segments, "x"+text.Draw(t, "segment"))
			b.Query = append(b.Query, form.Pair{Name: text.Draw(t, "name"), Value: text.Draw(t, "value")})
		}
		u, err := b.URL()
		if err != nil {
			t.Fatal(err)
		}
		segments := slices.Collect(u.Segments().All())
		if len(b.Segments) == 0 {
			b.Segments = []string{""}
		}
		if unescape(u.Username()) != b.Username || unescape(u.Password()) != b.Password || unescape(string(u.Bytes(urlcore.Fragment))) != b.Fragment ||
			u.Host() != "h:81" || !slices.Equal(segments, b.Segments) || !slices.Equal(form.Parse(string(u.Bytes(urlcore.Query))), b.Query) || !reparses(u) {
			t.Fatalf("%+v becomes %s", b, u)
		}
	})
}
