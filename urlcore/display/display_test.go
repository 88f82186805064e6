package display

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore"
)

// renderCase is a URL and what it looks like with some options. Isolates are written as [ and ].
type renderCase struct {
	URL     string
	Options struct {
		Form                                   string
		OmitScheme, ASCIIHost, ASCIISuspicious bool
		KeepEscapes, Plain                     bool
		Limit                                  int
	}
	Text, Domain, Hints string
	Elided              bool
}

var forms = map[string]Form{"": Full, "origin": Origin, "host": Host, "short": ShortHost, "domain": Domain}

func (c *renderCase) options(t *testing.T) Options {
	t.Helper()
	form, ok := forms[c.Options.Form]
	if !ok {
		t.Fatalf("%s: unknown form %q", c.URL, c.Options.Form)
	}
	o := Options{
		Form:            form,
		OmitScheme:      c.Options.OmitScheme,
		ASCIIHost:       c.Options.ASCIIHost,
		ASCIISuspicious: c.Options.ASCIISuspicious,
		KeepEscapes:     c.Options.KeepEscapes,
		Limit:           c.Options.Limit,
	}
	if c.Options.Plain {
		o.Bidi = Plain
	}
	return o
}

// brackets makes the isolates of a text visible.
func brackets(text string) string {
	return strings.NewReplacer(leftToRightIsolate, "[", popIsolate, "]").Replace(text)
}

func TestRender(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "render.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []renderCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		u, err := urlcore.Parse(c.URL)
		if err != nil {
			t.Errorf("%s: %v", c.URL, err)
			continue
		}
		o := c.options(t)
		r := Render(u, o)
		if got := brackets(r.Text); got != c.Text || r.Elided != c.Elided || r.Hints.String() != c.Hints {
			t.Errorf("%s, %+v: got %q, elided %t, hints %q; want %q, %t, %q",
				c.URL, c.Options, got, r.Elided, r.Hints, c.Text, c.Elided, c.Hints)
		}
		if got := r.Text[r.Domain.Start:r.Domain.End]; got != c.Domain {
			t.Errorf("%s, %+v: the domain is %q, want %q", c.URL, c.Options, got, c.Domain)
		}
		if r.Host.Start > r.Domain.Start || r.Host.End != r.Domain.End {
			t.Errorf("%s, %+v: the domain %v does not end the host %v", c.URL, c.Options, r.Domain, r.Host)
		}
		if String(u, o) != r.Text {
			t.Errorf("%s: String differs from Render", c.URL)
		}
	}
}

// TestLimits renders some URLs with every limit: the domain stays whole, and whatever is longer than the
// limit could not be made shorter.
func TestLimits(t *testing.T) {
	for _, input := range []string{
		"https://examplecorp.com.evil.example/path/to/page?query=1#part",
		"https://user:secret@a.b.c.d.example.co.uk:8443/%E6%97%A5%E6%9C%AC/%20x",
		"https://xn--wgv71a.a.xn--wgv71a.example/",
		"http://192.0.2.1/path",
		"foo://opaque.host.example/path",
		"mailto:somebody@example.com",
		"file:///etc/passwd",
	} {
		u := urlcore.MustParse(input)
		whole := Render(u, Options{})
		domain := whole.Text[whole.Domain.Start:whole.Domain.End]
		last := ""
		for limit := 1; limit <= Columns(whole.Text)+1; limit++ {
			r := Render(u, Options{Limit: limit})
			if got := r.Text[r.Domain.Start:r.Domain.End]; got != domain {
				t.Errorf("%s: limit %d: the domain was cut to %q", input, limit, got)
			}
			columns := Columns(r.Text)
			if columns > limit && last != "" && r.Text != last {
				t.Errorf("%s: limit %d: %q is too long, %q was possible", input, limit, r.Text, last)
			}
			if r.Elided != (r.Text != whole.Text) && columns <= limit {
				t.Errorf("%s: limit %d: %q, elided %t", input, limit, r.Text, r.Elided)
			}
			if columns > limit {
				last = r.Text
			}
			if strings.Contains(r.Text, "secret") {
				t.Errorf("%s: limit %d: %q shows the password", input, limit, r.Text)
			}
		}
	}
}

func TestMeasure(t *testing.T) {
	u := urlcore.MustParse("https://a.b.example.com/path")
	pixels := func(text string) int { return 10 * len([]rune(text)) }
	if got := String(u, Options{Limit: 210, Measure: pixels}); got != "https://…example.com" {
		t.Errorf("got %q", got)
	}
}

