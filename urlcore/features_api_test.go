package urlcore_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

var serializerFeatures = features{
	"G4": func(t *testing.T) {
		hrefs("https://u:@h/", "https://u@h/", "https://:p@h/", "https://:p@h/", "x:/a/..//b", "x:/.//b", "x:/.//b", "x:/.//b", "x:////b", "x:////b", "x:/..//", "x:/.//",
			"https://h/?#", "https://h/?#", "x://h:0/", "x://h:0/")(t)
		expect(t, "without fragment", urlcore.MustParse("https://h/?q#f").HrefWithoutFragment(), "https://h/?q")
		expect(t, "without fragment", urlcore.MustParse("x:y").HrefWithoutFragment(), "x:y")
	},
	"G5": func(t *testing.T) {
		for input, want := range map[string]string{"x:a/b": "a/b", "x:": "", "x:/": "/", "x://h": "", "https://h": "/", "x:/.//b": "//b", "https://h/a/": "/a/", "x:?q": ""} {
			expect(t, input, urlcore.MustParse(input).Pathname(), want)
		}
	},
	"G6": func(t *testing.T) {
		u, v, w := urlcore.MustParse("https://h/a#f"), urlcore.MustParse("HTTPS://h:443/b/../a#f"), urlcore.MustParse("https://h/a#g")
		expect(t, "alike", u.Equal(v), true)
		expect(t, "other fragment", u.Equal(w), false)
		expect(t, "other fragment, excluded", u.EqualExcludingFragments(w), true)
		expect(t, "other path, excluded", u.EqualExcludingFragments(urlcore.MustParse("https://h/b")), false)
		expect(t, "null and empty query", urlcore.MustParse("https://h/?").Equal(urlcore.MustParse("https://h/")), false)
	},
	"G7": func(t *testing.T) {
		for input, want := range map[string]string{
			"https://u:p@h/x": "https://h", "http://h:80/": "http://h", "http://h:81/": "http://h:81", "ftp://h/": "ftp://h", "ws://h:80/": "ws://h", "wss://[::1]:1/": "wss://[::1]:1",
			"https://\u2603/": "https://xn--n3h",
		} {
			u := urlcore.MustParse(input)
			expect(t, input, u.Origin(), want)
			expect(t, input, u.SecurityOrigin().Opaque(), false)
			expect(t, input, urlcore.SameOrigin(u, u), true)
		}
		expect(t, "other port", urlcore.SameOrigin(urlcore.MustParse("https://h"), urlcore.MustParse("https://h:1")), false)
		expect(t, "other scheme", urlcore.SameOrigin(urlcore.MustParse("https://h"), urlcore.MustParse("http://h:443")), false)
	},
	"G8": func(t *testing.T) {
		for _, input := range []string{"file:///x", "file://h/", "x://h/", "data:,x", "about:blank", "javascript:x"} {
			u := urlcore.MustParse(input)
			expect(t, input, u.Origin(), "null")
			expect(t, input, u.SecurityOrigin().Opaque(), true)
			expect(t, input+", itself", urlcore.SameOrigin(u, u), false)
		}
	},
	"G9": func(t *testing.T) {
		for input, want := range map[string]string{
			"blob:https://h:1/x": "https://h:1", "blob:http://h/x": "http://h", "blob:file:///x": "null", "blob:ftp://h/": "null", "blob:ws://h/": "null", "blob:wss://h/": "null",
			"blob:blob:https://h/": "null", "blob:x": "null", "blob:": "null", "blob:https://": "null",
		} {
			expect(t, input, urlcore.MustParse(input).Origin(), want)
		}
		p := urlcore.Parser{ResolveBlob: func(*urlcore.URL) *urlcore.BlobEntry {
			return &urlcore.BlobEntry{Origin: urlcore.MustParse("https://other").SecurityOrigin()}
		}}
		var u urlcore.URL
		p.Parse(&u, []byte("blob:https://h/x"), nil)
		expect(t, "with an entry", u.Origin(), "https://other")
	},
}

