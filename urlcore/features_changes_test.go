package urlcore_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/idna"

	"github.com/urlmill/urlmill/urlcore"
)

// changeFeatures holds the changes of the standard since the text that the project was started from.
var changeFeatures = features{
	"S1": hrefs("https://h/a^b", "https://h/a%5Eb", "x:/^", "x:/%5E", "x:^", "x:^", "https://h/?^#^", "https://h/?^#^"),
	"S2": all(
		hrefs("x:a  ?q", "x:a %20?q", "x:a #f", "x:a%20#f", "x:a b#f", "x:a b#f"),
		assigns("search", "x:a ?q#f", "", "x:a%20#f"),
		assigns("hash", "x:a #f", "", "x:a%20"),
	),
	"S3": all( // the overrides report more failures now, which the setters do not show
		assigns("hostname", "https://h/", ":80", "https://h/", "x://h/", "", "x:///", "x://u@h/", "", "x://u@h/"),
		assigns("host", "https://h/", ":80", "https://h/", "https://h:1/", "i:x", "https://i:1/"),
		assigns("port", "https://h:1/", "x", "https://h:1/"),
	),
	"S4": func(t *testing.T) {
		useSmallList(t)
		u := urlcore.MustParse("https://a.b.co.test./")
		expect(t, "public suffix", u.PublicSuffix(), "co.test.")
		expect(t, "registrable domain", u.RegistrableDomain(), "b.co.test.")
	},
	"S6": hosts("xn--", "xn--", "xn--a.b", "xn--a.b", "xn--8i7caa", "xn--8i7caa", "0.xn--zzz", "0.xn--zzz"),
	"S7": func(t *testing.T) {
		var names []string
		for _, code := range urlcore.Codes() {
			names = append(names, code.String())
		}
		for _, name := range []string{"domain-percent-encoded", "IPv4-too-few-parts", "IPv6-piece-leading-zero", "IPv4-non-ASCII-input", "domain-to-ASCII"} {
			expect(t, name, slices.Contains(names, name), true)
		}
		for _, name := range []string{"domain-invalid-code-point", "domain-to-Unicode"} {
			expect(t, name, slices.Contains(names, name), false)
		}
		got, failure := errorNames("https://a_b/", nil)
		expect(t, "only strict", got, "domain-to-ASCII")
		expect(t, "no failure", failure.OK(), true)
	},
	"S8": func(t *testing.T) {
		u := urlcore.MustParse("https://h/")
		params := u.SearchParams()
		u.SetSearch("?a=b\tc&\nd=e#f")
		expect(t, "query", u.Search(), "?a=bc&d=e%23f")
		expect(t, "params", params.String(), "a=bc&d=e%23f")
	},
	"S9": hosts("\u10a0", "xn--rkj", "\u04c0", "xn--s5a", "\u2132", "xn--73g", "\u2183", "xn--r5g", "a\u115fb", "ab", "a\u1160b", "ab", "a\u17b4b", "ab", "a\u17b5b", "ab",
		"a\u180eb", "ab", "a\u2061\u2062\u2063b", "ab", "a\u206a\u206b\u206c\u206d\u206e\u206fb", "ab", "a\u3164b", "ab", "a\uffa0b", "ab", "a\U0001d173\U0001d17ab", "ab",
		"xn--xn--a--gua.\u00df", fails, "\u1e9e", "xn--zca"),
}

// wrapFeatures holds what golang.org/x/net/idna does in another way than the standard.
var wrapFeatures = features{
	"W1": func(t *testing.T) {
		raw := idna.New(idna.MapForLookup(), idna.Transitional(false))
		if _, err := raw.ToASCII("a\u2132"); (err != nil) != urlcore.NeedsUnicodeDelta {
			t.Errorf("x/net with Unicode %s: %v", idna.UnicodeVersion, err)
		}
		hosts("a\u2132", "xn--a-6yn", "A\U0001ccd6", "aa", "\U0002f868", "xn--snl", "\ua7f1", "s")(t)
	},
	"W2": func(t *testing.T) {
		for _, domain := range []string{"xn--a", "xn--0", "xn--8i7caa"} {
			if _, err := idna.Lookup.ToASCII(domain); err == nil {
				t.Errorf("x/net accepts %q: no need to go round it", domain)
			}
			hosts(domain, domain, strings.ToUpper(domain), domain)(t)
		}
	},
	"W3": hosts("\u00ad", fails, "\u2100", fails, "a\u00a0b", fails, "\u2a74", fails, "a%1Fb\u00e9", fails, "\u2488com", fails, "\u3164", fails),
	"W4": hosts("xn--.\u00df", fails, "\u00df.xn--", fails, "XN--\uff0e\u00df", fails, "\uff38n--.\u00df", fails, ".\u00df", ".xn--zca", "\u00df..a", "xn--zca..a"),
	"W5": hosts("xn--xn--a--gua.\u00df", fails, "xn--xn---epa.\u00df", fails),
	"W6": hosts("\xff", fails, "a\xe2\x98", fails, "%f0%9f%92", fails, "\ufffd", fails),
	"W7": func(t *testing.T) {
		for _, domain := range []string{"a\u200db", "xn--a.\u00df", "\u05d01a", "\u0300x"} {
			got, err := urlcore.DomainToASCII(domain, false)
			if err == nil || got != "" {
				t.Errorf("%q gives %q, %v", domain, got, err)
			}
		}
	},
	"W8": func(t *testing.T) {
		for domain, want := range map[string]bool{"a.": false, "\u2603.": false, "\u2260": true, "\u226e": true, "\u226f": true, "a\u2260b.example": true, "\u2260-": false} {
			_, err := urlcore.DomainToASCII(domain, true)
			expect(t, "strict "+domain, err == nil, want)
		}
	},
	"W9": func(t *testing.T) {
		for _, domain := range []string{"xn--a.xn--n3h", "xn--n3h.xn--", "xn--4db.1"} {
			got, ok := urlcore.DomainToUnicode(domain, false)
			expect(t, domain, got, domain)
			expect(t, domain, ok, false)
		}
	},
	"W10": hosts("\uff11\uff12\uff17.1", "127.0.0.1", "\uff10\u02e37f.1", "127.0.0.1", "1\u30022", "1.0.0.2", "\u2460", "0.0.0.1", "a.\uff11", fails),
}

