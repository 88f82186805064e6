package canon

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/urlcore"
)

func mustNew(t testing.TB, opts Options) *Canonicaliser {
	t.Helper()
	c, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func href(t testing.TB, input string) string {
	t.Helper()
	u, err := urlcore.Parse(input)
	if err != nil {
		t.Fatalf("%q: %v", input, err)
	}
	return u.Href()
}

func TestForms(t *testing.T) {
	for _, test := range []struct {
		form       Form
		input, out string
	}{
		{Strict, "HTTP://www.Example.com:80/a/../b?x#f", "http://www.example.com/b?x"},
		{Strict, "mailto:a@b#c", "mailto:a@b"},
		{Strict, "data:text/plain,a#b", "data:text/plain,a"},

		{Dedupe, "https://u:p@www.example.com./a/?b=2&a=1&utm_source=x#top", "https://example.com/a?a=1&b=2"},
		{Dedupe, "http://0x1../", "http://0x1../"},
		{Dedupe, "http://1.2.3.4../", "http://1.2.3.4../"},
		{Dedupe, "http://1.2.3.4./", "http://1.2.3.4/"},
		{Dedupe, "http://a.1../", "http://a.1../"},
		{Dedupe, "http://www.1../", "http://www.1../"},
		{Dedupe, "http://e.com.../", "http://e.com.../"},
		{Dedupe, "https://www.com/", "https://www.com/"},
		{Dedupe, "https://www1355544.com/", "https://www1355544.com/"},
		{Dedupe, "https://www.github.io/", "https://www.github.io/"},
		{Dedupe, "https://www.www.example.org/", "https://example.org/"},
		{Dedupe, "https://www.1.2.3.4.example/", "https://1.2.3.4.example/"},
		{Dedupe, "http://[::1]:8080/index.html", "http://[::1]:8080/"},
		{Dedupe, "http://1.2.3.4/Default.aspx", "http://1.2.3.4/"},
		{Dedupe, "http://e.com/index.php?id=3", "http://e.com/?id=3"},
		{Dedupe, "http://e.com/x/index.html/", "http://e.com/x"},
		{Dedupe, "http://e.com/index.html/index.html", "http://e.com/"},
		{Dedupe, "http://e.com/myindex.html", "http://e.com/myindex.html"},
		{Dedupe, "http://e.com/index.txt", "http://e.com/index.txt"},
		{Dedupe, "http://e.com/%7euser/%e4%2f%23%25%3b%3f", "http://e.com/~user/%E4%2F%23%25%3B%3F"},
		{Dedupe, "http://e.com/%%34%31", "http://e.com/%2541"},
		{Dedupe, "http://e.com/%2541", "http://e.com/%2541"},
		{Dedupe, "http://e.com/a;jsessionid=12?x", "http://e.com/a?x"},
		{Dedupe, "http://e.com/..;jsessionid=12", "http://e.com/..;jsessionid=12"},
		{Dedupe, "http://e.com/;jsessionid=12;x/b", "http://e.com/;x/b"},
		{Dedupe, "http://e.com/?", "http://e.com/"},
		{Dedupe, "http://e.com/?&&a&&", "http://e.com/?a"},
		{Dedupe, "http://e.com/?b=2&a=2&b=1&a=1", "http://e.com/?a=2&a=1&b=2&b=1"},
		{Dedupe, "http://e.com/?u%74m_source=x&PHPSESSID=1", "http://e.com/"},
		{Dedupe, "https://www.youtube.com/watch?v=1&si=2", "https://youtube.com/watch?v=1"},
		{Dedupe, "https://e.com/watch?v=1&si=2", "https://e.com/watch?si=2&v=1"},
		{Dedupe, "mailto:a@b?subject=x#c", "mailto:a@b?subject=x"},
		{Dedupe, "ftp://www.e.com/a/#x", "ftp://www.e.com/a/"},

		{SURTCC, "https://www1355544.com/", "com)/"}, // a known fault, internetarchive/surt#28
		{SURTCC, "https://www.www.example.com/", "com,example,www)/"},
		{SURTIA, "https://www.www2.example.com/", "com,example)/"},
		{SURTIA, "https://www.example.com/A?B=1&a=2", "com,example)/a?a=2&b=1"},
	} {
		c := mustNew(t, Options{Form: test.form})
		if got := c.Append([]byte("x"), []byte(href(t, test.input))); string(got) != "x"+test.out {
			t.Errorf("%s of %s: %s, want x%s", test.form, test.input, got, test.out)
		}
	}
}

// TestSteps switches every step off and sees that it was the one that made the difference.
func TestSteps(t *testing.T) {
	for step, test := range map[Step][2]string{
		Credentials: {"http://u:p@e.com/", "http://u:p@e.com/"},
		Host:        {"http://e.com./", "http://e.com./"},
		WWW:         {"http://www.e.com/", "http://www.e.com/"},
		Escapes:     {"http://e.com/%7e?%7e", "http://e.com/%7e?%7e"},
		Documents:   {"http://e.com/index.html", "http://e.com/index.html"},
		Slash:       {"http://e.com/a/", "http://e.com/a/"},
		Sessions:    {"http://e.com/a;jsessionid=1?phpsessid=1", "http://e.com/a;jsessionid=1?phpsessid=1"},
		Tracking:    {"http://e.com/?utm_id=1", "http://e.com/?utm_id=1"},
		Sort:        {"http://e.com/?b&a", "http://e.com/?b&a"},
		Empty:       {"http://e.com/?&", "http://e.com/?&"},
	} {
		without := mustNew(t, Options{Form: Dedupe, Without: step})
		if got := without.Append(nil, []byte(test[0])); string(got) != test[1] {
			t.Errorf("without %s: %s becomes %s, want %s", step, test[0], got, test[1])
		}
		if got := mustNew(t, Options{Form: Dedupe}).Append(nil, []byte(test[0])); string(got) == test[1] {
			t.Errorf("with %s: %s stays", step, test[0])
		}
		if want := "dedupe/2-" + step.String(); !strings.HasPrefix(without.Name(), want) {
			t.Errorf("name %q, want %q", without.Name(), want)
		}
		if parsed, err := ParseStep(step.String()); err != nil || parsed != step {
			t.Errorf("ParseStep(%q): %v, %v", step, parsed, err)
		}
	}
	c := mustNew(t, Options{Form: Dedupe, With: HTTPS})
	if got := c.Append(nil, []byte("http://e.com:443/")); string(got) != "https://e.com/" || !strings.HasPrefix(c.Name(), "dedupe/2+https") {
		t.Errorf("https: %s, %s", got, c.Name())
	}
}

func TestOptionErrors(t *testing.T) {
	for _, opts := range []Options{{Form: 9}, {Form: Strict, With: Slash}, {Form: SURTCC, Without: Sort}, {Form: Dedupe, With: Sort, Without: Sort}} {
		if _, err := New(opts); err == nil {
			t.Errorf("%+v: no error", opts)
		}
	}
	for f, name := range formNames {
		if got, err := ParseForm(name); err != nil || got != Form(f) {
			t.Errorf("ParseForm(%q): %v, %v", name, got, err)
		}
	}
	if _, err := ParseForm("surt"); err == nil || !strings.Contains(err.Error(), "surt-cc") {
		t.Error(err)
	}
	if _, err := ParseStep("x"); err == nil || !strings.Contains(err.Error(), "credentials") {
		t.Error(err)
	}
}

// surtCases are serialized URLs, generated at random, and what the Python package surt 0.3.1 makes of them.
//
//go:embed testdata/surt.tsv
var surtCases string

func TestSURTAgainstPython(t *testing.T) {
	c := mustNew(t, Options{Form: SURTCC})
	n := 0
	for line := range strings.Lines(surtCases) {
		url, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if got := c.Append(nil, []byte(url)); string(got) != want {
			t.Errorf("%s:\n%s, want\n%s", url, got, want)
		}
		n++
	}
	if n < 1000 {
		t.Errorf("%d cases only", n)
	}
}

// urls generates inputs that the steps have something to do with.
func urls() *rapid.Generator[string] {
	pick := func(values ...string) *rapid.Generator[string] { return rapid.SampledFrom(values) }
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		b.WriteString(pick("http://", "https://", "http://u:p@", "ws://", "git://", "file:///").Draw(t, "scheme"))
		for range rapid.IntRange(1, 3).Draw(t, "labels") {
			b.WriteString(pick("www.", "www1.", "a.", "co.", "xn--bcher-kva.", "..").Draw(t, "label"))
		}
		b.WriteString(pick("com", "uk", "github.io", "com.", "4").Draw(t, "suffix"))
		b.WriteString(pick("", ":80", ":443", ":8080", ":0").Draw(t, "port"))
		parts := pick("/", "/", ";", ";sid=", ";JSESSIONID=1", "index", ".html", "default.aspx", ".", "%2e", "%2E", "%", "%25", "2", "5", "E", "%7e", "%2f", "é", "a",
			"(", ")", "(abcdefghijklmnopqrstuvwx)/", "x.aspx", "%3b", "\\")
		b.WriteByte('/')
		for range rapid.IntRange(0, 8).Draw(t, "path") {
			b.WriteString(parts.Draw(t, "part"))
		}
		if rapid.Bool().Draw(t, "query") {
			b.WriteByte('?')
			words := pick("&", "&", "=", "utm_source", "sid", "b", "a", "%61", "%", "2", "6", "%26", "+", "%23", "jsessionid=0123456789abcdef0123456789abcdef")
			for range rapid.IntRange(0, 8).Draw(t, "words") {
				b.WriteString(words.Draw(t, "word"))
			}
		}
		return b.String() + pick("", "#", "#x").Draw(t, "fragment")
	})
}

