package rfc3986

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/internal/dev/cputime"
)

func TestRemoveDotSegments(t *testing.T) {
	for in, want := range map[string]string{
		"":                    "",
		"/":                   "/",
		".":                   "",
		"..":                  "",
		"./":                  "",
		"../":                 "",
		"../../a":             "a",
		"./a":                 "a",
		"/.":                  "/",
		"/..":                 "/",
		"/./":                 "/",
		"/../":                "/",
		"/a/b/c/./../../g":    "/a/g",
		"mid/content=5/../6":  "mid/6",
		"a/..":                "/",
		"a/../b":              "/b",
		"a/../../b":           "/b",
		"/a//../b":            "/a/b",
		"/a/.../b":            "/a/.../b",
		"/a/..b/.c/d./e..":    "/a/..b/.c/d./e..",
		"/%2e/%2E%2e/a":       "/%2e/%2E%2e/a",
		"//a/../..//b":        "//b",
		"/a/b/..":             "/a/",
		"/a/b/.":              "/a/b/",
		"/a/../../../../b/./": "/b/",
	} {
		if got := RemoveDotSegments(in); got != want {
			t.Errorf("RemoveDotSegments(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct{ base, ref, strict, nonStrict string }{
		{"http://a/b/c", "HTTP:g?y#s", "HTTP:g?y#s", "http://a/b/g?y#s"},
		{"http://a/b?q#f", "", "http://a/b?q", "http://a/b?q"},
		{"http://a/b?q", "?", "http://a/b?", "http://a/b?"},
		{"http://a", "b", "http://a/b", "http://a/b"},
		{"http://a", "../b", "http://a/b", "http://a/b"},
		{"a:b", "c", "a:c", "a:c"},
		{"a:", "c", "a:c", "a:c"},
		{"a:b/c", "../../d", "a:/d", "a:/d"},
		{"a:/b", "/..//c", "a:/.//c", "a:/.//c"},
		{"a:/b", "//h/..//c", "a://h//c", "a://h//c"},
		{"a:b", "x:./y/../z", "x:/z", "x:/z"}, // section 5.2.4 leaves the slash of a relative path that it has emptied
	} {
		for mode, want := range map[Mode]string{Strict: c.strict, NonStrict: c.nonStrict} {
			got, err := Resolve(Split(c.base), Split(c.ref), mode)
			if err != nil || got.String() != want {
				t.Errorf("%q against %q, mode %d: %q, %v, want %q", c.ref, c.base, mode, got.String(), err, want)
			}
		}
	}
	for _, base := range []string{"", "//h/p", "a/b"} {
		var failure *Error
		if got, err := ResolveReference(base, "http://a/"); !errors.As(err, &failure) || failure.Code != CodeBase || got != "" {
			t.Errorf("base %q: %q, %v", base, got, err)
		}
	}
}

// TestAgainstNetURL compares with net/url on references that it treats by the RFC: with plain segments, and
// without empty ones.
func TestAgainstNetURL(t *testing.T) {
	segment := rapid.SampledFrom([]string{".", "..", "a", "b;c=1", "...", ".d", "e.", "%41"})
	tail := rapid.SampledFrom([]string{"", "?", "?q", "#f", "?q/../r#f/./g"})
	rapid.Check(t, func(t *rapid.T) {
		path := func(label string) string {
			p := strings.Join(rapid.SliceOfN(segment, 0, 6).Draw(t, label), "/")
			if rapid.Bool().Draw(t, label+" ends in a slash") && p != "" {
				p += "/"
			}
			return p
		}
		// The RFC keeps the dot segments of a base whose path is not replaced, net/url does not.
		base := "http://h/" + strings.TrimPrefix(RemoveDotSegments("/"+path("base")), "/") + rapid.SampledFrom([]string{"", "?x"}).Draw(t, "base query")
		ref := rapid.SampledFrom([]string{"", "/", "//g/", "s://g/"}).Draw(t, "start") + path("ref") + tail.Draw(t, "tail")
		b, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		r, err := url.Parse(ref)
		if err != nil {
			t.Fatal(err)
		}
		want := b.ResolveReference(r).String()
		got, err := ResolveReference(base, ref)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%q against %q: %q, net/url has %q", ref, base, got, want)
		}
	})
}

// TestLinearTime compares the CPU time that an adversarial input costs with that of sixteen of a sixteenth of its length.
func TestLinearTime(t *testing.T) {
	const small, factor, bound = 1 << 14, 16, 6 // it is about 1 for linear work, and 16 for quadratic work
	for name, unit := range map[string]string{"up": "a/../", "deep": "a/", "dots": "../", "colons": "a:", "at": "a@", "triplets": "%41"} {
		on := func(n int) func() {
			s := "http://h/" + strings.Repeat(unit, n)
			return func() {
				if _, err := ResolveReference("http://h/", s); err != nil {
					t.Fatal(err)
				}
				if _, err := Parse(s); err != nil {
					t.Fatal(err)
				}
			}
		}
		if r := cputime.Ratio(bound, factor, on(small), on(small*factor)); r > bound {
			t.Errorf("%s: %.1f times the time of %d short ones", name, r, factor)
		}
	}
}
