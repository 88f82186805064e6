package urlcore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

// trySetters has for each setter the one that reports, in the order of setterList.
var trySetters = []func(*urlcore.URL, string) error{
	(*urlcore.URL).TrySetProtocol, (*urlcore.URL).TrySetUsername, (*urlcore.URL).TrySetPassword, (*urlcore.URL).TrySetHost,
	(*urlcore.URL).TrySetHostname, (*urlcore.URL).TrySetPort, (*urlcore.URL).TrySetPathname, (*urlcore.URL).TrySetSearch,
	(*urlcore.URL).TrySetHash,
}

// The places of setters in trySetters.
const (
	trySetProtocol = iota
	trySetUsername
	trySetPassword
	trySetHost
	trySetHostname
	trySetPort
	trySetPathname
	trySetSearch
	trySetHash
)

func TestTrySetters(t *testing.T) {
	for _, c := range []struct {
		url    string
		setter int
		value  string
		reason urlcore.Refusal
		code   urlcore.Code
		pos    int
	}{
		{"", trySetHash, "x", urlcore.RefusedEmptyURL, 0, 0},
		{"", trySetSearch, "x", urlcore.RefusedEmptyURL, 0, 0},
		{"", trySetPathname, "x", urlcore.RefusedEmptyURL, 0, 0},
		{"", trySetPort, "1", urlcore.RefusedEmptyURL, 0, 0},
		{"", trySetUsername, "x", urlcore.RefusedEmptyURL, 0, 0},
		{"", trySetHost, "x", urlcore.RefusedEmptyURL, 0, 0},
		{"", trySetProtocol, "x", urlcore.RefusedEmptyURL, 0, 0},
		{"https://h/", trySetProtocol, "", urlcore.RefusedScheme, 0, 0},
		{"https://h/", trySetProtocol, "1x", urlcore.RefusedScheme, 0, 0},
		{"https://h/", trySetProtocol, "\th\ntt p", urlcore.RefusedScheme, 0, 5},
		{"https://h/", trySetProtocol, "http://", urlcore.RefusedRest, 0, 5},
		{"https://h/", trySetProtocol, "http::", urlcore.RefusedRest, 0, 5},
		{"https://h/", trySetProtocol, "foo", urlcore.RefusedSpecial, 0, 0},
		{"foo://h/", trySetProtocol, "https", urlcore.RefusedSpecial, 0, 0},
		{"https://u@h/", trySetProtocol, "file", urlcore.RefusedFile, 0, 0},
		{"https://h:1/", trySetProtocol, "file:", urlcore.RefusedFile, 0, 0},
		{"file:///x", trySetProtocol, "https", urlcore.RefusedWithoutHost, 0, 0},
		{"mailto:x", trySetUsername, "u", urlcore.RefusedWithoutHost, 0, 0},
		{"foo:///x", trySetPassword, "p", urlcore.RefusedWithoutHost, 0, 0},
		{"file://h/", trySetPassword, "p", urlcore.RefusedFile, 0, 0},
		{"file:///", trySetPort, "1", urlcore.RefusedFile, 0, 0},
		{"foo:/x", trySetPort, "1", urlcore.RefusedWithoutHost, 0, 0},
		{"mailto:x", trySetHost, "h", urlcore.RefusedOpaquePath, 0, 0},
		{"mailto:x", trySetHostname, "h", urlcore.RefusedOpaquePath, 0, 0},
		{"mailto:x", trySetPathname, "/x", urlcore.RefusedOpaquePath, 0, 0},
		{"https://h/", trySetHost, "", urlcore.RefusedValue, urlcore.CodeHostMissing, 0},
		{"https://h/", trySetHost, ":80", urlcore.RefusedValue, urlcore.CodeHostMissing, 0},
		{"https://h/", trySetHost, "i\tj k", urlcore.RefusedValue, urlcore.CodeDomainToASCII, 3},
		{"https://h/", trySetHost, "i:x", urlcore.RefusedValue, urlcore.CodePortInvalid, 2},
		{"https://h/", trySetHost, "i:", urlcore.RefusedValue, urlcore.CodePortInvalid, 2},
		{"https://h/", trySetHost, "i:65536", urlcore.RefusedValue, urlcore.CodePortOutOfRange, 2},
		{"https://h/", trySetHost, "i:1x", urlcore.RefusedRest, 0, 3},
		{"https://h/", trySetHost, "i/x", urlcore.RefusedRest, 0, 1},
		{"https://h/", trySetHost, `i\x`, urlcore.RefusedRest, 0, 1},
		{"file:///x", trySetHost, "i/x", urlcore.RefusedRest, 0, 1},
		{"file:///x", trySetHost, "a b", urlcore.RefusedValue, urlcore.CodeDomainToASCII, 1},
		{"https://h/", trySetHostname, "i:80", urlcore.RefusedRest, 0, 1},
		{"https://h/", trySetHostname, "[::1", urlcore.RefusedValue, urlcore.CodeIPv6Unclosed, 4},
		{"foo://u@h/", trySetHost, "", urlcore.RefusedEmptyHost, 0, 0},
		{"foo://h:1/", trySetHostname, "/x", urlcore.RefusedEmptyHost, 0, 0},
		{"https://h/", trySetPort, "x", urlcore.RefusedValue, urlcore.CodePortInvalid, 0},
		{"https://h/", trySetPort, "\n", urlcore.RefusedValue, urlcore.CodePortInvalid, 1},
		{"https://h/", trySetPort, "\n80 ", urlcore.RefusedRest, 0, 3},
		{"https://h/", trySetPort, "99999", urlcore.RefusedValue, urlcore.CodePortOutOfRange, 0},
	} {
		var u urlcore.URL
		if err := u.Set(c.url); err != nil {
			t.Fatal(err)
		}
		var e *urlcore.SetError
		err := trySetters[c.setter](&u, c.value)
		if !errors.As(err, &e) || e.Reason != c.reason || e.Code != c.code || e.Pos != c.pos || u.Href() != c.url {
			t.Errorf("%q set by %d to %q: %#v, %s", c.url, c.setter, c.value, err, u)
		}
	}
}

