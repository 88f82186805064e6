package urlcore_test

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/charset"
)

// fuzzSeeds are inputs that lead into every state of the parser.
var fuzzSeeds = []string{
	"https://user:pass@example.com:8080/a/./b/../c?q=1#f", "//h/p", "/p", "?q", "#f", "..", "", "x:y z ?q",
	"file:///C|/a/../..", "file://localhost/x", "C|/x", "http://0x7f.1/", "http://[1::8:1.2.3.4]:80/", "foo:/.//p",
	"http://\u00e9.example/\u00e9?\u00e9#\u00e9", "\xff\xfehttp://h/\xf0\x9f", " \thttp://h\n/ ", "blob:https://h/x",
	"https://example.com", "https://a-b_c.example:8443/.well-known/%41?q#f", "http://%41%e2%98%83/", "foo://a%zz[/", "ws://h:80\\x", "http:\\\\h\\p", "http://a@b@c:d@h:0/", "javascript:a#b",
}

func FuzzParse(f *testing.F) {
	for i, input := range fuzzSeeds {
		f.Add([]byte(input), []byte(fuzzSeeds[len(fuzzSeeds)-1-i]))
	}
	f.Fuzz(func(t *testing.T, input, baseInput []byte) {
		var p urlcore.Parser
		collecting := urlcore.Parser{CollectErrors: true}
		base := new(urlcore.URL)
		if !p.Parse(base, baseInput, nil).OK() {
			base = nil
		}
		var u, v urlcore.URL
		failure := p.Parse(&u, input, base)
		if got := collecting.Parse(&v, input, base); got != failure || !urlcore.SameRecord(&u, &v) {
			t.Fatalf("%v and %v, %q and %q with errors collected", failure, got, &u, &v)
		}
		checkErrors(t, input, failure, collecting.ValidationErrors())
		if !failure.OK() {
			if !u.IsEmpty() {
				t.Fatalf("failure has changed the destination to %q", &u)
			}
			return
		}
		checkRecord(t, &u)
		if !reparses(&u) {
			t.Fatalf("%q is not what it parses to", &u)
		}
		// Ill-formed text is read as the decoder gives it.
		if f := p.Parse(&v, charset.AppendUTF8(nil, input), base); !f.OK() || !u.Equal(&v) {
			t.Fatalf("%q becomes %q when it is decoded beforehand", &u, &v)
		}
	})
}

// checkErrors checks that positions lie within the input and in order, and that a failure is among them.
func checkErrors(t *testing.T, input []byte, failure urlcore.Failure, errors []urlcore.ValidationError) {
	t.Helper()
	found, last := failure.OK(), 0
	for _, e := range errors {
		if e.Pos < last || e.Pos > len(input) || e.Code.String() == "" {
			t.Fatalf("%q: %v in %v", input, e, errors)
		}
		last = e.Pos
		found = found || e == urlcore.ValidationError(failure)
	}
	if !found {
		t.Fatalf("%q: %v is not in %v", input, failure, errors)
	}
}

// checkRecord checks the invariants of a URL record.
//
// https://url.spec.whatwg.org/#url-representation
func checkRecord(t *testing.T, u *urlcore.URL) {
	t.Helper()
	href := u.Bytes(urlcore.Href)
	end := 0
	for part := urlcore.Scheme; part <= urlcore.Fragment; part++ {
		start, stop := u.Span(part)
		if start < end || stop < start || stop > len(href) {
			t.Fatalf("%q: part %d lies at %d to %d: %+v", href, part, start, stop, u.DescribeRecord())
		}
		end = stop
	}
	if s := serialize(u); s != string(href) {
		t.Fatalf("the parts of %q make up %q", href, s)
	}
	for _, c := range href {
		if c < ' ' || c > '~' {
			t.Fatalf("%q holds byte %#x", href, c)
		}
	}
	kind := u.HostKind()
	switch scheme := string(u.Bytes(urlcore.Scheme)); {
	case u.Special() && scheme != "file" && (kind == urlcore.HostNone || kind == urlcore.HostEmpty || kind == urlcore.HostOpaque),
		scheme == "file" && (kind == urlcore.HostNone || kind == urlcore.HostOpaque || u.HasPort() || u.HasCredentials()),
		!u.Special() && (kind == urlcore.HostDomain || kind == urlcore.HostIPv4),
		kind <= urlcore.HostEmpty && (u.HasPort() || u.HasCredentials()),
		u.OpaquePath() && (u.Special() || kind != urlcore.HostNone),
		u.Special() && !strings.HasPrefix(u.Pathname(), "/"):
		t.Fatalf("%q: scheme, host and path do not go together: %+v", href, u.DescribeRecord())
	}
}

