package urlcore_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

func TestParseHost(t *testing.T) {
	for _, c := range []struct {
		input  string
		opaque bool
		host   string
		kind   urlcore.HostKind
		code   urlcore.Code
		pos    int
	}{
		{"EXAMPLE.com", false, "example.com", urlcore.HostDomain, 0, 0},
		{"EXAMPLE.com", true, "EXAMPLE.com", urlcore.HostOpaque, 0, 0},
		{"0x7f.1", false, "127.0.0.1", urlcore.HostIPv4, 0, 0},
		{"[1:0::]", true, "[1::]", urlcore.HostIPv6, 0, 0},
		{"", true, "", urlcore.HostEmpty, 0, 0},
		{"", false, "", 0, urlcore.CodeHostMissing, 0},
		{"a\tb", false, "", 0, urlcore.CodeDomainToASCII, 1},
		{"\xff\ta", true, "", 0, urlcore.CodeHostInvalidCodePoint, 1},
		{"h:80", false, "", 0, urlcore.CodeDomainToASCII, 1},
	} {
		host, kind, err := urlcore.ParseHost(c.input, c.opaque)
		var e *urlcore.Error
		if errors.As(err, &e) {
			if e.Code != c.code || e.Pos != c.pos {
				t.Errorf("%q: %v", c.input, err)
			}
			continue
		}
		if c.code != 0 || host != c.host || kind != c.kind {
			t.Errorf("%q: %q, %v", c.input, host, kind)
		}
	}
}

func TestValidHostStrings(t *testing.T) {
	for input, valid := range map[string][2]bool{ // as the host of a special URL, and of another
		"example.com": {true, true}, "b\u00fccher.example": {true, true}, "xn--bcher-kva.example": {true, true},
		"example.com.": {false, true}, "a..b": {false, true}, "a_b": {false, true}, "xn--a": {false, true}, "-a": {false, true},
		"1.2.3.4": {true, true}, "1.2.3": {false, true}, "01.2.3.4": {false, true}, "0x1.2.3.4": {false, true},
		"[::1]": {true, true}, "[::01]": {false, false}, "[::1": {false, false}, "": {false, false}, "a b": {false, false},
		"%41": {false, true}, "a%zz": {false, false}, "a\"": {false, false}, "\u2260.example": {true, true},
		"\u2260.xn--a": {false, true}, strings.Repeat("a.", 126) + "a": {true, true}, strings.Repeat("a.", 127) + "a": {false, true},
		"\u00e9." + strings.Repeat("a.", 124) + "a": {false, true}, "xn--bcher-kva." + strings.Repeat("a.", 120) + "a": {false, true},
	} {
		if got := urlcore.IsValidHostString(input); got != valid[0] {
			t.Errorf("IsValidHostString(%q) = %t", input, got)
		}
		if got := urlcore.IsValidOpaqueHostString(input); got != valid[1] {
			t.Errorf("IsValidOpaqueHostString(%q) = %t", input, got)
		}
	}
}

func TestAddr(t *testing.T) {
	for input, want := range map[string]string{
		"http://0x7f.1/": "127.0.0.1", "http://[::ffff:1.2.3.4]/": "::ffff:1.2.3.4", "foo://[1::]": "1::", "http://h/": "", "foo:x": "",
	} {
		addr, ok := urlcore.MustParse(input).Addr()
		if ok != (want != "") || ok && addr != netip.MustParseAddr(want) {
			t.Errorf("%s: %v, %t", input, addr, ok)
		}
	}
}

func TestDomains(t *testing.T) {
	for _, c := range []struct{ input, lenient, strict, unicode string }{ // "" fails
		{"EXAMPLE.com", "example.com", "example.com", "example.com"},
		{"B\u00dcCHER.example", "xn--bcher-kva.example", "xn--bcher-kva.example", "b\u00fccher.example"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", "xn--bcher-kva.example", "b\u00fccher.example"},
		{"example.com.", "example.com.", "", "example.com."},
		{"a..b", "a..b", "", "a..b"},
		{"", "", "", ""},
		{"xn--", "xn--", "", ""},
		{"xn--a", "xn--a", "", ""},
		{"ab--cd", "ab--cd", "", "ab--cd"},
		{"a_b", "a_b", "", "a_b"},
		{"\u2100", "a/c", "", "a/c"},
		{"\uff58n--.\u00df", "", "", ""},
		{"x\u00adn--.\u00df", "", "", ""},
		{"\u00ad.\u00df", ".xn--zca", "", ".\u00df"},
		{"\u00df\u2024a", "", "", ""},
		{"xn--xn--a--gua.\u00df", "", "", ""},
		{"\U0001ccd6\U0001ccf9", "a9", "a9", "a9"},
		{"\ufffd.\u00df", "", "", ""},
		{strings.Repeat("\u00e9", 3000), "", "", ""},
		{"xn--" + strings.Repeat("a", 5000), "xn--" + strings.Repeat("a", 5000), "", ""},
	} {
		if got, err := urlcore.DomainToASCII(c.input, false); got != c.lenient || (err != nil) != (c.lenient == "") {
			t.Errorf("DomainToASCII(%.50q, false) = %.50q, %v", c.input, got, err)
		}
		if got, err := urlcore.DomainToASCII(c.input, true); got != c.strict || (err != nil) != (c.strict == "") {
			t.Errorf("DomainToASCII(%.50q, true) = %.50q, %v", c.input, got, err)
		}
		got, ok := urlcore.DomainToUnicode(c.input, false)
		if want := c.unicode; ok && got != want || !ok && (want != "" || got != c.input) {
			t.Errorf("DomainToUnicode(%.50q, false) = %.50q, %t", c.input, got, ok)
		}
		if got, ok := urlcore.DomainToUnicode(c.input, true); ok != (c.strict != "") || !ok && got != c.input {
			t.Errorf("DomainToUnicode(%.50q, true) = %.50q, %t", c.input, got, ok)
		}
	}
}
