package rfc3986

import (
	"regexp"
	"strings"
	"testing"
)

// grammar is appendix A of the RFC as regular expressions, written down rule by rule; <name> stands for another rule.
var grammar = map[string]string{
	"URI":           `<scheme>:<hier-part>(\?<query>)?(#<fragment>)?`,
	"hier-part":     `(//<authority><path-abempty>|<path-absolute>|<path-rootless>|<path-empty>)`,
	"URI-reference": `(<URI>|<relative-ref>)`,
	"absolute-URI":  `<scheme>:<hier-part>(\?<query>)?`,
	"relative-ref":  `<relative-part>(\?<query>)?(#<fragment>)?`,
	"relative-part": `(//<authority><path-abempty>|<path-absolute>|<path-noscheme>|<path-empty>)`,
	"scheme":        `[A-Za-z][A-Za-z0-9+.-]*`,
	"authority":     `(<userinfo>@)?<host>(:<port>)?`,
	"userinfo":      `(<unreserved>|<pct-encoded>|<sub-delims>|:)*`,
	"host":          `(<IP-literal>|<IPv4address>|<reg-name>)`,
	"port":          `[0-9]*`,
	"IP-literal":    `\[(<IPv6address>|<IPvFuture>)\]`,
	"IPvFuture":     `[vV][0-9A-Fa-f]+\.(<unreserved>|<sub-delims>|:)+`,
	"IPv6address": `((<h16>:){6}<ls32>|::(<h16>:){5}<ls32>|(<h16>)?::(<h16>:){4}<ls32>|((<h16>:){0,1}<h16>)?::(<h16>:){3}<ls32>|` +
		`((<h16>:){0,2}<h16>)?::(<h16>:){2}<ls32>|((<h16>:){0,3}<h16>)?::<h16>:<ls32>|((<h16>:){0,4}<h16>)?::<ls32>|` +
		`((<h16>:){0,5}<h16>)?::<h16>|((<h16>:){0,6}<h16>)?::)`,
	"h16":           `[0-9A-Fa-f]{1,4}`,
	"ls32":          `(<h16>:<h16>|<IPv4address>)`,
	"IPv4address":   `<dec-octet>\.<dec-octet>\.<dec-octet>\.<dec-octet>`,
	"dec-octet":     `([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])`,
	"reg-name":      `(<unreserved>|<pct-encoded>|<sub-delims>)*`,
	"path":          `(<path-abempty>|<path-absolute>|<path-noscheme>|<path-rootless>|<path-empty>)`,
	"path-abempty":  `(/<segment>)*`,
	"path-absolute": `/(<segment-nz>(/<segment>)*)?`,
	"path-noscheme": `<segment-nz-nc>(/<segment>)*`,
	"path-rootless": `<segment-nz>(/<segment>)*`,
	"path-empty":    ``,
	"segment":       `<pchar>*`,
	"segment-nz":    `<pchar>+`,
	"segment-nz-nc": `(<unreserved>|<pct-encoded>|<sub-delims>|@)+`,
	"pchar":         `(<unreserved>|<pct-encoded>|<sub-delims>|:|@)`,
	"query":         `(<pchar>|/|\?)*`,
	"fragment":      `(<pchar>|/|\?)*`,
	"pct-encoded":   `%[0-9A-Fa-f]{2}`,
	"unreserved":    `[A-Za-z0-9._~-]`,
	"reserved":      `(<gen-delims>|<sub-delims>)`,
	"gen-delims":    `[]:/?#[@]`,
	"sub-delims":    `[!$&'()*+,;=]`,
}

var ruleName = regexp.MustCompile(`<[A-Za-z0-9-]+>`)

// expand returns the rule with all other rules put in.
func expand(name string) string {
	return ruleName.ReplaceAllStringFunc(grammar[name], func(other string) string {
		return "(?:" + expand(other[1:len(other)-1]) + ")"
	})
}

// expressions returns the compiled grammar by production.
func expressions(tb testing.TB) map[Production]*regexp.Regexp {
	tb.Helper()
	compiled := map[Production]*regexp.Regexp{}
	for _, p := range Productions() {
		if _, ok := grammar[p.String()]; !ok {
			tb.Fatalf("no rule %v", p)
		}
		compiled[p] = regexp.MustCompile(`\A(?:` + expand(p.String()) + `)\z`)
	}
	return compiled
}