// serialize puts the parts of u together as the standard's serializer does.
//
// https://url.spec.whatwg.org/#concept-url-serializer
func serialize(u *urlcore.URL) string {
	s := u.Protocol()
	if u.HasHost() {
		s += "//"
		if u.HasCredentials() {
			s += u.Username()
			if u.Password() != "" {
				s += ":" + u.Password()
			}
			s += "@"
		}
		s += u.Hostname()
		if u.HasPort() {
			s += ":" + u.Port()
		}
	} else if !u.OpaquePath() && strings.HasPrefix(u.Pathname(), "//") {
		s += "/."
	}
	s += u.Pathname()
	if u.HasQuery() {
		s += "?" + string(u.Bytes(urlcore.Query))
	}
	if u.HasFragment() {
		s += "#" + string(u.Bytes(urlcore.Fragment))
	}
	return s
}

// setterList holds the setters that cannot fail, in the order in which fuzzing numbers them.
var setterList = []func(*urlcore.URL, string){
	(*urlcore.URL).SetProtocol, (*urlcore.URL).SetUsername, (*urlcore.URL).SetPassword, (*urlcore.URL).SetHost,
	(*urlcore.URL).SetHostname, (*urlcore.URL).SetPort, (*urlcore.URL).SetPathname, (*urlcore.URL).SetSearch,
	(*urlcore.URL).SetHash,
	func(u *urlcore.URL, v string) { u.SearchParams().Append(v, v) },
	func(u *urlcore.URL, v string) { u.SearchParams().Delete(v) },
	func(u *urlcore.URL, v string) { _ = u.SetHref(v) },
}

func FuzzSetters(f *testing.F) {
	for i, input := range fuzzSeeds {
		f.Add(input, byte(i), "x:80/y?z#a", byte(i/3), "//\u00e9@")
		f.Add(input, byte(0), "file", byte(3), input)
	}
	f.Fuzz(func(t *testing.T, input string, first byte, value string, second byte, other string) {
		u, err := urlcore.Parse(input)
		if err != nil {
			return
		}
		toFile := false
		for _, set := range []struct {
			which byte
			value string
		}{{first, value}, {second, other}, {first, other}} {
			before, wasFile := u.Href(), u.Protocol() == "file:"
			setterList[int(set.which)%len(setterList)](u, set.value)
			checkRecord(t, u)
			// A URL that was made a file URL may have a host localhost, or a drive letter with a bar, which
			// the parser would not leave as they are. The standard's setter does not look at them.
			toFile = toFile || !wasFile && u.Protocol() == "file:"
			if !toFile && !reparses(u) {
				t.Fatalf("%q set to %q by %d: %q is not what it parses to: %+v", before, set.value, set.which, u, u.DescribeRecord())
			}
			if want := urlcore.MustParse("x:?" + string(u.Bytes(urlcore.Query))).SearchParams().String(); u.SearchParams().String() != want {
				t.Fatalf("%q has the parameters %q", u, u.SearchParams())
			}
		}
	})
}

func FuzzDomain(f *testing.F) {
	for _, s := range []string{"example.com", "b\u00fccher.example", "xn--bcher-kva.example", "\u2100", "xn--", "a\u00ad.\u00df", "\u05d0.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, domain string) {
		ascii, err := urlcore.DomainToASCII(domain, false)
		if err == nil {
			if again, err := urlcore.DomainToASCII(ascii, false); err != nil || again != ascii {
				t.Fatalf("%q gives %q, which gives %q, %v", domain, ascii, again, err)
			}
		}
		if strict, strictErr := urlcore.DomainToASCII(domain, true); strictErr == nil {
			if err != nil || strict != ascii {
				t.Fatalf("%q gives %q when strict and else %q, %v", domain, strict, ascii, err)
			}
			unicode, ok := urlcore.DomainToUnicode(strict, true)
			if !ok {
				t.Fatalf("%q does not go back", strict)
			}
			if back, err := urlcore.DomainToASCII(unicode, true); err != nil || back != strict {
				t.Fatalf("%q gives %q, which gives %q, %v", strict, unicode, back, err)
			}
		}
	})
}

// FuzzValidURLString compares the grammar with the parser: valid is what is parsed without a validation error.
func FuzzValidURLString(f *testing.F) {
	for i, input := range fuzzSeeds {
		f.Add(input, fuzzSeeds[len(fuzzSeeds)-1-i])
	}
	for _, host := range []string{"1.2.3.4", "[1::8:1.2.3.4]", "[1:2:3:4:5:6:7::]", "x--y", "a:080", "0x1", "%41", "\u2460", ""} {
		f.Add("https://"+host+"/a?b#c", "file:///x")
		f.Add("foo://"+host, "foo:/x")
	}
	f.Fuzz(func(t *testing.T, input, baseInput string) {
		base, err := urlcore.Parse(baseInput)
		if err != nil {
			base = nil
		}
		p := urlcore.Parser{CollectErrors: true}
		var u urlcore.URL
		want := p.Parse(&u, []byte(input), base).OK() && len(p.ValidationErrors()) == 0
		if got := urlcore.IsValidURLString(input, base); got != want {
			t.Fatalf("%q against %q: valid %t, but the parser says %v", input, base, got, p.ValidationErrors())
		}
	})
}
