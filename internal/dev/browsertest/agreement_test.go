package browsertest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlmill/urlmill/sources/generate"
)

// deviation is a way in which this browser is known to differ from the standard, or from what the standard leaves open.
type deviation struct {
	reason  string
	where   *regexp.Regexp // in the base, a line end and the input
	members string         // that differ
}

// listed is the version of Chromium that deviations are of.
const listed = "156"

// deviations are all that are known: with that version, any other difference fails the test, and one that is not there any
// more. With another version, which Debian may have any day, a few are only told.
var deviations = []deviation{
	{
		"the standard leaves the origin of file: URLs open, and that of chrome-extension: URLs is Chromium's own",
		regexp.MustCompile(`(?i)(^|\n)\s*(file|chrome-extension):`), "origin",
	},
	{
		"drive letters and localhost mean nothing in file: URLs but on Windows, and leading slashes are one",
		regexp.MustCompile(`(?i)file:(\n|.)*([a-z][:|]|localhost|////)`), "validity href host hostname pathname",
	},
	{
		"a space at the end of an opaque path, before a query or fragment, stays; the standard has escaped it since 2025",
		regexp.MustCompile(`\n[a-z]+:[^/].* [?#]`), "href pathname",
	},
	{
		"parts of an IPv4 address within an IPv6 address may begin with zeros",
		regexp.MustCompile(`\[::[0-9.]*\b0[0-9]`), "validity",
	},
	{
		"spaces in domains, also written in other ways, become %20",
		regexp.MustCompile(`(?i)\n(https?:|//)[^?#]*( |%20|\x{a0}|\x{3000})`), "validity",
	},
	{
		"* in domains becomes %2A",
		regexp.MustCompile(`\nhttp://[^/]*\*`), "href origin host hostname",
	},
	{
		"' becomes %27 in user names and passwords, and in queries of schemes that are not special as well",
		regexp.MustCompile(`\n(http://[^/]*'|foo:[^?]*\?[^#]*')`), "href username password search",
	},
	{
		"| in paths becomes %7C",
		regexp.MustCompile(`\n[^?]*\|`), "href pathname",
	},
	{
		"hosts of schemes that are not special must not have characters that end, in UTF-16, in the byte of one that is forbidden",
		regexp.MustCompile(`\nfoo://a[\x{300}\x{200d}\x{ac00}\x{e000}\x{e0001}]`), "validity",
	},
	{
		"a backslash in a reference is a slash, also behind a base whose scheme is not special",
		regexp.MustCompile(`^foo:.*\n\\`), "href host hostname pathname",
	},
}

// known reports whether a member may differ, and notes in seen which deviations have been met.
func known(seen []bool, input, base, member string) (ok bool) {
	for i, d := range deviations {
		if slices.Contains(strings.Fields(d.members), member) && d.where.MatchString(base+"\n"+input) {
			seen[i], ok = true, true
		}
	}
	return ok
}