func TestColumns(t *testing.T) {
	for text, want := range map[string]int{
		"":              0,
		"abc":           3,
		"é":             1,
		"e\u0301":       1,
		"日本":            4,
		"ｱ":             1,
		"Ａ":             2,
		"💩":             2,
		"\u2066x\u2069": 1,
	} {
		if got := Columns(text); got != want {
			t.Errorf("Columns(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestAppendDecoded(t *testing.T) {
	for _, c := range []struct{ in, out string }{
		{"", ""},
		{"/plain?x=1#y", "/plain?x=1#y"},
		{"/%E6%97%A5/%c3%a9", "/日/é"},
		{"/%41%7e%2D%2e%5f%30", "/A~-._0"},
		{"/%2F%3F%23%25%20%00%7F%22%3C%26%3D", "/%2F%3F%23%25%20%00%7F%22%3C%26%3D"},
		{"%2541", "%2541"},
		{"%", "%"},
		{"%4", "%4"},
		{"%zz%4z", "%zz%4z"},
		{"%FF%C3", "%FF%C3"},
		{"%C3%28%E6%97x%E6%97", "%C3%28%E6%97x%E6%97"},
		{"%F0%9F%94%92", "%F0%9F%94%92"},                               // U+1F512, a lock
		{"%F0%9F%92%A9", "💩"},                                          //
		{"%C2%A0%E3%80%80%E2%80%A8", "%C2%A0%E3%80%80%E2%80%A8"},       // spaces
		{"%E2%80%8B%E2%80%8D%C2%AD", "%E2%80%8B%E2%80%8D%C2%AD"},       // zero width, soft hyphen
		{"%E2%80%AE%E2%81%A7%D8%9C", "%E2%80%AE%E2%81%A7%D8%9C"},       // bidi controls
		{"%C2%85%EE%80%80%CD%B8", "%C2%85%EE%80%80%CD%B8"},             // C1, private, not assigned
		{"%EF%BF%BD%EF%BB%BF", "%EF%BF%BD%EF%BB%BF"},                   // U+FFFD, U+FEFF
		{"%E1%85%A0%E3%85%A4%E2%A0%80", "%E1%85%A0%E3%85%A4%E2%A0%80"}, // fillers, blank
		{"%E2%80%A6%E2%88%95", "%E2%80%A6%E2%88%95"},                   // ellipsis, division slash
		{"e%CC%81", "e\u0301"},
		{"%C3%A9%CC%81", "é\u0301"},
		{"/%CC%81", "/%CC%81"},               // nothing to stand on
		{"/%CC%81%CC%81", "/%CC%81%CC%81"},   // the digit before the second is part of an escape
		{"-%CC%81e%CC%81", "-%CC%81e\u0301"}, //
		{"%2F%CC%81", "%2F%CC%81"},
		{strings.Repeat("%CC%81", 1) + "e" + strings.Repeat("%CC%81", 6), "%CC%81e" + strings.Repeat("\u0301", 4) + "%CC%81%CC%81"},
		{"%E2%88%95%CC%81", "%E2%88%95%CC%81"},
		{"%EF%B8%8F%F3%A0%84%80", "%EF%B8%8F%F3%A0%84%80"}, // variation selectors
		{"%D7%90%D8%A8", "אب"},
	} {
		if got := string(AppendDecoded([]byte("dst:"), []byte(c.in))); got != "dst:"+c.out {
			t.Errorf("AppendDecoded(%q) = %q, want %q", c.in, got, "dst:"+c.out)
		}
	}
}

func TestAppendDecodedAllocatesNothing(t *testing.T) {
	src := []byte("/%E6%97%A5/%c3%a9?e%CC%81=%20%FF")
	dst := make([]byte, 0, 2*len(src))
	if n := testing.AllocsPerRun(100, func() { dst = AppendDecoded(dst[:0], src) }); n != 0 {
		t.Errorf("AppendDecoded allocates %v times", n)
	}
}

func TestInspect(t *testing.T) {
	for _, c := range []struct {
		host string
		want Hint
	}{
		{"", 0},
		{"example.com", 0},
		{"bücher.example", 0},
		{"日本.jp", 0},
		{"abc日本ひらカタ.jp", 0},
		{"abc漢字한글.kr", 0},
		{"abc漢ㄅ.tw", 0},
		{"한글ひら.jp", MixedScripts},
		{"аррӏе.com", LooksASCII},
		{"аррӏе.com.", LooksASCII},
		{"аррӏе.рф", 0},
		{"gооgle.com", MixedScripts | LooksASCII},
		{"gооgle.рф", MixedScripts},
		{"ɡoogle.com", LooksASCII},
		{"пример.com", 0},
		{"\u0628\u0660\u06F1.com", MixedDigits},
		{"\u0628\u06605.com", MixedDigits},
		{"\u0628\u0660\u0669.com", 0},
		{"x\u0660.com", MixedScripts},
		{"a\u2044b.com", Misleading},
		{"a\u200Db.com", Misleading},
		{"www.аррӏе.com", LooksASCII},
		{"a\uE000.com", MixedScripts | Misleading},     // private
		{"a\U0003FFFF.com", MixedScripts | Misleading}, // not a character, in any version of Unicode
	} {
		if got := Inspect(c.host); got != c.want {
			t.Errorf("Inspect(%q) = %q, want %q", c.host, got, c.want)
		}
	}
	all := MixedScripts | LooksASCII | MixedDigits | Misleading
	if got := all.String(); got != "mixed-scripts,looks-ascii,mixed-digits,misleading" {
		t.Errorf("all hints are called %q", got)
	}
}

func TestLooksLike(t *testing.T) {
	for _, c := range []struct {
		label, like string
		ok          bool
	}{
		{"аррӏе", "apple", true},
		{"ɡoogle-1", "google-1", true},
		{"apple", "", false},
		{"", "", false},
		{"пример", "", false},
		{"bücher", "", false},
	} {
		if like, ok := LooksLike(c.label); like != c.like || ok != c.ok {
			t.Errorf("LooksLike(%q) = %q, %t, want %q, %t", c.label, like, ok, c.like, c.ok)
		}
	}
	// Every letter is its own and stands for another.
	for c, like := range lookalikes() {
		if c < 0x80 || like < 'a' || like > 'z' {
			t.Errorf("%q is paired with %q", c, like)
		}
	}
}

func TestScripts(t *testing.T) {
	for c, want := range map[rune]string{
		'a': "Latin", 'я': "Cyrillic", '漢': "Han", 'ー': "", '-': "", '\u0301': "", 'ক': "Bengali", '\uE000': unknown,
	} {
		if got := scriptOf(c); got != want {
			t.Errorf("scriptOf(%q) = %q, want %q", c, got, want)
		}
	}
}

// TestConformanceDomainToUnicode renders the hosts of the conformance file. Labels that would mislead may
// stay A-labels, all others are as the standard's domain to Unicode has them.
func TestConformanceDomainToUnicode(t *testing.T) {
	type hostCase struct{ Host, Output string }
	passed, total, unparsed, kept := 0, 0, 0, 0
	for _, c := range conformance.Cases[hostCase](t, "domain-to-unicode.json") {
		u, err := urlcore.Parse("https://" + c.Host + "/")
		if err != nil || u.Hostname() != c.Host {
			unparsed++
			continue
		}
		total++
		want := strings.Split(c.Output, ".")
		got := strings.Split(String(u, Options{Form: Host, Bidi: Plain}), ".")
		ascii := strings.Split(c.Host, ".")
		ok := len(want) == len(got)
		for i := range got {
			switch {
			case !ok || got[i] == want[i]:
			case got[i] == ascii[i] && isMisleading(want[i]):
				kept++
			default:
				ok = false
			}
		}
		if ok {
			passed++
		} else {
			t.Errorf("%s: got %q, want %q", c.Host, got, want)
		}
	}
	t.Logf("domain-to-unicode.json: %d/%d (%d labels stay A-labels because they would mislead; %d entries are no hosts of URLs)",
		passed, total, kept, unparsed)
}

func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		"https://user:pass@www.example.com:8080/%E6%97%A5?q=%20#%F0%9F%94%92",
		"https://xn--4dbrk0ce.example/%D7%90/x",
		"https://examplecorp.com.evil.example/path",
		"mailto:a@b", "file:///C:/x", "foo:/.//x", "foo://h/%CC%81", "https://[::1]:80/", "data:text/plain,%E2%80%AE",
	} {
		f.Add(seed, uint8(0), uint8(0))
		f.Add(seed, uint8(20), uint8(3))
	}
	f.Fuzz(func(t *testing.T, input string, limit, form uint8) {
		u, err := urlcore.Parse(input)
		if err != nil {
			return
		}
		o := Options{Form: Form(form % 5), Limit: int(limit), OmitScheme: form&8 != 0, ASCIISuspicious: form&16 != 0}
		r := Render(u, o)
		if !utf8.ValidString(r.Text) {
			t.Fatalf("%q: %q is not UTF-8", input, r.Text)
		}
		checkControls(t, r.Text)
		whole := Render(u, Options{Bidi: Plain})
		domain := whole.Text[whole.Domain.Start:whole.Domain.End]
		if got := r.Text[r.Domain.Start:r.Domain.End]; got != domain && !o.ASCIISuspicious {
			t.Fatalf("%q, %+v: the domain %q was cut to %q", input, o, domain, got)
		}
		// Without credentials, the whole is still a URL, and it is shown in the same way.
		again, err := urlcore.Parse(whole.Text)
		if err != nil {
			t.Fatalf("%q is shown as %q, which does not parse: %v", input, whole.Text, err)
		}
		if second := String(again, Options{Bidi: Plain}); second != whole.Text {
			t.Fatalf("%q is shown as %q, and that as %q", input, whole.Text, second)
		}
		if again.Host() != u.Host() || again.Protocol() != u.Protocol() || again.HasCredentials() {
			t.Fatalf("%q is shown as %q, which is another URL: %q", input, whole.Text, again.Href())
		}
	})
}

// checkControls fails where text has direction controls other than one isolate with one inside.
func checkControls(t *testing.T, text string) {
	t.Helper()
	var found []rune
	for _, c := range text {
		if c >= 0x202A && c <= 0x202E || c >= 0x2066 && c <= 0x2069 || c == 0x200E || c == 0x200F || c == 0x061C {
			found = append(found, c)
		}
	}
	switch string(found) {
	case "", leftToRightIsolate + popIsolate, leftToRightIsolate + leftToRightIsolate + popIsolate + popIsolate:
	default:
		t.Fatalf("%q has the controls %U", text, found)
	}
}
