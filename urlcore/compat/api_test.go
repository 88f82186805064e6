package compat_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlmill/urlmill/internal/dev/cputime"
	"github.com/urlmill/urlmill/urlcore/compat"
)

func ExampleParseSpark() {
	u, err := compat.ParseSpark("https://my_shop.example/a/../b?q=1&q=2")
	fmt.Println(err)
	host, ok := u.Host()
	fmt.Printf("%q %t\n", host, ok)
	path, ok := u.Path()
	fmt.Printf("%q %t\n", path, ok)
	key, err := compat.ParseSparkKey("q")
	fmt.Println(err)
	fmt.Println(u.Param(key))

	_, err = compat.ParseSpark("https://example.com/a b")
	fmt.Println(err)
	// Output:
	// <nil>
	// "" false
	// "/a/../b" true
	// <nil>
	// 1 true
	// Illegal character in path at byte 21
}

func ExampleClickHouse() {
	u := compat.ClickHouse("https://www.Example.co.uk:8443/a/../b?q=two+words#top")
	fmt.Println(u.Domain(), u.Port(0), u.Path(), u.ExtractURLParameter("q"))
	fmt.Println(u.CutToFirstSignificantSubdomain())
	fmt.Println(u.URLPathHierarchy())
	// Output:
	// www.Example.co.uk 8443 /a/../b two+words
	// Example.co.uk
	// [/a/ /a/../ /a/../b? /a/../b?q=two+words# /a/../b?q=two+words#top]
}

func ExampleClickHouse_CutURLParameter() {
	fmt.Println(compat.ClickHouse("https://example.com/?a=1&utm_source=x&b=2#f").CutURLParameter("utm_source", "b"))
	// Output: https://example.com/?a=1#f
}

func ExampleClickHouse_DecodeURLComponent() {
	fmt.Println(compat.ClickHouse("%E4%B8%AD+%zz").DecodeURLComponent())
	// Output: 中+%zz
}

// TestSparkError checks reasons, which are those of java.net.URISyntaxException, and positions.
func TestSparkError(t *testing.T) {
	for url, want := range map[string]string{
		"":                         "<nil>",
		":a":                       "Expected scheme name at byte 0",
		"1a:b":                     "Illegal character in scheme name at byte 0",
		"a_b:c":                    "Illegal character in scheme name at byte 1",
		"a:":                       "Expected scheme-specific part at byte 2",
		"a:b c":                    "Illegal character in opaque part at byte 3",
		"http://":                  "Expected authority at byte 7",
		"http://a b/":              "Illegal character in authority at byte 8",
		"http://h/é b":             "Illegal character in path at byte 11",
		"http://h/?q=^":            "Illegal character in query at byte 12",
		"http://h/#a#b":            "Illegal character in fragment at byte 11",
		"http://h/%4":              "Malformed escape pair at byte 9",
		"http://[::1":              "Expected closing bracket for IPv6 address at byte 11",
		"http://[::g]/":            "Expected hex digits or IPv4 address at byte 10",
		"http://[1:2]/":            "IPv6 address too short at byte 8",
		"http://[::1]:x/":          "Illegal character in port number at byte 13",
		"http://[::1]:2147483648/": "Malformed port number at byte 13",
		"http://[fe80::1%]/":       "scope id expected at byte 16",
	} {
		u, err := compat.ParseSpark(url)
		if fmt.Sprint(err) != want {
			t.Errorf("%q: %v and not %s", url, err, want)
		}
		if _, ok := u.Path(); ok != (err == nil) {
			t.Errorf("%q: the error is %v, and that there is a path is %t", url, err, ok)
		}
	}
}