// nasty are inputs that parsers disagree about, by the base they are resolved against.
var nasty = map[string][]string{
	"": {
		"", " ", "http:", "http:/", "http://", "http:///", "http:////x", "http:x", "http:/x", `http:\\x`, `http:/\x\y`, "HTTP://X", "hTtPs://x:443/",
		"http://x:80", "http://x:080/", "http://x:65535", "http://x:65536", "http://x:", "http://x:/y", "http://x:8a", "http://x:-1", "http://x:0",
		"ws://x:80/", "wss://x:443/#a", "ftp://x:21/", "file:", "file:/", "file://", "file:///", "file:////x", "file://x/y", "file://localhost/y",
		"file:///C|/x", "file:C:/x", "file:///C:/../..", "file:///c:", "file:\\\\x\\y", "file://C:/x", "file:///%43:/x", "file://1.2.3/",
		"foo:", "foo:/", "foo://", "foo:///", "foo:bar baz ", "foo:bar ?x", "foo:bar #x", "foo://h/a b", "foo://h:99999", "foo://h:80/", "foo://H/A/../B",
		"foo:/.//p", "foo:/..//p", "web+x:/..//not-a-host/path", "foo://[::1]/", "foo://a%41/", "foo://a|b/", "foo://a^b/", "foo://é/", "foo://%C3%A9/",
		"javascript:alert(1)", "javascript:\talert(1)", "data:text/html,<b>&'\"", "blob:https://x:443/uuid", "blob:blob:https://x/", "blob:x", "about:blank#x",
		"mailto:a@b?subject=x y", "tel:+1", "urn:x:y", "a:b", "1:b", "a+-.1:b", "-:b", "a b:c", "//x", "/x", "?x", "#x", "x", "x:1",
		"http://1.2.3", "http://1.2", "http://1", "http://256", "http://4294967295", "http://4294967296", "http://1.2.3.4.", "http://1.2.3.4..", "http://1.2.3.08",
		"http://0x", "http://0x.0", "http://0xffffffff", "http://0x100000000", "http://017700000001", "http://1.0x", "http://a.1", "http://a.0x1", "http://1.2.3.4.5",
		"http://a.09", "http://1..2", "http://.1", "http://a.1.", "http://%31%2e2", "http://１.２.３.４", "http://①", "http://0.0.0.0x100", "http://256.1.1.1",
		"http://[::]", "http://[::1]:80", "http://[1::]", "http://[1:2:3:4:5:6:7:8]", "http://[1:2:3:4:5:6:7::]", "http://[::1.2.3.4]", "http://[::1.2.3]",
		"http://[::1.2.3.4.5]", "http://[::01.2.3.4]", "http://[0:0:1:0:0:0:1:0]", "http://[1:0:0:2::3]", "http://[FFFF::ABCD]", "http://[::fffff]", "http://[:1]",
		"http://[1::2::3]", "http://[::1%25eth0]", "http://[::1%eth0]", "http://[v1.x]", "http://[]", "http://[::1", "http://::1]", "http://[::1]x", "http://x[::1]",
		"http://user@/x", "http://@x", "http://:@x", "http://u:@x", "http://:p@x", "http://u:p:q@x", "http://a@b@c", "http://u%40v@x", "http://u/@x", `http://u\@x`,
		"http://a..b", "http://.a", "http://a.", "http://a..", "http://.", "http://..", "http://%2e", "http://a%2eb", "http://a%00b", "http://a%", "http://a%zz", "http://%zz",
		"http://a%20b", "http://a_b", "http://a*b", "http://a-.b", "http://-a", "http://xn--", "http://xn--a", "http://xn--zca", "http://faß.de", "http://xn--fa-hia.de",
		"http://xn--bcher-kva.example", "http://XN--BCHER-KVA.example", "http://bücher.example", "http://Bu\u0308cher.example", "http://☃.example", "http://💩.la",
		"http://a\u200db", "http://\u0915\u094d\u200d\u0937", "http://a\u00adb", "http://\u00ad", "http://a。b", "http://a．b", "http://ａ", "http://℀", "http://℡.x",
		"http://İ", "http://ς.gr", "http://Σ.gr", "http://\u05d0\u05d1", "http://a\u05d0", "http://1\u05d0", "http://\u0300a", "http://\ufffd", "http://xn--a-ecp.ru",
		"http://" + strings.Repeat("a", 64) + ".com", "http://" + strings.Repeat("a.", 127) + "a", "http://xn--" + strings.Repeat("a", 70), "http://a.b--c.de", "http://ab--c.de",
		"http://x/%", "http://x/%2", "http://x/%2e/%2E%2e", "http://x/a/%2e%2e/b", "http://x/..//..///a", "http://x/./././", "http://x/a;b=c,d", "http://x/%C3%A9/é", "http://x/\ufffe",
		"http://x/a\tb\nc\rd", "ht\ntp://x", "http://x\t:8\n0/", " \x00\x1fhttp://x \x00", "http://x/ ?a # b", "http://x?", "http://x#", "http://x?#", "http://x/??a=b?c#d#e",
		"http://x/?'\"<>`{}|\\^", "foo://x/?'\"<>`{}|\\^", "http://x/#'\"<>`{}|\\^", "http://x/'\"<>`{}|\\^", "foo:'\"<>`{}|\\^", "http://x/?%27", "http://x/?é=ü&%FF=%C3",
		"http://x/?a=1&a=2&&=&b&=c&d=+%2B%20", "http://x/?a=%E0%80&b=%f0%9f%98%80", "http://x/?;a;b", "http://x/?a=b=c", "http://x/?%00", "http://x/#%00\x01",
		"http://\u202Eevil.com", "http://x/\u202Emoc.live", "http://x/\u2028\u2029\u0085", "http://x/\U0010FFFF", "http://x/\ud7ff\ue000", "http:\u3000//x", "http\u003a//x",
	},
	"https://u:p@www.example.com:8080/a/b/c?q#f": {
		"", "x", "./x", "../x", "../../../x", "/x", "//y", "///y", "////y", `\\y`, `\y`, `/\y`, "?y", "#y", "?", "#", "https:x", "https:/x", "https:", "http:x", "http:",
		".", "..", "../", "./", "...", "%2e%2e/x", ";x", "x:", "x:y", "1:2", ":", ":x", "/:x", "@x", "//@x", "//u@x:1", "//[::1]:443", "//1.2.3.4:8080", "  x  ", "\tx\n", "é?é#é", "C|/x",
		"javascript:x", "data:,x", "mailto:x", "file:x", "file:///x", "blob:https://x/y", "?a b", "#a b", "a b", "a%20b", "//a b", "//é", "//%41", "//..", "/./..//x", "x/../../..",
	},
	"file:///C:/a/b": {"", "x", "/x", "//y/z", "D:/x", "D|/x", "/D:/x", "..", "../../..", "//", "///", "/", "?q", "#f", "file:x", "file:", `\\y\z`, "//localhost/x", "C|", "/C|/../x"},
	"foo://h/a/b":    {"", "x", "/x", "//y", "..", "../../..", "?q", "#f", "foo:x", "foo:", `\x`, `\\x`, "///x", "//", "http:x", "a b", "//a b", "//é/é", ".//x", "/.//x", "/..//x"},
	"data:text,x":    {"", "#f", "x", "?q", "/x", "//y", "data:y"},
	"about:blank":    {"", "#f", "x"},
	"x":              {"", "y", "http://x"},
}

