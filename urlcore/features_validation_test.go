package urlcore_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

// reports makes a test of a validation error: inputs that fail by it, and inputs that it does not keep from being
// URLs. An input may be followed by a space, "against" and a base.
func reports(code urlcore.Code, fatal, harmless []string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		check := func(text string, isFatal bool) {
			input, baseText, hasBase := strings.Cut(text, " against ")
			var base *urlcore.URL
			if hasBase {
				base = urlcore.MustParse(baseText)
			}
			names, failure := errorNames(input, base)
			if !slices.Contains(strings.Fields(names), code.String()) {
				t.Errorf("%q reports %q and not %s", text, names, code)
			}
			if isFatal && failure.Code != code || !isFatal && !failure.OK() {
				t.Errorf("%q fails by %q", text, failure.Code)
			}
		}
		for _, input := range fatal {
			check(input, true)
		}
		for _, input := range harmless {
			check(input, false)
		}
		names, failure := errorNames("https://example.org:8080/a/b%20c?d=%C3%A9#e", nil)
		if names != "" || !failure.OK() {
			t.Errorf("a valid URL reports %q, %v", names, failure)
		}
	}
}

var validationFeatures = features{
	"F1": reports(urlcore.CodeDomainToASCII, []string{"https://\u00ad/", "https://a%00b/", "https://\u2100/", "https://xn--.\u00df/", "https://%ff/"},
		[]string{"https://a_b/", "https://-a/", "https://xn--a/", "https://a.example./", "https://ab--c/", "https://" + strings.Repeat("a", 64) + "/"}),
	"F2": func(t *testing.T) { // the newest text has no such error: the strict run reports it
		for _, code := range urlcore.Codes() {
			if code.String() == "domain-invalid-code-point" {
				t.Error("there still is a code", code)
			}
		}
		reports(urlcore.CodeDomainToASCII, []string{"https://a%3Ab/", "https://exa%23mple/"}, nil)(t)
	},
	"F3": func(t *testing.T) { // nor this one: domain to Unicode has a result of its own
		for _, code := range urlcore.Codes() {
			if code.String() == "domain-to-Unicode" {
				t.Error("there still is a code", code)
			}
		}
		text, ok := urlcore.DomainToUnicode("xn--a", false)
		expect(t, "xn--a", text, "xn--a")
		expect(t, "xn--a", ok, false)
	},
	"F4":  reports(urlcore.CodeDomainPercentEncoded, nil, []string{"https://%61/", "https://ex%41mple.org/", "https://%E2%98%83/"}),
	"F5":  reports(urlcore.CodeHostInvalidCodePoint, []string{"x://a[b/", "x://a b/", "x://a^/", "x://a|/", "x://a<b/"}, nil),
	"F6":  reports(urlcore.CodeIPv4EmptyPart, nil, []string{"https://1.2.3.4./", "https://1./"}),
	"F7":  reports(urlcore.CodeIPv4TooFewParts, nil, []string{"https://1/", "https://1.2/", "https://1.2.3/"}),
	"F8":  reports(urlcore.CodeIPv4NonASCIIInput, nil, []string{"https://\uff11.2.3.4/", "https://1\u30022.3.4/"}),
	"F9":  reports(urlcore.CodeIPv4TooManyParts, []string{"https://1.2.3.4.5/", "https://1.2.3.4.5./"}, nil),
	"F10": reports(urlcore.CodeIPv4NonNumericPart, []string{"https://test.42/", "https://1..2/", "https://a.0x/", "https://09/"}, nil),
	"F11": reports(urlcore.CodeIPv4NonDecimalPart, nil, []string{"https://0x7f.0.0.1/", "https://010.0.0.1/", "https://1.2.3.0X4/"}),
	"F12": reports(urlcore.CodeIPv4OutOfRangePart, []string{"https://256.2.3.4/", "https://1.2.3.256/", "https://4294967296/"}, []string{"https://1.2.256/", "https://4294967295/"}),
	"F13": reports(urlcore.CodeIPv6Unclosed, []string{"https://[::1/", "x://[::1"}, nil),
	"F14": reports(urlcore.CodeIPv6InvalidCompression, []string{"https://[:1]/", "https://[:]/"}, nil),
	"F15": reports(urlcore.CodeIPv6TooManyPieces, []string{"https://[1:2:3:4:5:6:7:8:9]/", "https://[1:2:3:4:5:6:7:8::]/"}, nil),
	"F16": reports(urlcore.CodeIPv6MultipleCompression, []string{"https://[1::2::3]/"}, nil),
	"F17": reports(urlcore.CodeIPv6InvalidCodePoint, []string{"https://[1:2:3:g]/", "https://[1:2:3:4:5:6:7:]/", "https://[12345::]/", "https://[::1%25]/"}, nil),
	"F18": reports(urlcore.CodeIPv6TooFewPieces, []string{"https://[1:2:3]/", "https://[1]/", "https://[]/"}, nil),
	"F19": reports(urlcore.CodeIPv6PieceLeadingZero, nil, []string{"https://[::01]/", "https://[0001::]/", "x://[00::]/"}),
	"F20": reports(urlcore.CodeIPv4InIPv6TooManyPieces, []string{"https://[1:1:1:1:1:1:1:127.0.0.1]/"}, nil),
	"F21": reports(urlcore.CodeIPv4InIPv6InvalidCodePoint, []string{"https://[::1..2.3]/", "https://[::1.2.x.4]/", "https://[::1.02.3.4]/", "https://[::1.2.3.4.5]/"}, nil),
	"F22": reports(urlcore.CodeIPv4InIPv6OutOfRangePart, []string{"https://[::1.2.3.256]/", "https://[::1.999.3.4]/"}, nil),
	"F23": reports(urlcore.CodeIPv4InIPv6TooFewParts, []string{"https://[::1.2.3]/", "https://[::1.2]/"}, nil),
	"F24": reports(urlcore.CodeInvalidURLUnit, nil, []string{
		"https://h/a b", "https://h/%zz", "https://h/%", " https://h/", "https://h/\t", "https://h/?<", "https://h/#`", "x:a b", "x://a%zz/", "x://a\"/", "https://h/\ufdd0", "https://h/\U0001ffff", "https://h/[",
	}),
	"F25": reports(urlcore.CodeSpecialSchemeMissingFollowingSolidus, nil, []string{"https:h", "https:/h", "https:///h", "file:x", "file:/x", "https:h against https://i/"}),
	"F26": reports(urlcore.CodeMissingSchemeNonRelativeURL, []string{"/x", "", "//h", "x against mailto:a", "?q against mailto:a"}, nil),
	"F27": reports(urlcore.CodeInvalidReverseSolidus, nil, []string{"https://h\\a", "\\a against https://h/", "file:\\\\h", "https://h/a\\b"}),
	"F28": reports(urlcore.CodeInvalidCredentials, nil, []string{"https://u@h/", "https://u:p@h/", "x://@h/", "ftp://a@b@h/"}),
	"F29": reports(urlcore.CodeHostMissing, []string{"https://", "https://#f", "https://:1/", "https://u@/", "x://u@/", "x://:1/"}, nil),
	"F30": reports(urlcore.CodePortOutOfRange, []string{"https://h:65536/", "x://h:99999999999999/"}, nil),
	"F31": reports(urlcore.CodePortInvalid, []string{"https://h:8a/", "https://h:x/", "https://h:-1/", "x://h:+1/"}, nil),
	"F32": reports(urlcore.CodeFileInvalidWindowsDriveLetter, nil, []string{"C|/x against file:///D:/", "C| against file:///", "C|?q against file://h/"}),
	"F33": reports(urlcore.CodeFileInvalidWindowsDriveLetterHost, nil, []string{"file://C:/x", "file://c|"}),
	"G1": func(t *testing.T) {
		for text, want := range map[string]bool{
			"https://example.org/": true, "https://example.org": true, "https:example.org": false, "https://example.org/a b": false, "https://u@h/": false,
			"https://ex%41mple/": false, "file://localhost/": true, "file://loc%61lhost/": false, "x:y z": false, "mailto:a@b": true, "//h": false, "": false, "https://a..b/": false,
			"https://h\\": false, "HTTPS://h/": true, "https://1.2.3/": false, "file:///C:/": true, "file://C:/": false,
		} {
			expect(t, text, urlcore.IsValidURLString(text, nil), want)
		}
		base := urlcore.MustParse("https://h/a/b")
		for text, want := range map[string]bool{
			"": true, "c": true, "../c": true, "//i": true, "/c": true, "?q": true, "#f": true, "c:d": true, "a b": false, "\\c": false, "https:c": false, "//": false, ":c": true,
		} {
			expect(t, text+" against a base", urlcore.IsValidURLString(text, base), want)
			names, failure := errorNames(text, base)
			expect(t, text+" without errors", names == "" && failure.OK(), want)
		}
	},
	"G2": func(t *testing.T) {
		https, file, opaque, other := urlcore.MustParse("https://h/a"), urlcore.MustParse("file:///C:/a"), urlcore.MustParse("x:y"), urlcore.MustParse("x://h/a")
		for _, c := range []struct {
			text string
			base *urlcore.URL
			want bool
		}{
			{"https://h?q#f", nil, true},
			{"https://h:/", nil, true},
			{"https://h:65536", nil, false},
			{"https://h:0080", nil, true},
			{"https:///h", nil, false}, // scheme-relative-special
			{"x://h:1/", nil, true},
			{"x://", nil, true},
			{"x:///a", nil, true},
			{"x://a b", nil, false},
			{"x:/a", nil, true},
			{"x:/.//a", nil, true}, // scheme-relative
			{"file:///C:/x", nil, true},
			{"file:///x", nil, true},
			{"file:x", nil, false},
			{"file://h/x", nil, true},
			{"file:///C|/x", nil, false}, // scheme-relative-file
			{"//i/x", https, true},
			{"//i/x", other, true},
			{"//", other, true},
			{"//", https, false},
			{"///x", file, true},
			{"/x", https, true},
			{"/C:/x", file, true},
			{"x/y", https, true},
			{"C:", file, true},
			{"./C:", file, true},
			{"C|", file, false},
			{"#f", opaque, true},
			{"x", opaque, false},
			{"?q", opaque, false},
			{"", opaque, false},
			{"x:a?q#f", nil, true},
			{"x:a<", nil, false},
			{"1x:a", nil, false},
			{"x+.-1:a", nil, true},
			{"x:\u00e9", nil, true},
		} {
			got := urlcore.IsValidURLString(c.text, c.base)
			names, failure := errorNames(c.text, c.base)
			if got != c.want || got != (names == "" && failure.OK()) {
				t.Errorf("%q against %v: %t; errors %q, %v", c.text, c.base, got, names, failure)
			}
		}
	},
	"G3": func(t *testing.T) {
		const valid = "!$&'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"
		for c := rune(0); c < 0x80; c++ {
			if strings.ContainsRune("%#\t\n\r", c) {
				continue // no URL code point, but means something else in a fragment
			}
			text := "https://h/#a" + string(c) + "b"
			expect(t, text, urlcore.IsValidURLString(text, nil), strings.ContainsRune(valid, c))
		}
		for r, want := range map[rune]bool{
			0x80: false, 0x9f: false, 0xa0: true, 0xd7ff: true, 0xe000: true, 0xfdcf: true, 0xfdd0: false, 0xfdef: false, 0xfdf0: true, 0xfffd: true, 0xfffe: false, 0xffff: false,
			0x10000: true, 0x1fffe: false, 0x1ffff: false, 0x10fffd: true, 0x10fffe: false, 0x10ffff: false,
		} {
			text := "https://h/#" + string(r)
			expect(t, text, urlcore.IsValidURLString(text, nil), want)
		}
		for text, want := range map[string]bool{"%00": true, "%fF": true, "%": false, "%4": false, "%4g": false, "%%41": false} {
			expect(t, text, urlcore.IsValidURLString("https://h/"+text, nil), want)
		}
	},
}
