package compare

import "testing"

// TestKinds has a change of every kind.
func TestKinds(t *testing.T) {
	text := func(s string) value { return value{text: s} }
	null := value{null: true}
	for _, c := range []struct {
		with string
		row
		want string
	}{
		{"spark", row{"a^b", columnPath, text("a"), null, "missing-scheme-non-relative-URL"}, "no value any more: missing-scheme-non-relative-URL"},
		{"spark", row{"http://a_b/", columnHost, null, text("a_b"), ""}, "NULL before: no host by RFC 2396"},
		{"spark", row{"http://a/ ", columnHost, null, text("a"), ""}, "NULL before: Illegal character in path"},
		{"spark", row{"mailto:a", columnPath, null, text("a"), ""}, "NULL before: no slash behind the scheme"},
		{"spark", row{"file:///", columnHost, null, text(""), ""}, `"" instead of NULL`},
		{"spark", row{"http:a", columnHost, null, text("a"), ""}, "NULL before: no slash behind the scheme"},
		{"spark", row{"http:/a/b", columnHost, null, text("a"), ""}, "NULL before"},
		{"spark", row{"http://A/", columnHost, text("A"), text("a"), ""}, "lower case"},
		{"clickhouse", row{"http://b\u00fc.de/", columnHost, text("b\u00fc.de"), text("xn--b-xfa.de"), ""}, "IDNA (xn--)"},
		{"spark", row{"http://[::0]/", columnHost, text("[::0]"), text("[::]"), ""}, "the short form of an IPv6 address"},
		{"clickhouse", row{"http://1.1/", columnHost, text("1.1"), text("1.0.0.1"), ""}, "the usual form of an IPv4 address"},
		{"clickhouse", row{"http://a.b@c.d@e.f/", columnHost, text("x"), text("e.f"), ""}, "another host"},
		{"clickhouse", row{"http://localhost/", columnHost, text(""), text("localhost"), ""}, clickHouse(nil).nothing("", columnHost)},
		{"spark", row{"http://a", columnPath, text(""), text("/"), ""}, `"/" instead of an empty path`},
		{"clickhouse", row{"mailto:a", columnPath, text(""), text("a"), ""}, `"" before`},
		{"clickhouse", row{"http://a.b/ ", columnPath, text("/ c"), text("/%20c"), ""}, "percent-encoded"},
		{"clickhouse", row{`http://a.b/c\d`, columnPath, text(`/c\d`), text("/c/d"), ""}, `"\" read as "/"`},
		{"clickhouse", row{"http://a.b/c\td", columnPath, text("/c\td"), text("/cd"), ""}, "tabs and line ends taken out"},
		{"spark", row{"http://a/%2e/b", columnPath, text("/%2e/b"), text("/b"), ""}, `"." and ".." taken out`},
		{"clickhouse", row{"http://a.b/c ", columnPath, text("/c "), text("/c"), ""}, "spaces at the end of the URL taken off"},
		{"clickhouse", row{"data:a/b", columnPath, text("/b"), text("a/b"), ""}, "all of the path of a URL without a slash behind its scheme"},
		{"clickhouse", row{"http:a/b", columnPath, text("/b"), text("/c"), ""}, "another path"},
		{"clickhouse", row{"http://a/#?q", columnQuery, text("q"), null, ""}, `NULL now: the "?" is of the fragment`},
		{"clickhouse", row{"http://a/?a b", columnQuery, text("a b"), text("a%20b"), ""}, "percent-encoded"},
		{"clickhouse", row{"http://a/?b\tc", columnQuery, text("b\tc"), text("bc"), ""}, "tabs and line ends taken out"},
		{"clickhouse", row{"http://a/?b ", columnQuery, text("b "), text("b"), ""}, "spaces at the end of the URL taken off"},
		{"clickhouse", row{"http://a/?b", columnQuery, text("b"), text("c"), ""}, "another query"},
		{"spark", row{"http://a/?b", columnParam, null, text(""), ""}, `a parameter without "="`},
		{"spark", row{"http://a/?%62=1", columnParam, null, text("1"), ""}, "a name or value that is found only when it is decoded"},
		{"spark", row{"http://a/?b=|", columnParam, null, text("|"), ""}, "NULL before: Illegal character in query"},
		{"clickhouse", row{"http://a/#b=1", columnParam, text("1"), null, ""}, "NULL now: the parameter is of the fragment, or the name part of another one"},
		{"spark", row{"http://a/?b=%20+", columnParam, text("%20+"), text("  "), ""}, "decoded"},
		{"spark", row{"http://a/?b=%ff%fe", columnParam, text("%ff%fe"), text("\ufffd\ufffd"), ""}, "decoded, and what was no UTF-8 replaced"},
		{"spark", row{"http://a/?b&b=1", columnParam, text("1"), text(""), ""}, `the first one is without "="`},
		{"spark", row{"http://a/?%62=2&b=1", columnParam, text("1"), text("2"), ""}, "another value"},
	} {
		e, err := newEngine(c.with, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := kind(e, c.row); got != c.want {
			t.Errorf("%s, %+v: %s and not %s", c.with, c.row, got, c.want)
		}
	}
}