// TestIdempotent also sees that what the forms return is the serialization of a URL, and the same with every step
// switched off alone.
func TestIdempotent(t *testing.T) {
	forms := []*Canonicaliser{mustNew(t, Options{Form: Strict}), mustNew(t, Options{Form: Dedupe}), mustNew(t, Options{Form: Dedupe, With: HTTPS})}
	for i := range stepNames[:len(stepNames)-1] {
		forms = append(forms, mustNew(t, Options{Form: Dedupe, Without: 1 << i}))
	}
	rapid.Check(t, func(t *rapid.T) {
		u, err := urlcore.Parse(urls().Draw(t, "url"))
		if err != nil {
			return
		}
		for _, c := range forms {
			checkIdempotent(t, c, u.Href())
			checkSameHost(t, c, u.Href())
		}
	})
}

func checkIdempotent(t rapid.TB, c *Canonicaliser, href string) {
	t.Helper()
	once := c.Append(nil, []byte(href))
	if twice := c.Append(nil, once); !bytes.Equal(once, twice) {
		t.Fatalf("%s of %s: %s, then %s", c.Name(), href, once, twice)
	}
	again, err := urlcore.Parse(string(once))
	if err != nil || again.Href() != string(once) {
		t.Fatalf("%s of %s: %s is %v when parsed (%v)", c.Name(), href, once, again, err)
	}
}