// TestTrySettersTake is about values that are taken, also those that make no difference.
func TestTrySettersTake(t *testing.T) {
	for _, c := range []struct {
		url    string
		setter int
		value  string
		want   string
	}{
		{"https://h/", trySetProtocol, "HTTP:", "http://h/"},
		{"https://h/", trySetProtocol, "https", "https://h/"},
		{"https://h/", trySetUsername, "a b", "https://a%20b@h/"},
		{"https://u:p@h/", trySetPassword, "", "https://u@h/"},
		{"https://h:1/", trySetHost, "I", "https://i:1/"},
		{"https://h:1/", trySetHost, "i:443", "https://i/"},
		{"file://h/x", trySetHost, "", "file:///x"},
		{"https://h:1/", trySetHostname, "[::0:1]", "https://[::1]:1/"},
		{"https://h:1/", trySetPort, "", "https://h/"},
		{"https://h/", trySetPort, "443", "https://h/"},
		{"https://h/", trySetPort, "8\t0", "https://h:80/"},
		{"https://h/", trySetPathname, "a?b", "https://h/a%3Fb"},
		{"mailto:x", trySetSearch, "?y", "mailto:x?y"},
		{"https://h/#f", trySetHash, "", "https://h/"},
	} {
		u := urlcore.MustParse(c.url)
		if err := trySetters[c.setter](u, c.value); err != nil || u.Href() != c.want {
			t.Errorf("%s set by %d to %q: %s, %v", c.url, c.setter, c.value, u, err)
		}
	}
}

func TestSetErrorMessages(t *testing.T) {
	for want, err := range map[string]error{
		`urlcore: host "a b" is not set: domain-to-ASCII at byte 1: the host is not a valid domain name`:      urlcore.MustParse("https://h/").TrySetHost("a b"),
		`urlcore: port "80x" is not set: byte 2: the value goes on behind what could be set: give that alone`: urlcore.MustParse("https://h/").TrySetPort("80x"),
		`urlcore: password is not set: the URL has no host: set one first`:                                    urlcore.MustParse("foo:x").TrySetPassword("secret"),
		`urlcore: username is not set: file URLs have no username, password or port`:                          urlcore.MustParse("file://h/").TrySetUsername("secret"),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, and not %s", err, want)
		}
	}
	err := urlcore.MustParse("https://h/").TrySetHost(strings.Repeat(" ", 1000))
	if err == nil || len(err.Error()) > 300 {
		t.Errorf("%v", err)
	}
	var long *urlcore.SetError
	err = urlcore.MustParse("https://h/").TrySetHash(urlcore.StringOf(make([]byte, urlcore.MaxInput+2)))
	if !errors.As(err, &long) || long.Reason != urlcore.RefusedValue || long.Code != urlcore.CodeInputTooLong {
		t.Errorf("%.100v", err)
	}
}

func TestRefusals(t *testing.T) {
	names := map[string]bool{}
	for r := urlcore.RefusedEmptyURL; r <= urlcore.RefusedEmptyHost; r++ {
		if name := r.String(); name == "" || names[name] || strings.ContainsAny(name, " _") || r.Text() == "" {
			t.Errorf("refusal %d is named %q: %s", r, name, r.Text())
		}
		names[r.String()] = true
	}
	if unknown := urlcore.RefusedEmptyHost + 1; unknown.String() != "refusal-10" || unknown.Text() != "unknown reason" {
		t.Errorf("%s: %s", unknown, unknown.Text())
	}
	for r, number := range map[urlcore.Refusal]int{ // which programs may store
		urlcore.RefusedEmptyURL: 1, urlcore.RefusedOpaquePath: 4, urlcore.RefusedEmptyHost: 9,
	} {
		if int(r) != number {
			t.Errorf("%s is %d and not %d", r, r, number)
		}
	}
}

// FuzzTrySetters compares the setters that report with the standard's.
func FuzzTrySetters(f *testing.F) {
	for i, input := range fuzzSeeds {
		for _, value := range []string{"", "x:80/y?z#a", "file", "h\t:8\n0", "//\u00e9@"} {
			f.Add(input, byte(i), value)
		}
	}
	f.Fuzz(func(t *testing.T, input string, which byte, value string) {
		var u urlcore.URL
		_ = u.Set(input)
		silent, setter := *u.Clone(), int(which)%len(trySetters)
		before := u.Href()
		setterList[setter](&silent, value)
		err := trySetters[setter](&u, value)
		var e *urlcore.SetError
		switch {
		case err == nil && !urlcore.SameRecord(&u, &silent):
			t.Fatalf("%q set by %d to %q: %q and not %q", before, setter, value, &u, &silent)
		case err == nil:
			return
		case !errors.As(err, &e) || e.Reason == 0 || (e.Code != 0) != (e.Reason == urlcore.RefusedValue) || e.Pos < 0 || e.Pos > len(value):
			t.Fatalf("%q set by %d to %q: %#v", before, setter, value, err)
		case u.Href() != before:
			t.Fatalf("%q set by %d to %q: %q, but %v", before, setter, value, &u, err)
		case silent.Href() != before && e.Reason != urlcore.RefusedRest && (setter != trySetHost || e.Reason != urlcore.RefusedValue):
			t.Fatalf("%q set by %d to %q: %v, but the setter makes %q", before, setter, value, err, &silent)
		}
	})
}