// positions are URLs in which a character stands at a place that treats it in a way of its own.
var positions = []string{
	"http://a%sb/", "http://u%sr:p%sw@x/", "http://x/a%sb", "http://x/?a%sb", "http://x/#a%sb", "foo://a%sb/", "foo:a%sb", "foo:/a%sb?c%sd#e%sf", "http://x:8%s0/", "a%sb:c",
}

// characters are those at which sets of characters begin and end.
func characters() []string {
	var out []string
	for c := range rune(0x80) {
		out = append(out, string(c))
	}
	for _, c := range "\u0080\u009f\u00a0\u00ad\u00b7\u00df\u0130\u0300\u03c2\u05d0\u0660\u06dd\u0915\u1680\u180e\u200b\u200c\u200d\u200e\u202e\u2028\u2060\u2061\u2260\u3002\u3164\uac00\ue000\ufdd0\ufe0f\ufeff\uff0e\uff41\ufffd\U0001f600\U000e0001\U0010fffd" {
		out = append(out, string(c))
	}
	return out
}

// deviates reports whether the browser is known to deviate with an input without a base.
func deviates(input string) bool {
	return slices.ContainsFunc(deviations, func(d deviation) bool { return d.where.MatchString("\n" + input) })
}

// TestAgreement compares what urlmill and the browser make of thousands of inputs, in all members of URL and the pairs of
// searchParams.
func TestAgreement(t *testing.T) {
	b := openTab(t, desk, idler(t))
	seen := make([]bool, len(deviations))
	total, different, others := 0, 0, 0
	version := eval[string](b, `navigator.userAgent.match(/Chrome\/(\d+)/)[1]`)
	tell := t.Errorf
	if version != listed {
		t.Logf("this is Chromium %s, and the list of deviations is of %s", version, listed)
		tell = t.Logf
	}
	for base, inputs := range inputs(t) {
		for chunk := range slices.Chunk(inputs, 400) {
			for i, differences := range compare(b, chunk, base) {
				for _, d := range differences {
					if !known(seen, chunk[i], base, d.Member) {
						tell("%q with base %q: %s: urlmill %s, browser %s", chunk[i], base, d.Member, d.Ours, d.Theirs)
						others++
					}
				}
				if len(differences) > 0 {
					different++
				}
			}
			total += len(chunk)
		}
	}
	t.Logf("%d inputs, %d of them with a known deviation", total, different)
	if total < 1000 {
		t.Errorf("only %d inputs", total)
	}
	if most := total / 100; others > most {
		t.Errorf("%d members differ that are not listed; %d may, of another version", others, most)
	}
	for i, ok := range seen {
		if !ok {
			tell("this browser does not deviate any more, take it off the list: %s", deviations[i].reason)
		}
	}
}

