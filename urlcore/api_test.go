package urlcore_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/psl"
)

func TestParseFunctions(t *testing.T) {
	base := urlcore.MustParse("https://h/a/b")
	if u, err := urlcore.ParseRef("c", base); err != nil || u.Href() != "https://h/a/c" {
		t.Errorf("ParseRef: %v, %v", u, err)
	}
	if u, err := base.Resolve("../c"); err != nil || u.String() != "https://h/c" {
		t.Errorf("Resolve: %v, %v", u, err)
	}
	if u, err := urlcore.ParseWithBase("c", "https://h/"); err != nil || u.Href() != "https://h/c" {
		t.Errorf("ParseWithBase: %v, %v", u, err)
	}
	for _, c := range []struct {
		input, base string
		code        urlcore.Code
		pos         int
		isBase      bool
	}{
		{"https://a b/", "https://h/", urlcore.CodeDomainToASCII, 9, false},
		{"x", "nonsense", urlcore.CodeMissingSchemeNonRelativeURL, 0, true},
		{"https://ok/", "http://h:x", urlcore.CodePortInvalid, 9, true},
	} {
		_, err := urlcore.ParseWithBase(c.input, c.base)
		var e *urlcore.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Pos != c.pos || e.Base != c.isBase {
			t.Errorf("%q against %q: %v", c.input, c.base, err)
		}
		if urlcore.CanParseWithBase(c.input, c.base) {
			t.Errorf("CanParseWithBase(%q, %q)", c.input, c.base)
		}
	}
	if _, err := urlcore.Parse("x"); err == nil || urlcore.CanParse("x") {
		t.Error("a relative reference was parsed alone")
	}
	defer func() {
		if recover() == nil {
			t.Error("MustParse has not panicked")
		}
	}()
	urlcore.MustParse("x")
}

func TestErrorMessages(t *testing.T) {
	_, err := urlcore.Parse("https://h:99999/")
	const want = `urlcore: URL "https://h:99999/": port-out-of-range at byte 10: the port exceeds 65535`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	_, err = urlcore.ParseWithBase("x", "y")
	if err == nil || !strings.HasPrefix(err.Error(), `urlcore: base URL "y": `) {
		t.Errorf("%v", err)
	}
	_, err = urlcore.Parse(strings.Repeat("x", 1000))
	if err == nil || len(err.Error()) > 300 || !strings.Contains(err.Error(), `x"...:`) {
		t.Errorf("%v", err)
	}
	var failure urlcore.Failure
	if !failure.OK() || failure.Err([]byte("x")) != nil {
		t.Error("the zero Failure is no success")
	}
	failure = urlcore.Failure{Code: urlcore.CodeHostMissing, Pos: 3}
	var e *urlcore.Error
	if !errors.As(failure.Err([]byte("abc")), &e) || e.Input != "abc" || e.Pos != 3 || failure.OK() {
		t.Errorf("%v", failure.Err([]byte("abc")))
	}
}

func TestCodes(t *testing.T) {
	names := map[string]bool{}
	for i, code := range urlcore.Codes() {
		if int(code) != i+1 {
			t.Errorf("%s has the number %d", code, code)
		}
		if name := code.String(); name == "" || names[name] || strings.ContainsAny(name, " _") {
			t.Errorf("code %d is named %q", code, name)
		}
		if code.Text() == "" || code.Text() == urlcore.OK.Text() {
			t.Errorf("%s has the text %q", code, code.Text())
		}
		names[code.String()] = true
	}
	if urlcore.OK.String() != "" {
		t.Error("OK has a name")
	}
	unknown := urlcore.Code(200)
	if unknown.String() != "code-200" || unknown.Text() != "unknown code" {
		t.Errorf("%s: %s", unknown, unknown.Text())
	}
	// The numbers are stored by programs: these must not move.
	for code, number := range map[urlcore.Code]int{
		urlcore.CodeDomainToASCII: 1, urlcore.CodeIPv6Unclosed: 11, urlcore.CodeInvalidURLUnit: 22,
		urlcore.CodeHostMissing: 27, urlcore.CodeInputTooLong: 32,
	} {
		if int(code) != number {
			t.Errorf("%s is %d and not %d", code, code, number)
		}
	}
}