// pointFeatures holds points that naive implementations get wrong, as far as URLs are concerned.
var pointFeatures = features{
	"P2": all(
		hrefs("ht\ntps://h:8\t0\r/", "https://h:80/", "https://h/\ta\n", "https://h/a", "h\tttps:\n/\r/h", "https://h/"),
		assigns("username", "https://h/", "\t", "https://%09@h/"),
		assigns("password", "https://h/", "\n", "https://:%0A@h/"),
		assigns("host", "https://h/", "i\tj", "https://ij/"),
	),
	"P3": all(hosts("1.2.3.4..", "1.2.3.4..", "1.2.3.4.", "1.2.3.4"), hrefs("x://1.2.3", "x://1.2.3")),
	"P4": all(against("http://h/a", "http:x", "http://h/x", "https:x", "https://x/"), against("https://h/a", "http:x", "http://x/", "https:x", "https://h/x")),
	"P5": func(t *testing.T) {
		hrefs("https://a@b@h", "https://a%40b@h/", "https://@h", "https://h/", "https://u:@h/", "https://u@h/", "https://:@h", "https://h/")(t)
		expect(t, "credentials", urlcore.MustParse("https://@h").HasCredentials(), false)
	},
	"P6": all(
		assigns("pathname", "https://h/", "a?b#c", "https://h/a%3Fb%23c"),
		assigns("host", "https://h/", "i?b", "https://i/", "https://h/", "i#c", "https://i/"),
	),
	"P7": hrefs("https://h/a|b", "https://h/a|b", "https://h/?'", "https://h/?%27", "x://h?'", "x://h?'", "https://h/?`", "https://h/?`"),
	"P8": hosts("0x", "0.0.0.0", "1.0x", "1.0.0.0", "08", fails, "0xg", "0xg", "a.08", fails),
	"P9": hosts("0a.\u05d0", fails, "a-.\u05d0", fails, "-.\u05d0", fails, "a.\u05d0", "a.xn--4db", "a1.\u05d0", "a1.xn--4db", "1.\u05d0", fails),
	"P11": func(t *testing.T) {
		u := urlcore.MustParse("x:/a/..//b?q")
		expect(t, "href", u.Href(), "x:/.//b?q")
		expect(t, "pathname", u.Pathname(), "//b")
		u.SetHost("h")
		expect(t, "with a host", u.Href(), "x://h//b?q")
	},
	"P12": against("file:///C:/a/b", "..", "file:///C:/", "../../..", "file:///C:/", "/x", "file:///C:/x", "//h/x", "file://h/x", "/D:/x", "file:///D:/x", "D|/x", "file:///D:/x"),
	"P13": func(t *testing.T) {
		expect(t, "state", parseEncoded(t, "https://h/?\u3042a\u3042", nil, "iso-2022-jp"), "https://h/?%1B$B$%22%1B(Ba%1B$B$%22%1B(B")
		expect(t, "no such character", parseEncoded(t, "https://h/?\u2603", nil, "shift_jis"), "https://h/?%26%239731%3B")
	},
	"P15": func(t *testing.T) {
		u := urlcore.MustParse("https://h/?")
		expect(t, "search", u.Search(), "")
		expect(t, "href", u.Href(), "https://h/?")
		u.SearchParams().Sort()
		expect(t, "after a mutation", u.Href(), "https://h/")
	},
	"P16": func(t *testing.T) {
		o := urlcore.MustParse("file:///").SecurityOrigin()
		expect(t, "itself", o.Same(o), false)
		expect(t, "zero value", urlcore.Origin{}.Same(urlcore.Origin{}), false)
	},
	"P18": func(t *testing.T) {
		long := strings.Repeat("9", 1<<20)
		zeros := strings.Repeat("0", 1<<20)
		for input, want := range map[string]string{
			"https://" + long + "/": fails, "https://1." + zeros + "2/": "https://1.0.0.2/", "https://0x" + zeros + "1/": "https://0.0.0.1/", "https://h:" + long + "/": fails,
			"https://h:" + zeros + "81/": "https://h:81/", "https://18446744073709551617/": fails, "https://h:65617/": fails, "https://1.2.3.4294967296/": fails,
		} {
			if got := href(input); got != want {
				t.Errorf("%.30s...: %.40q and not %q", input, got, want)
			}
		}
	},
}