// TestSparkKey checks which keys are refused, and where.
func TestSparkKey(t *testing.T) {
	for key, pos := range map[string]int{"ids[]": 3, "a|b": 1, "^a": 0, `\d`: 0, `a\`: 1, "a*": 1, "(a)": 0, "x{2}": 1, "a$": 1, "a?": 1, "+": 0} {
		_, err := compat.ParseSparkKey(key)
		var e *compat.KeyError
		if !errors.As(err, &e) || e.Pos != pos || e.Key != key {
			t.Errorf("%q: %v", key, err)
		}
	}
	u, _ := compat.ParseSpark("http://h/?ids[]=1&a.b=2")
	for key, want := range map[string]string{`ids\[\]`: "1", "ids..": "1", "a.b": "2", `a\.b`: "2"} {
		k, err := compat.ParseSparkKey(key)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := u.Param(k); !ok && want != "" || got != want {
			t.Errorf("%q: %q, %t", key, got, ok)
		}
	}
}

// all calls everything with a URL, and returns how many bytes it has got.
func all(url string) (n int) {
	u, _ := compat.ParseSpark(url)
	for _, part := range []string{"HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO", "x"} {
		text, _ := u.Part(part)
		n += len(text)
	}
	for _, name := range []string{"", "a", "a.b", `\&`} {
		key, _ := compat.ParseSparkKey(name)
		text, _ := u.Param(key)
		n += len(text)
	}
	c := compat.ClickHouse(url)
	for _, f := range []func(compat.ClickHouse) string{
		compat.ClickHouse.Protocol, compat.ClickHouse.Domain, compat.ClickHouse.TopLevelDomain, compat.ClickHouse.FirstSignificantSubdomain,
		compat.ClickHouse.CutToFirstSignificantSubdomain, compat.ClickHouse.CutToFirstSignificantSubdomainWithWWW, compat.ClickHouse.Path,
		compat.ClickHouse.QueryString, compat.ClickHouse.Fragment, compat.ClickHouse.QueryStringAndFragment, compat.ClickHouse.Netloc,
		compat.ClickHouse.CutWWW, compat.ClickHouse.CutQueryString, compat.ClickHouse.CutQueryStringAndFragment, compat.ClickHouse.Basename,
		compat.ClickHouse.DecodeURLFormComponent, compat.ClickHouse.EncodeURLFormComponent,
	} {
		n += len(f(c))
	}
	n += len(c.ExtractURLParameter("a")) + len(c.CutURLParameter("a", ""))
	return n + int(c.Port(80)) + len(c.ExtractURLParameters()) + len(c.ExtractURLParameterNames())
}

// TestLinear compares the CPU time for a URL with that for sixteen of a sixteenth of its length: linear work takes about as
// long, quadratic work sixteen times. Hierarchies are left out, whose beginnings of the URL are its square, written down.
func TestLinear(t *testing.T) {
	const small, factor, bound = 16 << 10, 16, 5
	for name, build := range map[string]func(n int) string{
		"at signs":   func(n int) string { return "http://" + strings.Repeat("@", n) },
		"ampersands": func(n int) string { return "http://a.b/?" + strings.Repeat("&", n) },
		"names":      func(n int) string { return "http://a.b/?" + strings.Repeat("xa=", n/3) },
		"parameters": func(n int) string { return "http://a.b/?" + strings.Repeat("b=1&", n/4) },
		"questions":  func(n int) string { return "http://a.b/" + strings.Repeat("?", n) },
		"slashes":    func(n int) string { return "http:" + strings.Repeat("/", n) },
		"labels":     func(n int) string { return "http://" + strings.Repeat("a.", n/2) },
		"hyphens":    func(n int) string { return "http://a" + strings.Repeat("-", n) },
		"digits":     func(n int) string { return "http://a.b:" + strings.Repeat("0", n) },
		"octets":     func(n int) string { return "http://[::" + strings.Repeat("1.", n/2) },
		"groups":     func(n int) string { return "http://[" + strings.Repeat("1:", n/2) + "]" },
		"escapes":    func(n int) string { return "http://a.b/" + strings.Repeat("%41", n/3) },
		"percents":   func(n int) string { return "http://a.b/" + strings.Repeat("%", n) },
		"ill-formed": func(n int) string { return "http://a.b/" + strings.Repeat("\xe4\xb8", n/2) },
	} {
		run := func(n int) func() {
			url := build(n)
			return func() { all(url) }
		}
		if r := cputime.Ratio(bound, factor, run(small), run(small*factor)); r > bound {
			t.Errorf("%s: %d bytes take %.1f times the time of %d times %d bytes", name, small*factor, r, factor, small)
		}
	}
}

// TestAllocations checks that substrings are no copies.
func TestAllocations(t *testing.T) {
	const url = "https://user@www.example.co.uk:8443/a/../b?q=1&utm_source=x#top"
	key, _ := compat.ParseSparkKey("utm_source")
	compat.ClickHouse(url).FirstSignificantSubdomain() // reads the list of suffixes
	c := compat.ClickHouse(url)
	if n := testing.AllocsPerRun(100, func() {
		u, _ := compat.ParseSpark(url)
		host, _ := u.Host()
		source, _ := u.Param(key)
		if host != c.Domain() || source != c.ExtractURLParameter("utm_source") || c.FirstSignificantSubdomain() != "example" || c.Path() != "/a/../b" || c.Port(0) != 8443 {
			t.Error("other values than before")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzParts checks of any text that nothing panics, and that parts are of the text.
func FuzzParts(f *testing.F) {
	for _, url := range []string{"http://u:p@[::1%25x]:80/a?a=1#f", "mailto:a", "//h", "http://a.b.co.uk:8/?a=1&b#c?d", "\xff", "http://[::1.2.3"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		all(url)
		c := compat.ClickHouse(url)
		parts := append(c.ExtractURLParameters(), c.Protocol(), c.Domain(), c.Path(), c.PathFull(), c.Netloc(), c.QueryString(), c.Fragment())
		for _, part := range append(parts, c.URLHierarchy()...) {
			if !strings.Contains(url, part) {
				t.Errorf("%q is no part of %q", part, url)
			}
		}
		u, err := compat.ParseSpark(url)
		if err != nil {
			return
		}
		text := func(s string, _ bool) string { return s }
		if path := text(u.Path()); utf8.ValidString(url) && !strings.Contains(url, path) {
			t.Errorf("%q is no path of %q", path, url)
		}
		if authority := text(u.Authority()); !strings.Contains(authority, text(u.Host())) || !strings.HasPrefix(authority, text(u.UserInfo())) {
			t.Errorf("%q: %q is not of %q", url, text(u.Host()), authority)
		}
	})
}