func TestFailureLeavesDestinationUnchanged(t *testing.T) {
	u := urlcore.MustParse("https://user@h:81/p?q#f")
	before := u.Clone()
	view := u.Bytes(urlcore.Path)
	var p urlcore.Parser
	for _, input := range []string{"", "http://", "https://h:x/", "http://[::1", "https://\u00ad/", "foo://a b/"} {
		if p.Parse(u, []byte(input), nil).OK() {
			t.Fatalf("%q was parsed", input)
		}
		if !urlcore.SameRecord(u, before) || string(view) != "/p" {
			t.Fatalf("%q changed the URL to %q", input, u)
		}
		if err := u.SetHref(input); err == nil || !urlcore.SameRecord(u, before) {
			t.Fatalf("SetHref(%q): %v, %q", input, err, u)
		}
		if input == "" {
			continue // which UnmarshalText reads as the empty URL
		}
		if err := u.UnmarshalText([]byte(input)); err == nil || !urlcore.SameRecord(u, before) {
			t.Fatalf("UnmarshalText(%q): %v, %q", input, err, u)
		}
	}
}

func TestDestinationMayBeBaseAndInput(t *testing.T) {
	var p urlcore.Parser
	u := urlcore.MustParse("https://h/a/b?https://i/x")
	p.Parse(u, []byte("../c/d"), u)
	p.Parse(u, u.Bytes(urlcore.Path)[1:], u)
	if u.Href() != "https://h/c/c/d" {
		t.Errorf("%s", u)
	}
	u = urlcore.MustParse("https://h/?https://i/x")
	p.Parse(u, u.Bytes(urlcore.Query), nil)
	if u.Href() != "https://i/x" {
		t.Errorf("%s", u)
	}
}

func TestParsedURLsShareNothing(t *testing.T) {
	var p urlcore.Parser
	urls := make([]urlcore.URL, 10)
	for round := range 3 {
		for i := range urls {
			input := "https://h" + strconv.Itoa(i) + "/" + strings.Repeat("x", round*20)
			p.Parse(&urls[i], []byte(input), nil)
		}
		for i := range urls {
			want := "https://h" + strconv.Itoa(i) + "/" + strings.Repeat("x", round*20)
			if urls[i].Href() != want {
				t.Fatalf("%q is not %q", &urls[i], want)
			}
		}
	}
	p.Reset()
	if urls[3].Href() != "https://h3/"+strings.Repeat("x", 40) {
		t.Errorf("%q", &urls[3])
	}
}

func TestEmptyURL(t *testing.T) {
	check := func(u *urlcore.URL) {
		t.Helper()
		for part := urlcore.Href; part <= urlcore.Fragment; part++ {
			if len(u.Bytes(part)) != 0 {
				t.Errorf("part %d is %q", part, u.Bytes(part))
			}
		}
		for name, get := range attributes {
			if got := get(u); got != "" && (name != "origin" || got != "null") {
				t.Errorf("%s is %q", name, got)
			}
		}
		for _, set := range setterList[:9] {
			set(u, "x")
		}
		if !u.IsEmpty() || u.HasHost() || u.HasPort() || u.HasQuery() || u.HasFragment() || u.HasCredentials() ||
			u.Special() || u.OpaquePath() || u.HostKind() != urlcore.HostNone {
			t.Errorf("%+v", u.DescribeRecord())
		}
		if _, err := u.Resolve("x"); err == nil {
			t.Error("a reference was resolved against the empty URL")
		}
	}
	check(new(urlcore.URL))
	u := urlcore.MustParse("https://u:p@h:81/p?q#f")
	params := u.SearchParams()
	u.Reset()
	check(u)
	if params.Len() != 0 {
		t.Errorf("parameters %v after Reset", params)
	}
	if err := u.SetHref("https://h/?a=b"); err != nil || params.Len() != 1 {
		t.Errorf("%v, parameters %v", err, params)
	}
}