var apiFeatures = features{
	"I1": func(t *testing.T) {
		for _, c := range []struct {
			input, base string
			hasBase     bool
			want        bool
		}{
			{"https://h/", "", false, true},
			{"/x", "", false, false},
			{"/x", "https://h/", true, true},
			{"https://h/", "not a base", true, false},
			{"https://h/", "", true, false},
			{"#", "x:y", true, true},
			{"?", "x:y", true, false},
		} {
			_, err := parseMaybeBase(c.input, c.base, c.hasBase)
			can := urlcore.CanParse(c.input)
			if c.hasBase {
				can = urlcore.CanParseWithBase(c.input, c.base)
			}
			if (err == nil) != c.want || can != c.want {
				t.Errorf("%q against %q: %v, %t", c.input, c.base, err, can)
			}
		}
	},
	"I2": func(t *testing.T) {
		u := urlcore.MustParse("https://h/?a=1")
		params := u.SearchParams()
		if u.SetHref("/x") == nil || u.SetHref("") == nil || u.Href() != "https://h/?a=1" {
			t.Errorf("a failing assignment makes %q", u)
		}
		expect(t, "success", u.SetHref("ws://i?b=2"), nil)
		expect(t, "href", u.Href(), "ws://i/?b=2")
		expect(t, "params", params.String(), "b=2")
		text, err := json.Marshal(u)
		expect(t, "toJSON", string(text), `"ws://i/?b=2"`)
		expect(t, "toJSON", err, nil)
		expect(t, "stringifier", u.String(), u.Href())
	},
	"I3": func(t *testing.T) {
		u := urlcore.MustParse("https://u@h:1/x")
		expect(t, "origin", u.Origin(), "https://h:1")
		u.SetPort("")
		expect(t, "origin follows", u.Origin(), "https://h")
		if _, settable := setters["origin"]; settable {
			t.Error("origin can be assigned to")
		}
	},
	"I4": all(
		assigns("protocol", "https://h/", "ws:x", "ws://h/", "https://h/", "WSS", "wss://h/", "https://h/", ":ws", "https://h/", "https://h/", "\u00e9", "https://h/"),
		func(t *testing.T) { expect(t, "getter", urlcore.MustParse("HTTPS://h").Protocol(), "https:") },
	),
	"I5": all(
		assigns("username", "https://h/", "u:@/", "https://u%3A%40%2F@h/", "file://h/", "u", "file://h/", "x:y", "u", "x:y", "x:///", "u", "x:///", "x://h", "u", "x://u@h"),
		assigns("password", "https://u@h/", "p", "https://u:p@h/", "https://h/", "p", "https://:p@h/", "file://h/", "p", "file://h/"),
		func(t *testing.T) {
			u := urlcore.MustParse("https://a%20b:c%3A@h/")
			expect(t, "username", u.Username(), "a%20b")
			expect(t, "password", u.Password(), "c%3A")
		},
	),
	"I6": all(
		assigns("host", "https://h:1/", "i", "https://i:1/", "https://h:1/", "i:2", "https://i:2/", "https://h/", "x:8a", "https://x:8/", "https://h:1/", "x:99999", "https://x:1/",
			"x:y", "h", "x:y", "https://h/", "i/p?q", "https://i/", "https://h:1/", "i:", "https://i:1/", "https://h:1/", "i:443", "https://i/", "x://h/", "i?q", "x://i/",
			"https://h/", "a b", "https://h/", "https://h/", "[::1]:2", "https://[::1]:2/"),
		func(t *testing.T) {
			expect(t, "getter", urlcore.MustParse("https://h:1").Host(), "h:1")
			expect(t, "getter", urlcore.MustParse("https://h:443").Host(), "h")
		},
	),
	"I7": all(
		assigns("hostname", "https://h:1/", "x:80", "https://h:1/", "https://h:1/", "x", "https://x:1/", "x:y", "h", "x:y", "x:/p", "h", "x://h/p", "https://h/", "0x7f.1", "https://127.0.0.1/"),
		func(t *testing.T) { expect(t, "getter", urlcore.MustParse("https://[::1]:1").Hostname(), "[::1]") },
	),
	"I8": all(
		assigns("port", "https://h:1/", "", "https://h/", "https://h/", "8", "https://h:8/", "https://h/", "8.5", "https://h:8/", "https://h:1/", "443x", "https://h/",
			"https://h:1/", "-8", "https://h:1/", "https://h:1/", "\u0661", "https://h:1/", "file://h/", "8", "file://h/"),
		func(t *testing.T) { expect(t, "getter", urlcore.MustParse("https://h:443").Port(), "") },
	),
	"I9": func(t *testing.T) {
		assigns("pathname", "https://h/a?q#f", "b", "https://h/b?q#f", "https://h/", "?#", "https://h/%3F%23", "x:y", "z", "x:y", "x:/a", "//x", "x:/.//x",
			"x://h/a", "//x", "x://h//x", "https://h/a/b", "../c", "https://h/c", "file:///x", "C|/a", "file:///C:/a")(t)
		u := urlcore.MustParse("x:/a")
		u.SetPathname("//x")
		expect(t, "pathname", u.Pathname(), "//x")
		u.SetPathname("x")
		expect(t, "href", u.Href(), "x:/x")
	},
	"I10": func(t *testing.T) {
		assigns("search", "https://h/", "a=b", "https://h/?a=b", "https://h/?x", "", "https://h/", "https://h/", "??a", "https://h/??a", "https://h/#f", "?a#b", "https://h/?a%23b#f",
			"https://h/", "?", "https://h/?", "https://h/", "a\tb'", "https://h/?ab%27", "x://h", "'", "x://h?'")(t)
		expect(t, "empty", urlcore.MustParse("https://h/?").Search(), "")
		expect(t, "null", urlcore.MustParse("https://h/").Search(), "")
		u := urlcore.MustParse("https://h/")
		params := u.SearchParams()
		u.SetSearch("a\tb\nc=d")
		expect(t, "params", params.String(), "abc=d")
		value, ok := params.Get("abc")
		expect(t, "value", value, "d")
		expect(t, "found", ok, true)
	},
	"I11": func(t *testing.T) {
		assigns("hash", "https://h/", "a", "https://h/#a", "https://h/#x", "", "https://h/", "https://h/", "##a", "https://h/##a", "https://h/", "#", "https://h/#", "x:y", " ", "x:y#%20",
			"https://h/?q", "a?b`", "https://h/?q#a?b%60")(t)
		expect(t, "empty", urlcore.MustParse("https://h/#").Hash(), "")
		expect(t, "getter", urlcore.MustParse("https://h/#a").Hash(), "#a")
	},
	"I12": func(t *testing.T) {
		u := urlcore.MustParse("https://h/?a=~&b=%7e&&c")
		params := u.SearchParams()
		expect(t, "same object", u.SearchParams() == params, true)
		params.Get("a")
		for range params.All() {
			break
		}
		expect(t, "looking changes nothing", u.Href(), "https://h/?a=~&b=%7e&&c")
		params.Append("d", "e f")
		expect(t, "a change writes all anew", u.Href(), "https://h/?a=%7E&b=%7E&c=&d=e+f")
		u.SetSearch("?x=y")
		expect(t, "and back", params.String(), "x=y")
		u.SetHref("https://h/?z")
		expect(t, "href too", params.String(), "z=")
	},
	"I13": all( // gone in the newest text
		assigns("search", "x:y ?q", "", "x:y%20", "x:y  ?q#f", "", "x:y %20#f"),
		assigns("hash", "x:y #f", "", "x:y%20"),
		func(t *testing.T) {
			u := urlcore.MustParse("x:y  ?a=b")
			u.SearchParams().Delete("a")
			expect(t, "emptied params", u.Href(), "x:y %20")
		},
	),
	"I19": func(t *testing.T) {
		// Packages around this one hand out strings and values. None of their exported functions returns a *URL, and no
		// exported field holds one. Command-line programs have no importers.
		for _, dir := range []string{"charset", "columns", "display", "form", "percent", "psl", "rfc3986", "../pipeline", "../pipeline/urlcols"} {
			exposedURLs(t, dir)
		}
	},
}

// exposedURLs reports the exported declarations of a package by which callers can get at a mutable URL.
func exposedURLs(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch d := n.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && mentionsURL(d.Type.Results) {
					t.Errorf("%s/%s: %s returns a URL", dir, name, d.Name)
				}
				return false
			case *ast.TypeSpec:
				if s, ok := d.Type.(*ast.StructType); ok && d.Name.IsExported() {
					for _, field := range s.Fields.List {
						if len(field.Names) > 0 && field.Names[0].IsExported() && mentionsURL(field.Type) {
							t.Errorf("%s/%s: field %s of %s holds a URL", dir, name, field.Names[0], d.Name)
						}
					}
				}
			}
			return true
		})
	}
}

// mentionsURL reports whether a type has urlcore.URL in it.
func mentionsURL(n ast.Node) bool {
	found := false
	if list, ok := n.(*ast.FieldList); ok && list == nil {
		return false
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "URL" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "urlcore" {
				found = true
			}
		}
		return true
	})
	return found
}