// checkSameHost sees that a key made of a URL is that of its own host: nothing is gone but the root's dot and labels www.
func checkSameHost(t rapid.TB, c *Canonicaliser, href string) {
	t.Helper()
	before, after := split([]byte(href)).host, split(c.Append(nil, []byte(href))).host
	rest, ok := bytes.CutSuffix(before, after)
	if !ok {
		before, _ = bytes.CutSuffix(before, []byte{'.'})
		rest, ok = bytes.CutSuffix(before, after)
	}
	if !ok || len(bytes.ReplaceAll(rest, []byte("www."), nil)) > 0 {
		t.Fatalf("%s of %s has the host %s", c.Name(), href, after)
	}
}

// TestNeverDecoded: an escaped delimiter is not the delimiter, whatever surrounds it.
func TestNeverDecoded(t *testing.T) {
	c := mustNew(t, Options{Form: Dedupe})
	for _, escape := range []string{"%23", "%25", "%2F", "%3B", "%3F", "%26", "%3D", "%2B", "%5C"} {
		for _, format := range []string{"http://e.com/a%sb", "http://e.com/?a%sb"} {
			url := fmt.Sprintf(format, escape)
			if got := c.Append(nil, []byte(url)); string(got) != url {
				t.Errorf("%s becomes %s", url, got)
			}
			if got := c.Append(nil, []byte(strings.ToLower(url))); string(got) != url {
				t.Errorf("%s becomes %s, want %s", strings.ToLower(url), got, url)
			}
		}
	}
}