func TestPorts(t *testing.T) {
	for input, want := range map[string][2]int{
		"http://h/": {-1, 80}, "https://h:8443/": {8443, 8443}, "ws://h:0/": {0, 0}, "wss://h": {-1, 443}, "ftp://h": {-1, 21},
		"file://h/": {-1, -1}, "foo://h": {-1, -1}, "foo://h:1": {1, 1}, "foo:x": {-1, -1},
	} {
		u := urlcore.MustParse(input)
		for i, get := range []func() (uint16, bool){u.PortNumber, u.EffectivePort} {
			if port, ok := get(); ok != (want[i] >= 0) || ok && int(port) != want[i] {
				t.Errorf("%s: %d, %t and not %d", input, port, ok, want[i])
			}
		}
	}
}

func TestHostKinds(t *testing.T) {
	for input, want := range map[string]string{
		"foo:x": "none", "foo:/x": "none", "file:///x": "empty", "foo:///x": "empty", "https://h/": "domain", "foo://h": "opaque",
		"http://1/": "ipv4", "http://[::1]/": "ipv6", "foo://[::1]": "ipv6", "foo://1.2.3.4": "opaque", "file://h/x": "domain",
	} {
		if got := urlcore.MustParse(input).HostKind().String(); got != want {
			t.Errorf("%s: %s and not %s", input, got, want)
		}
	}
	if s := urlcore.HostKind(99).String(); s != "unknown" {
		t.Error(s)
	}
}

func TestEquality(t *testing.T) {
	a, b := urlcore.MustParse("HTTPS://H:443/a/../b#x"), urlcore.MustParse("https://h/b#y")
	if a.Equal(b) || !a.EqualExcludingFragments(b) || !a.Equal(a.Clone()) {
		t.Error("equality of URLs")
	}
	if a.HrefWithoutFragment() != "https://h/b" {
		t.Error(a.HrefWithoutFragment())
	}
	if !a.HostEqual(b) || a.HostEqual(urlcore.MustParse("foo://h/b")) || a.HostEqual(urlcore.MustParse("https://h./")) {
		t.Error("equality of hosts")
	}
}