// appendixB is the expression of that appendix.
var appendixB = regexp.MustCompile(`(?s)^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?`)

func compareWithReference(t *testing.T, all map[Production]*regexp.Regexp, s string) {
	t.Helper()
	for p, expression := range all {
		if got, want := p.Match(s), expression.MatchString(s); got != want {
			t.Errorf("%v.Match(%q) = %v, want %v", p, s, got, want)
		}
	}
	m := appendixB.FindStringSubmatch(s)
	r := Split(s)
	want := Ref{
		Scheme: m[2], HasScheme: m[1] != "", Authority: m[4], HasAuthority: m[3] != "", Path: m[5],
		Query: m[7], HasQuery: m[6] != "", Fragment: m[9], HasFragment: m[8] != "",
	}
	if r != want {
		t.Errorf("Split(%q) = %+v, want %+v", s, r, want)
	}
	if got := r.String(); got != s {
		t.Errorf("Split(%q) is put together as %q", s, got)
	}
}

// pieces are what references and addresses are made of, and some things that they are not.
var pieces = []string{
	"a", "1", "f", "g", "z", "v", "V1", ":", "::", ".", "..", "/", "//", "?", "#", "@", "[", "]", "%41", "%", "%4g", "0", "00", "255", "256", "1.2.3.4",
	"ffff", "12345", "-", "_", "~", "!", "'", ";", "=", " ", "^", "|", "é", "\x00", "\n", "http:", "\\",
}

func TestAgainstGrammar(t *testing.T) {
	all := expressions(t)
	for _, c := range refCases(t) {
		compareWithReference(t, all, c.Input)
	}
	for _, a := range pieces {
		for _, b := range pieces {
			compareWithReference(t, all, a+b)
			compareWithReference(t, all, "//"+a+b+"c")
		}
	}
}

// TestIPv6AgainstGrammar tries all counts of pieces before and after a "::" and with an IPv4 address.
func TestIPv6AgainstGrammar(t *testing.T) {
	expression := expressions(t)[IPv6Address]
	for before := range 10 {
		for after := range 10 {
			for _, middle := range []string{"::", ":", ":::", "", "::::"} {
				for _, end := range []string{"", ":1.2.3.4", "1.2.3.4", ":", "::", "%25eth0", ":1.2.3.4:1"} {
					s := strings.TrimSuffix(strings.Repeat("a1:", before), ":") + middle + strings.TrimSuffix(strings.Repeat("0:", after), ":") + end
					if got, want := IPv6Address.Match(s), expression.MatchString(s); got != want {
						t.Errorf("IPv6Address.Match(%q) = %v, want %v", s, got, want)
					}
				}
			}
		}
	}
}

func FuzzMatch(f *testing.F) {
	all := expressions(f)
	for _, c := range refCases(f) {
		f.Add(c.Input)
	}
	f.Add("1:2:3:4:5:6:1.2.3.4")
	f.Fuzz(func(t *testing.T, s string) { compareWithReference(t, all, s) })
}

func FuzzResolve(f *testing.F) {
	f.Add("http://a/b/c/d;p?q", "../g#s")
	f.Add("a:/b", "/..//c")
	f.Fuzz(func(t *testing.T, base, ref string) {
		target, err := ResolveReference(base, ref)
		if err != nil {
			return
		}
		r := Split(target)
		if !r.HasScheme {
			t.Errorf("%q against %q has no scheme: %q", ref, base, target)
		}
		if again := RemoveDotSegments(r.Path); Split(ref).Path != "" && r.Path != again && !strings.HasPrefix(r.Path, "/.//") {
			t.Errorf("%q against %q has dot segments: %q", ref, base, target)
		}
		if _, err := Parse(base); err != nil {
			return
		}
		if _, err := Parse(ref); err != nil {
			return
		}
		if _, err := Parse(target); err != nil {
			t.Errorf("%q against %q is no URI: %q: %v", ref, base, target, err)
		}
	})
}