func TestAllocatesNothing(t *testing.T) {
	url := []byte("https://www.example.co.uk/a/b/%7ec/index.html?utm_source=x&b=2&a=%e4#f")
	for f := range formNames {
		c := mustNew(t, Options{Form: Form(f)})
		dst := c.Append(nil, url)
		if n := testing.AllocsPerRun(100, func() { dst = c.Append(dst[:0], url) }); n != 0 {
			t.Errorf("%s: %v allocations", Form(f), n)
		}
	}
}

// TestLinear runs what would take minutes if a step were quadratic; the test's own limit is what fails it then.
func TestLinear(t *testing.T) {
	const n = 1 << 20
	for _, part := range []string{";sid=", "/", "/..", "%25", "%2525", "/index.html", "&", "&a=", "&utm_source=1", "%", "(abcdefghijklmnopqrstuvwx)/"} {
		for _, prefix := range []string{"http://e.com/", "http://e.com/?"} {
			url := []byte(prefix + strings.Repeat(part, n/len(part)))
			for f := range formNames {
				mustNew(t, Options{Form: Form(f)}).Append(nil, url)
			}
		}
	}
}

// checkSURTHost does the same for a key, whose host is what its rules leave: no dots at the ends, empty labels or www in front.
func checkSURTHost(t testing.TB, c *Canonicaliser, u *urlcore.URL) {
	t.Helper()
	if strict := mustNew(t, Options{}).Append(nil, []byte(u.Href())); !bytes.Equal(c.Append(nil, strict), c.Append(nil, []byte(u.Href()))) {
		t.Fatalf("%s of %s and of its strict form are not the same", c.Name(), u)
	}
	host := strings.ReplaceAll(u.Hostname(), ".", "")
	if kind := u.HostKind(); kind != urlcore.HostDomain && kind != urlcore.HostIPv4 || host == "" || strings.ContainsAny(host, "),") {
		return // others cannot be told from the rest of the key
	}
	key, _, _ := strings.Cut(string(c.Append(nil, []byte(u.Href()))), ")")
	key, _, _ = strings.Cut(key, ":")
	labels := strings.Split(key, ",")
	slices.Reverse(labels)
	rest, ok := strings.CutSuffix(host, strings.Join(labels, ""))
	if !ok || len(strings.Trim(rest, "w0123456789")) > 0 {
		t.Fatalf("%s of %s has the host %q", c.Name(), u, labels)
	}
}

// FuzzAppend sees that a form of a form is the form itself, that it is a URL, and that its host is that of the URL. A key in
// SURT is no URL; it has the properties that are left.
func FuzzAppend(f *testing.F) {
	for _, seed := range []string{
		"http://www.e.com/a;jsessionid=1/%7e?utm_source=1&b#x", "https://e.com/%%34%31", "http://0x1../", "http://1.2.3.4../", "http://a.1../",
		"http://www.1../", "http://www.e.com../a", "https://www..com./", "http://[::1]./", "http://u:p@www2.www.e.com.:80//index.html/#", "data:a ?b #c",
		"foo:/.//a#b", "foo://WWW.h./?#", "http://e.com/..;sid=1/%2E", "file://h./C|/index.html", "http://xn--/", "https://1.2.3/", "http://www.w%2d.a..b/",
	} {
		f.Add(seed)
	}
	var forms []*Canonicaliser
	for i := range formNames {
		forms = append(forms, mustNew(f, Options{Form: Form(i)}))
	}
	f.Fuzz(func(t *testing.T, input string) {
		u, err := urlcore.Parse(input)
		if err != nil {
			return
		}
		for _, c := range forms {
			if c.form == Strict || c.form == Dedupe {
				checkIdempotent(t, c, u.Href())
				checkSameHost(t, c, u.Href())
			} else {
				checkSURTHost(t, c, u)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	url := []byte("https://www.example.co.uk/a/b/c/index.html?utm_source=x&b=2&a=1")
	for f := range formNames {
		b.Run(Form(f).String(), func(b *testing.B) {
			c := mustNew(b, Options{Form: Form(f)})
			var dst []byte
			for b.Loop() {
				dst = c.Append(dst[:0], url)
			}
		})
	}
}