func TestJSON(t *testing.T) {
	var v struct{ U *urlcore.URL }
	if err := json.Unmarshal([]byte(`{"U":"HTTP://h/\u00e9"}`), &v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil || string(text) != `{"U":"http://h/%C3%A9"}` {
		t.Errorf("%s, %v", text, err)
	}
	if err := json.Unmarshal([]byte(`{"U":"x"}`), &v); err == nil {
		t.Error("a relative reference was unmarshalled")
	}
}

func TestIllFormedInput(t *testing.T) {
	for _, c := range []struct{ input, href, failure string }{
		{"https://h/\xff", "https://h/%EF%BF%BD", ""},
		{"https://h/\xf0\x9f\x92", "https://h/%EF%BF%BD", ""},
		{"https://h/\xf0\x80\x80", "https://h/%EF%BF%BD%EF%BF%BD%EF%BF%BD", ""},
		{"https://h/\xed\xa0\x80", "https://h/%EF%BF%BD%EF%BF%BD%EF%BF%BD", ""},
		{"https://h/\xe0\x80|\xe0\xa0|\xf4\x90|\xf4\x8f|\xc1\xc2", "https://h/%EF%BF%BD%EF%BF%BD|%EF%BF%BD|%EF%BF%BD%EF%BF%BD|%EF%BF%BD|%EF%BF%BD%EF%BF%BD", ""},
		{"https://h/\xc3\t\xa9", "https://h/%EF%BF%BD%EF%BF%BD", ""},
		{"https://h/\xef\xbf\xbd", "https://h/%EF%BF%BD", ""},
		{"foo:\xff ", "foo:%EF%BF%BD", ""},
		{"https://u\xff@h/?\xfe#\xfd", "https://u%EF%BF%BD@h/?%EF%BF%BD#%EF%BF%BD", ""},
		{"foo://\xff/", "foo://%EF%BF%BD/", ""},
		{"https://\xff/", "", "domain-to-ASCII@8"},
		{"https://a.\xff/", "", "domain-to-ASCII@10"},
		{"https://a.%ff/", "", "domain-to-ASCII@8"},
		{"https://%61\u3002b.\u200d.c/", "", "domain-to-ASCII@16"},
		{"https://%61.%e2%80%8d/", "", "domain-to-ASCII@12"},
		{"https://1\u05d0.\u2615/", "", "domain-to-ASCII@8"},
		{"https://\u2615.\u05d0/", "", "domain-to-ASCII@8"},
		{" \t\xf0\x9f\xff\nhttps://h", "", "missing-scheme-non-relative-URL@2"},
		{"https://h:\xf0\x9f\x92\n8x", "", "port-invalid@10"},
		{"https://u\xf0\x9f\t@h:8\n8x", "", "port-invalid@18"},
		{"foo://\xff\xff\ta b/", "", "host-invalid-code-point@10"},
		{"foo://\xff[", "", "host-invalid-code-point@7"},
	} {
		u, err := urlcore.Parse(c.input)
		if c.failure == "" {
			if err != nil || u.Href() != c.href {
				t.Errorf("%q: %v, %v", c.input, u, err)
			}
			continue
		}
		var e *urlcore.Error
		if !errors.As(err, &e) || e.Code.String()+"@"+strconv.Itoa(e.Pos) != c.failure {
			t.Errorf("%q: %v", c.input, err)
		}
	}
	u := urlcore.MustParse("https://h/")
	u.SetUsername("a\xffb\xf0\x9f")
	u.SetHost("\xff")
	u.SetPathname("\xf0\x9f")
	if u.Href() != "https://a%EF%BF%BDb%EF%BF%BD@h/%EF%BF%BD" {
		t.Errorf("%s", u)
	}
}

func TestInputTooLong(t *testing.T) {
	long := make([]byte, urlcore.MaxInput+1) // never touched, so it takes no memory
	p := urlcore.Parser{CollectErrors: true}
	u := urlcore.MustParse("https://h/")
	if f := p.Parse(u, long, nil); f.Code != urlcore.CodeInputTooLong || len(p.ValidationErrors()) != 1 || u.Href() != "https://h/" {
		t.Errorf("%v", f)
	}
	s := urlcore.StringOf(long)
	for _, set := range setterList[:9] {
		if set(u, s); u.Href() != "https://h/" {
			t.Errorf("a setter has taken %d bytes", len(s))
		}
	}
	if urlcore.IsValidURLString(s, nil) {
		t.Error("IsValidURLString has taken too much")
	}
	if _, _, err := urlcore.ParseHost(s, false); err == nil {
		t.Error("ParseHost has taken too much")
	}
}

func TestOrigins(t *testing.T) {
	parse := urlcore.MustParse
	a := parse("https://u@a.example.com:443/x")
	for input, want := range map[string][3]bool{ // same origin, same site, schemelessly same site as a
		"https://a.example.com/":      {true, true, true},
		"https://a.example.com:444/":  {false, true, true},
		"https://b.example.com/":      {false, true, true},
		"http://a.example.com/":       {false, false, true},
		"https://example.org/":        {false, false, false},
		"https://1.2.3.4/":            {false, false, false},
		"blob:https://a.example.com/": {true, true, true},
		"file:///x":                   {false, false, false},
		"foo://a.example.com":         {false, false, false},
	} {
		b := parse(input)
		got := [3]bool{urlcore.SameOrigin(a, b), urlcore.SameSite(a, b), urlcore.SchemelesslySameSite(a, b)}
		if got != want {
			t.Errorf("%s: %v", input, got)
		}
	}
	for input, want := range map[string]bool{ // itself and a URL of another port
		"https://com/": true, "https://1.2.3.4/": true, "https://[::1]/": true, "foo://h": false, "file:///": false,
	} {
		b := parse(input)
		c := b.Clone()
		c.SetPort("999")
		if got := urlcore.SameSite(b, c); got != want || urlcore.SameOrigin(b, b.Clone()) != want {
			t.Errorf("%s is same site with itself: %t", input, got)
		}
	}
	if urlcore.SameSite(parse("https://1.2.3.4/"), parse("https://1.2.3.5/")) {
		t.Error("two addresses are same site")
	}
	if o := parse("data:x").SecurityOrigin(); !o.Opaque() || o.String() != "null" || o.Same(o) {
		t.Errorf("%v", o)
	}
	if o := parse("wss://h:1/").SecurityOrigin(); o.Opaque() || o.String() != "wss://h:1" || !o.Same(o) {
		t.Errorf("%v", o)
	}
}

func TestBlobEntries(t *testing.T) {
	entry := &urlcore.BlobEntry{Origin: urlcore.MustParse("https://maker.example/").SecurityOrigin()}
	p := urlcore.Parser{ResolveBlob: func(u *urlcore.URL) *urlcore.BlobEntry {
		if u.Pathname() == "known" {
			return entry
		}
		return nil
	}}
	var u urlcore.URL
	for input, want := range map[string]string{
		"blob:known": "https://maker.example", "blob:https://h/other": "https://h", "https://h/known": "https://h",
	} {
		p.Parse(&u, []byte(input), nil)
		if u.Origin() != want || (u.BlobEntry() != nil) != (input == "blob:known") {
			t.Errorf("%s: %s", input, u.Origin())
		}
		if u.Clone().Origin() != want {
			t.Errorf("the clone of %s: %s", input, u.Clone().Origin())
		}
	}
}

func TestSites(t *testing.T) {
	for input, want := range map[string][3]string{
		"https://a.b.example.co.uk/": {"co.uk", "example.co.uk", "icann"},
		"https://x.github.io/":       {"github.io", "x.github.io", "private"},
		"https://github.io./":        {"github.io.", "", "private"},
		"https://a.unlisted/":        {"unlisted", "a.unlisted", "unlisted"},
		"https://1.2.3.4/":           {"", "", "unlisted"},
		"foo://example.com/":         {"", "", "unlisted"},
		"https://./":                 {"", "", "unlisted"},
	} {
		u := urlcore.MustParse(input)
		suffix, domain, section := u.Site(psl.Default())
		if got := [3]string{string(suffix), string(domain), section.String()}; got != want {
			t.Errorf("%s: %q", input, got)
		}
		if u.PublicSuffix() != want[0] || u.RegistrableDomain() != want[1] {
			t.Errorf("%s: %q, %q", input, u.PublicSuffix(), u.RegistrableDomain())
		}
	}
}

func TestValidURLStrings(t *testing.T) {
	base := urlcore.MustParse("https://h/")
	for input, want := range map[string]bool{
		"https://example.com/": true, "https://u@h/": false, "x": false, "https://h/a b": false, "mailto:a@b": true,
		"a b:c": false, "1:b": false, "foo://[::1]:80/": true, "foo://[::1]:65536": false, "https://h/?\ufffe": false,
	} {
		if got := urlcore.IsValidURLString(input, nil); got != want {
			t.Errorf("%q: %t", input, got)
		}
	}
	if !urlcore.IsValidURLString("x?y#z", base) || urlcore.IsValidURLString("x y", base) {
		t.Error("relative references")
	}
}

func TestSearchParamsLink(t *testing.T) {
	u := urlcore.MustParse("https://h/?a=1&b=%zz~")
	p := u.SearchParams()
	if u.Href() != "https://h/?a=1&b=%zz~" {
		t.Errorf("looking at the parameters has changed %s", u)
	}
	p.Append("c d", "\u00e9")
	if u.Search() != "?a=1&b=%25zz%7E&c+d=%C3%A9" {
		t.Error(u.Search())
	}
	u.SetSearch("x=y")
	if v, ok := p.Get("x"); !ok || v != "y" || p.Len() != 1 {
		t.Errorf("%v", p)
	}
	u.SetHash("f")
	p.Delete("x")
	if u.Href() != "https://h/#f" || u.HasQuery() {
		t.Errorf("%s", u)
	}
	var parser urlcore.Parser
	parser.Parse(u, []byte("foo:x?q=1"), nil)
	if p.String() != "q=1" || u.SearchParams() != p {
		t.Errorf("%v", p)
	}
	if c := u.Clone(); c.SearchParams() == p {
		t.Error("a clone shares the parameters")
	}
}