// TestThousandLines has the page itself compare a thousand generated URLs at once, which is what a request may hold.
func TestThousandLines(t *testing.T) {
	b := openTab(t, desk, idler(t))
	g, err := generate.NewGenerator(generate.Options{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for len(lines) < 1000 {
		g.Append(nil)
		u := string(g.URL())
		if u != "" && len(u) <= maxLength && utf8.ValidString(u) && !strings.ContainsAny(u, "\r\n") && !deviates(u) {
			lines = append(lines, u)
		}
	}
	list, err := json.Marshal(strings.Join(lines, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	eval[bool](b, fmt.Sprintf(`document.getElementById("urls").value = %s, document.querySelector("#inspect button").click(), true`, list))
	b.until(`/^[0-9]+ of [0-9]+ the same$/.test(document.getElementById("inspect-state").textContent)`)
	if s := b.text("#inspect-state"); s != "1000 of 1000 the same" {
		t.Errorf("%s; these differ: %v", s, eval[[]string](b, `[...document.querySelectorAll("#results summary")].map((e) => e.textContent).filter((s) => s.startsWith("differs"))`))
	}
}

// difference is a member of which urlmill and the browser have other values, as JSON.
type difference struct{ Member, Ours, Theirs string }

// compare returns what differs, by the page's own comparison.
func compare(b *tab, inputs []string, base string) [][]difference {
	b.t.Helper()
	list, err := json.Marshal(inputs)
	if err != nil {
		b.t.Fatal(err)
	}
	return eval[[][]difference](b, fmt.Sprintf(`(async () => {
		const {ask, browsers, differences} = await import("./inspect.js");
		const inputs = %s, base = %q;
		const ours = await ask(inputs, base);
		return inputs.map((input, i) => {
			const theirs = browsers(input, base);
			return differences(ours[i], theirs).map((Member) => Member === "validity"
				? {Member, Ours: ours[i].error ?? ours[i].href, Theirs: theirs?.href ?? "no URL"}
				: {Member, Ours: JSON.stringify(ours[i][Member]), Theirs: JSON.stringify(theirs[Member])});
		});
	})()`, list, base))
}

// maxLength keeps some hundred inputs within what a request may hold.
const maxLength = 2000

// inputs returns generated and nasty inputs by their base.
func inputs(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for base, list := range nasty {
		out[base] = append(out[base], list...)
	}
	for _, c := range characters() {
		for _, p := range positions {
			out[""] = append(out[""], strings.ReplaceAll(p, "%s", c))
		}
	}
	mix := map[string]float64{}
	for _, c := range generate.Classes() {
		if c != generate.Page {
			mix[c.String()] = 0.8 / float64(len(generate.Classes()))
		}
	}
	for seed, profile := range []generate.Profile{generate.Clickstream, generate.Crawl} {
		g, err := generate.NewGenerator(generate.Options{Seed: uint64(seed), Profile: profile, Mix: mix})
		if err != nil {
			t.Fatal(err)
		}
		for range 600 {
			g.Append(nil)
			input := strings.ToValidUTF8(string(g.URL()), "\ufffd")
			if len(input) > maxLength {
				continue
			}
			out[""] = append(out[""], input)
			if len(out["https://www.example.com/a/b?q#f"]) < 200 {
				out["https://www.example.com/a/b?q#f"] = append(out["https://www.example.com/a/b?q#f"], input)
			}
		}
	}
	return out
}
