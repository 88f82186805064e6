package rfc3986_test

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore/rfc3986"
)

type features = conformance.Features

func TestFeatures(t *testing.T) { conformance.RunFeatures(t, rows) }

// expect reports a value that is not as it should be.
func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v and not %v", what, got, want)
	}
}

// matches makes a test of a production: texts that it matches, and texts that it does not.
func matches(p rfc3986.Production, yes, no []string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for _, s := range yes {
			expect(t, p.String()+" "+s, p.Match(s), true)
		}
		for _, s := range no {
			expect(t, p.String()+" "+s, p.Match(s), false)
		}
	}
}

// all makes a test of several.
func all(tests ...func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for _, test := range tests {
			test(t)
		}
	}
}

// characters makes a test of a production for one character, which follows a prefix: it matches exactly these.
func characters(p rfc3986.Production, prefix, valid string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for b := range 256 {
			s := prefix + string([]byte{byte(b)})
			expect(t, p.String()+" "+s, p.Match(s), strings.IndexByte(valid, byte(b)) >= 0)
		}
	}
}

const (
	unreserved = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_~"
	subDelims  = "!$&'()*+,;="
)

var rows = features{
	"L1": func(t *testing.T) {
		for s, want := range map[string]rfc3986.Ref{
			"s://a/p?q#f":  {Scheme: "s", Authority: "a", Path: "/p", Query: "q", Fragment: "f", HasScheme: true, HasAuthority: true, HasQuery: true, HasFragment: true},
			"s://?#":       {Scheme: "s", HasScheme: true, HasAuthority: true, HasQuery: true, HasFragment: true},
			"":             {},
			"//a":          {Authority: "a", HasAuthority: true},
			"p?q?r#f#g":    {Path: "p", Query: "q?r", Fragment: "f#g", HasQuery: true, HasFragment: true},
			"mailto:a@b":   {Scheme: "mailto", Path: "a@b", HasScheme: true},
			"/p:q":         {Path: "/p:q"},
			"1a:b":         {Scheme: "1a", Path: "b", HasScheme: true}, // by appendix B; the grammar refuses it
			"s:?":          {Scheme: "s", HasScheme: true, HasQuery: true},
			"http://h?a/b": {Scheme: "http", Authority: "h", Query: "a/b", HasScheme: true, HasAuthority: true, HasQuery: true},
		} {
			got := rfc3986.Split(s)
			expect(t, s, got, want)
			expect(t, s, got.String(), s)
		}
	},
	"L2": all(
		matches(rfc3986.URI, []string{"a:", "a:b#c", "a://b?c#d", "a:/", "urn:x:y"}, []string{"", "a", "//a", "a:b c", ":a", "a:#b#c", "a:[", "\u00e9:a"}),
		matches(rfc3986.AbsoluteURI, []string{"a:", "a://b?c"}, []string{"a:#", "a#b", "a"}),
		matches(rfc3986.RelativeRef, []string{"", "a", "/a", "//a", "?a", "#a", "./a:b"}, []string{"a:b", "a b", "%", "//[", "1a:b"}),
	),
	"L3": all(
		matches(rfc3986.Scheme, []string{"a", "A1", "a+b-c.d"}, []string{"", "1", "+a", "a_", "a:", "\u00e9"}),
		characters(rfc3986.Scheme, "a", "+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
	),
	"L4": all(
		matches(rfc3986.Authority, []string{"", "a", "a:1", "u@a", "u:p@a:1", "@", ":", "a:", "[::1]:1", "%41"}, []string{"a:x", "a@b@c", "a/b", "[", "a:1:2", "a b"}),
		characters(rfc3986.Userinfo, "", unreserved+subDelims+":"),
		matches(rfc3986.Port, []string{"", "0", "99999999999999999999"}, []string{"a", "-1", "1a"}),
	),
	"L5": all(
		matches(rfc3986.IPv6Address, []string{
			"1:2:3:4:5:6:7:8", "::2:3:4:5:6:7:8", "1::3:4:5:6:7:8", "1:2::4:5:6:7:8", "1:2:3::5:6:7:8", "1:2:3:4::6:7:8", "1:2:3:4:5::7:8", "1:2:3:4:5:6::8", "1:2:3:4:5:6:7::",
			"::", "1:2:3:4:5:6:1.2.3.4", "::1.2.3.4", "0001::",
		}, []string{"", ":", "1:2:3:4:5:6:7", "1::2::3", "1:2:3:4:5:6:7:8:9", "12345::", "::1.2.3", "::1.2.3.256", "::1.2.3.4:5", "::01.2.3.4", "1:2:3:4:5:6:7:8::", "::g"}),
		matches(rfc3986.IPvFuture, []string{"v1.a", "vF.:", "v1a.!$"}, []string{"v.a", "v1.", "v1a", "vg.a", "1.a"}),
		matches(rfc3986.IPv4Address, []string{"0.0.0.0", "255.249.199.99"}, []string{"256.0.0.0", "01.0.0.0", "1.2.3", "1.2.3.4.5", "1.2.3.", "300.1.1.1"}),
		matches(rfc3986.DecOctet, []string{"0", "9", "10", "99", "100", "199", "200", "249", "250", "255"}, []string{"00", "01", "256", "260", "300", "1000", "", "a"}),
		matches(rfc3986.RegName, []string{"", "a", "1.2.3.4", "a%20b", "!$&'()*+,;="}, []string{"a:b", "[", "a b", "%", "%4", "\u00e9"}),
	),
	"L6": all(
		matches(rfc3986.PathAbempty, []string{"", "/", "//", "/a//b"}, []string{"a", "a/b"}),
		matches(rfc3986.PathAbsolute, []string{"/", "/a", "/a//"}, []string{"", "//", "//a", "a"}),
		matches(rfc3986.PathNoscheme, []string{"a", "a/b:c", "@"}, []string{"", "/a", "a:b", ":"}),
		matches(rfc3986.PathRootless, []string{"a", "a:b", "a//b"}, []string{"", "/a"}),
		matches(rfc3986.PathEmpty, []string{""}, []string{"a", "/"}),
	),
	"L7": all(
		characters(rfc3986.Query, "", unreserved+subDelims+":@/?"), characters(rfc3986.Fragment, "", unreserved+subDelims+":@/?"),
		matches(rfc3986.Query, []string{"", "%41", "a=b&c?d/e"}, []string{"%", "%zz", "#", "a b", "[]"}),
	),
	"L8": all(
		characters(rfc3986.PChar, "", unreserved+subDelims+":@"), characters(rfc3986.SubDelims, "", subDelims), characters(rfc3986.GenDelims, "", ":/?#[]@"),
		characters(rfc3986.Unreserved, "", unreserved), characters(rfc3986.Reserved, "", ":/?#[]@"+subDelims),
		matches(rfc3986.Path, []string{"a&b"}, nil), matches(rfc3986.Query, []string{"a&b:c@d"}, nil), matches(rfc3986.Fragment, []string{"a&b:c@d"}, nil),
		matches(rfc3986.Authority, nil, []string{"0:0:0:0:0:0:0:1", "//0:0:0:0:0:0:0:1"}),
		func(t *testing.T) { expect(t, "mail", rfc3986.Split("mizdra@mail.com").HasAuthority, false) },
	),
	"L9": func(t *testing.T) {
		for _, c := range [][4]string{ // base, reference, strict, not strict where it differs
			{"s://h/a/b/c?q", "../d", "s://h/a/d"},
			{"s://h/a/b/c?q", "", "s://h/a/b/c?q"},
			{"s://h/a/b/c?q", "?x", "s://h/a/b/c?x"},
			{"s://h/a/b/c?q", "#f", "s://h/a/b/c?q#f"},
			{"s://h/a/b/c?q", "//i", "s://i"},
			{"s://h", "d", "s://h/d"},
			{"s://h/a/b", "%2e%2e/d", "s://h/a/%2e%2e/d"},
			{"s://h/a/b", "\\d", "s://h/a/\\d"},
			{"s://h/a/b", "///d", "s:///d"},
			{"s://h/a/b", "s:d", "s:d", "s://h/a/d"},
			{"s:a/b", "../../d", "s:/d"},
		} {
			strict, err := rfc3986.ResolveReference(c[0], c[1])
			expect(t, c[1], strict, c[2])
			expect(t, c[1], err, nil)
			lax, err := rfc3986.Resolve(rfc3986.Split(c[0]), rfc3986.Split(c[1]), rfc3986.NonStrict)
			expect(t, c[1], err, nil)
			want := c[2]
			if c[3] != "" {
				want = c[3]
			}
			expect(t, c[1]+", not strict", lax.String(), want)
		}
		for path, want := range map[string]string{"/a/./b/../c": "/a/c", "/..": "/", "/a/.": "/a/", "a/../b": "/b", "/%2e": "/%2e", "..": "", "/a/..b": "/a/..b"} {
			expect(t, path, rfc3986.RemoveDotSegments(path), want)
		}
		if _, err := rfc3986.ResolveReference("//h/a", "b"); err == nil {
			t.Error("a base without a scheme")
		}
	},
	"L10": func(t *testing.T) {
		for s, want := range map[string][2]string{
			"https://h/a/b.tar.gz?x.y": {"b.tar.gz", "gz"}, "https://h/a/": {"", ""}, "https://h": {"", ""}, "a": {"a", ""}, ".profile": {".profile", ""}, "a.": {"a.", ""},
			"https://h/%2e.txt": {"%2e.txt", "txt"}, "https://h/a/..": {"", ""},
		} {
			r := rfc3986.Split(s)
			expect(t, s, [2]string{r.FileName(), r.Extension()}, want)
		}
	},
}
