package urlcore_test

import (
	"errors"
	"fmt"
	neturl "net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/percent"
)

func ExampleURL_NetURL() {
	v, err := urlcore.MustParse("https://us%65r@B\u00fccher.example:8080/a|b/%2f?q=%#top").NetURL()
	fmt.Println(v, err)
	fmt.Println(v.User, v.Hostname(), v.Path)
	// Output:
	// https://user@xn--bcher-kva.example:8080/a%7Cb/%2f?q=%#top <nil>
	// user xn--bcher-kva.example /a|b//
}

func ExampleFromNetURL() {
	v := &neturl.URL{Scheme: "https", Host: "Example.ORG:443", Path: "/a b/../c"}
	fmt.Println(urlcore.FromNetURL(v))
	_, err := urlcore.FromNetURL(&neturl.URL{Path: "/a"})
	fmt.Println(err)
	// Output:
	// https://example.org/c <nil>
	// urlcore: URL "/a": missing-scheme-non-relative-URL at byte 0: there is no scheme, and no base URL to resolve a relative reference against
}

// TestNetURLLosses has everything that NetURL's comment says is lost, and what is not although it might be.
func TestNetURLLosses(t *testing.T) {
	for _, c := range [][2]string{
		{"https://h/%2F%2f/|/%2F/%/%zz?|%#|%2F%", "https://h/%2F%2f/%7C/%2F/%25/%25zz?|%#%7C%2F%25"},
		{`foo://h/\`, "foo://h/%5C"},
		{`http://h/#"<>{}^\` + "`", "http://h/#%22%3C%3E%7B%7D%5E%5C%60"},
		{"http://h/?#", "http://h/?"},
		{"http://h/[x]*'!", "http://h/[x]*'!"},
		{"http://u%41:p%2f@h/", "http://uA:p%2F@h/"},
		{"http://:p@h/", "http://:p@h/"},
		{"foo://%41%e9/", "foo://A%E9/"},
		{"http://[::1]:81/", "http://[::1]:81/"},
		{"foo://", "foo:"},
		{"foo:///", "foo:///"},
		{"foo:/a", "foo:/a"},
		{"foo:/.//a", "foo:/.//a"},
		{"file:///C:/a b", "file:///C:/a%20b"},
		{"mailto:a b?c#d", "mailto:a b?c#d"},
		{"foo://h", "foo://h"},
		{"http://h/*", "http://h/*"},
	} {
		u := urlcore.MustParse(c[0])
		if v, err := u.NetURL(); err != nil || v.String() != c[1] {
			t.Errorf("%s becomes %s (%v), want %s", c[0], v, err, c[1])
		}
		checkNetURL(t, u)
	}
	if v, err := new(urlcore.URL).NetURL(); err != nil || v.String() != "" || v.User != nil {
		t.Errorf("the empty URL becomes %q (%v)", v, err)
	}
	for _, host := range []string{"h%3A80", "%5b", "a%22"} {
		if v, err := urlcore.MustParse("foo://" + host + "/").NetURL(); !errors.Is(err, urlcore.ErrNetURL) {
			t.Errorf("%s becomes %s (%v)", host, v, err)
		}
	}
}

// checkNetURL sees that a URL comes back from net/url with nothing lost but what NetURL says.
func checkNetURL(t rapid.TB, u *urlcore.URL) {
	t.Helper()
	v, err := u.NetURL()
	if !u.Special() && (err != nil || u.HostKind() == urlcore.HostEmpty && u.Pathname() == "") {
		return
	}
	back, backErr := urlcore.FromNetURL(v)
	if err != nil || backErr != nil {
		t.Fatalf("%s becomes %s: %v, %v", u, v, err, backErr)
	}
	same := back.Port() == u.Port() && string(back.Bytes(urlcore.Query)) == string(u.Bytes(urlcore.Query)) && back.HasQuery() == u.HasQuery() &&
		back.OpaquePath() == u.OpaquePath() && unescape(back.Hash()) == unescape(u.Hash()) && unescape(back.Hostname()) == unescape(u.Hostname()) &&
		unescape(back.Username()) == unescape(u.Username()) && unescape(back.Password()) == unescape(u.Password())
	if theirs := strings.Split(back.Pathname(), "/"); len(theirs) == strings.Count(u.Pathname(), "/")+1 {
		for i, segment := range strings.Split(u.Pathname(), "/") {
			same = same && unescape(theirs[i]) == unescape(segment)
		}
	} else {
		same = false
	}
	if !same || back.HasHost() != u.HasHost() {
		t.Fatalf("%s becomes %s, which comes back as %s", u, v, back)
	}
	if u.OpaquePath() && v.Opaque != u.Pathname() || v.Hostname() != strings.Trim(unescape(u.Hostname()), "[]") || v.Port() != u.Port() {
		t.Fatalf("%s becomes %+v", u, v)
	}
}

func unescape(s string) string { return string(percent.Decode(s)) }

// TestNetURLComesBack converts the URLs of the standard's tests.
func TestNetURLComesBack(t *testing.T) {
	n := 0
	for _, c := range conformance.Cases[map[string]any](t, "urltestdata.json") {
		if href, ok := c["href"].(string); ok {
			if u, err := urlcore.Parse(href); err == nil {
				checkNetURL(t, u)
				n++
			}
		}
	}
	if n < 300 {
		t.Errorf("%d URLs only", n)
	}
}

func FuzzNetURL(f *testing.F) {
	for _, input := range fuzzSeeds {
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input string) {
		if u, err := urlcore.Parse(input); err == nil {
			checkNetURL(t, u)
		}
	})
}
