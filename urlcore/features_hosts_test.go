package urlcore_test

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/psl"
)

var hostFeatures = features{
	"C1": func(t *testing.T) {
		for input, want := range map[string]urlcore.HostKind{
			"https://a.b/": urlcore.HostDomain, "https://1.2/": urlcore.HostIPv4, "ws://[::]/": urlcore.HostIPv6,
			"file:///x": urlcore.HostEmpty, "file://a/": urlcore.HostDomain, "x://1.2.3.4/": urlcore.HostOpaque,
			"x://[::]/": urlcore.HostIPv6, "x:///": urlcore.HostEmpty, "x:/y": urlcore.HostNone, "x:y": urlcore.HostNone,
		} {
			expect(t, input, urlcore.MustParse(input).HostKind(), want)
		}
		hrefs("https://", fails, "https:///", fails, "ws://", fails, "file:", "file:///", "x://", "x://")(t)
	},
	"C2": hosts("a.example", "a.example", "a.example.", "a.example.", "A.EXAMPLE.", "a.example.", "a..", "a.."),
	"C3": func(t *testing.T) {
		// Tab and newline cannot reach the host: the parser removes them.
		const inside = "\x00\n\r\t /:#<>?@[\\]^|"
		for c := rune(0); c < 0x80; c++ {
			_, _, err := urlcore.ParseHost("a"+string(c)+"b", true)
			expect(t, "opaque host with "+string(c), err != nil, strings.ContainsRune(inside, c))
		}
	},
	"C4": func(t *testing.T) {
		const inside = "\x00\n\r\t /:#<>?@[\\]^|%\x7f"
		for c := rune(0); c < 0x80; c++ {
			_, _, err := urlcore.ParseHost("a"+percentEncoded(c)+"b", false)
			expect(t, "domain with "+string(c), err != nil, c < ' ' || strings.ContainsRune(inside, c))
		}
		// What the mapping makes counts: full-width signs, a/c, :: and ?.
		hosts("a\uff05b", fails, "a\uff0fb", fails, "\u2100", fails, "\u2a74", fails, "a\uff1fb", fails, "\uff21", "a")(t)
	},
	"C5": all(
		hosts("[::1", fails, "[::1]a", fails, "::1", fails, "[%3A%3A1]", fails, "%5B::1%5D", fails, "%61%2Eb", "a.b",
			"%30%78%37f.1", "127.0.0.1", "%e2%98%83", "xn--n3h", "%ff", fails, "a%", fails, "\uff11\uff12.1", "12.0.0.1"),
		hrefs("x://a%2Eb/", "x://a%2Eb/", "x://[1:0::0:2]/", "x://[1::2]/", "x://%5B1%5D/", "x://%5B1%5D/"),
	),
	"C6": hosts("a..b", "a..b", "\u2603..\u2603", "xn--n3h..xn--n3h", "-a-.\u2603", "-a-.xn--n3h", "a--b.ab--c.\u2603", "a--b.ab--c.xn--n3h",
		"a_b.\u2603", "a_b.xn--n3h", strings.Repeat("a", 70)+".\u2603", strings.Repeat("a", 70)+".xn--n3h", "\u00ad", fails,
		"stra\u00dfe", "xn--strae-oqa"),
	"C7": hosts("EXAMPLE", "example", "xn--", "xn--", "xn--a", "xn--a", "XN--8I7CAA", "xn--8i7caa", "xn--zzzzzzz", "xn--zzzzzzz",
		"a_b-", "a_b-"),
	"C8": func(t *testing.T) {
		for domain, want := range map[string]bool{
			"a.example": true, "a.example.": false, "": false, "-a": false, "a-": false, "ab--c": false, "a_b": false, "xn--a": false,
			"xn--n3h": true, "\u2603": true, strings.Repeat("a", 63): true, strings.Repeat("a", 64): false, "a..b": false,
			strings.Repeat("a.", 126) + "b": true, strings.Repeat("a.", 127) + "b": false,
		} {
			_, err := urlcore.DomainToASCII(domain, true)
			expect(t, "strict "+domain, err == nil, want)
		}
		expect(t, "valid host that is a number", urlcore.IsValidHostString("a.1"), false)
		names, _ := errorNames("https://a_b.example/", nil)
		expect(t, "https://a_b.example/", names, "domain-to-ASCII")
	},
	"C9": hosts("fa\u00df", "xn--fa-hia", "\u03c3\u03c2", "xn--3xab", "\u1e9e", "xn--zca", "a\u3002b", "a.b", "a\uff0eb", "a.b", "a\uff61b", "a.b",
		"a\u00adb", "ab", "\u00ad", fails, "\u0915\u094d\u200d\u0937", "xn--11b2ezcw70k", "\uff21\uff22", "ab", "\u2168", "ix"),
	"C10": hosts("08.\u05d01", fails, "\u2603.\u05d0", fails, "\u05d01.a", "xn--1-zhc.a", "a.\u05d0", "a.xn--4db", "\u05d0a", fails, "a\u05d0", fails,
		"\u05d0\u0661", "xn--4db40a", "\u05d0\u06611", fails, "xn--4db.0.\u05d0", fails),
	"C11": hosts("a\u200db", fails, "a\u200cb", fails, "\u0915\u094d\u200c\u0937", "xn--11b2ezcs70k", "\u0300a", fails, "a\u0300", "xn--0ca", "x.\u0300a", fails),
	"C12": hosts("xn--.\u00df", fails, "xn--a-.\u00df", fails, "xn--a.\u00df", fails, "xn--zca.\u00df", "xn--zca.xn--zca", "xn--xn--a--gua.\u00df", fails,
		"xn---n3h.\u00df", fails),
	"C13": func(t *testing.T) {
		for domain, want := range map[string]string{
			"xn--n3h.example": "\u2603.example", "XN--N3H": "\u2603", "a-.xn--n3h": "a-.\u2603", "a_b.xn--n3h": "a_b.\u2603", "\u2603.xn--n3h": "\u2603.\u2603",
		} {
			got, ok := urlcore.DomainToUnicode(domain, false)
			expect(t, domain, got, want)
			expect(t, domain, ok, true)
		}
		for _, domain := range []string{"xn--n3h.xn--a", "xn--.xn--n3h", "xn--n3h.xn--xn--a--gua"} {
			got, ok := urlcore.DomainToUnicode(domain, false)
			expect(t, domain+", which has an error", got, domain)
			expect(t, domain, ok, false)
		}
	},
	"C14": hosts("1.2.3.4..", "1.2.3.4..", "a.0x.", fails, "a.0x", fails, "a.0xg", "a.0xg", "a.1", fails, "a.09", fails, "1.", "0.0.0.1", "1..", "1..",
		"a.1a", "a.1a", "0X", "0.0.0.0", "a.0XF", fails, "1.a", "1.a"),
	"C15": hosts("1", "0.0.0.1", "1.2", "1.0.0.2", "1.2.3", "1.2.0.3", "1.2.65535", "1.2.255.255", "1.2.65536", fails, "1.16777215", "1.255.255.255",
		"4294967295", "255.255.255.255", "4294967296", fails, "256.1", fails, "1.2.3.4.", "1.2.3.4", "1.2.3.4.5", fails, "1..2", fails,
		"0x"+strings.Repeat("f", 1000), fails, strings.Repeat("0", 1000)+"1", "0.0.0.1"),
	"C16": hosts("0x7F.1", "127.0.0.1", "0X7f.1", "127.0.0.1", "010.1", "8.0.0.1", "0x.1", "0.0.0.1", "00.1", "0.0.0.1", "09", fails, "08.1", fails,
		"-1", "-1", "+1", "+1", "1_0", "1_0", "a.-1", "a.-1", "1e3", "1e3", "0x1g.1", fails),
	"C17": hosts("[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]", "[::]", "[::]", "[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:0]", "[::1.2.3.4]", "[::102:304]",
		"[1:2:3:4:5:6:1.2.3.4]", "[1:2:3:4:5:6:102:304]", "[1:2:3:4:5:6:7:1.2.3.4]", fails, "[::01.2.3.4]", fails, "[::1.2.3]", fails,
		"[::1.2.3.256]", fails, "[12345::]", fails, "[1::2::3]", fails, "[:1]", fails, "[1:]", fails, "[1:2:3:4:5:6:7:8:9]", fails, "[fe80::1%25eth0]", fails,
		"[::1.2.3.4:1]", fails, "[]", fails, "[::g]", fails),
	"C18": hosts("[1::2:3]", "[1::2:3]", "[::1:2]", "[::1:2]", "[1:2::]", "[1:2::]", "[1:2:3::8]", "[1:2:3::8]", "[1:2:3:4:5::8]", "[1:2:3:4:5::8]",
		"[1:2:3:4:5:6::8]", "[1:2:3:4:5:6:0:8]", "[1::4:5:6:7:8]", "[1::4:5:6:7:8]"),
	"C19": hrefs("x://0x7f.1/", "x://0x7f.1/", "x://A.B/", "x://A.B/", "x://\u00e9/", "x://%C3%A9/", "x://a%zz/", "x://a%zz/", "x://a b/", fails,
		"x://a^b/", fails, "x://a|b/", fails, "x://\x7f/", "x://%7F/", "x://a\"'`{}b/", "x://a\"'`{}b/"),
	"C20": hosts("[0:0:1:0:0:0:1:0]", "[0:0:1::1:0]", "[A::00b]", "[a::b]", "[0:0:1:0:0:1:0:0]", "[::1:0:0:1:0:0]", "[::ffff:1.2.3.4]", "[::ffff:102:304]",
		"0xffffffff", "255.255.255.255", "[1:0:2:0:3:0:4:0]", "[1:0:2:0:3:0:4:0]"),
	"C21": hosts("[0:f:0:0:f:f:0:0]", "[0:f::f:f:0:0]", "[0:1:2:3:4:5:6:7]", "[0:1:2:3:4:5:6:7]", "[1:0:0:2:0:0:0:3]", "[1:0:0:2::3]"),
	"C22": func(t *testing.T) {
		same := func(a, b string, want bool) {
			t.Helper()
			expect(t, a+" "+b, urlcore.MustParse(a).HostEqual(urlcore.MustParse(b)), want)
		}
		same("https://a/", "ws://A:1/x", true)
		same("https://a/", "https://a./", false)
		same("https://1.2/", "ws://1.0.0.2/", true)
		same("https://1.0.0.2/", "x://1.0.0.2/", false)
		same("https://[::]/", "x://[0::]/", true)
		same("https://a/", "x://a/", false)
		same("file:///", "x:///", true)
		same("x:///", "x:/", false)
	},
	"C23": func(t *testing.T) {
		useSmallList(t)
		for host, want := range map[string]string{
			"www.a.test": "test", "a.b.co.test": "co.test", "test": "test", "a.test.": "test.", "x.y.wild.test": "y.wild.test", "www.wild.test": "wild.test",
			"1.2.3.4": "", "[::1]": "", "a.unlisted": "unlisted", "u.private.test": "private.test",
		} {
			expect(t, host, urlcore.MustParse("https://"+host+"/").PublicSuffix(), want)
		}
		expect(t, "opaque host", urlcore.MustParse("x://a.test/").PublicSuffix(), "")
		expect(t, "no host", urlcore.MustParse("x:y").PublicSuffix(), "")
	},
	"C24": func(t *testing.T) {
		useSmallList(t)
		for host, want := range map[string]string{
			"www.a.test": "a.test", "a.b.co.test": "b.co.test", "test": "", "co.test": "", "www.a.test.": "a.test.", "z.x.y.wild.test": "x.y.wild.test",
			"y.wild.test": "", "www.wild.test": "www.wild.test", "1.2.3.4": "", "private.test": "", "u.private.test": "u.private.test", "b.a.unlisted": "a.unlisted",
		} {
			expect(t, host, urlcore.MustParse("https://"+host+"/").RegistrableDomain(), want)
		}
	},
	"C25": func(t *testing.T) {
		for host, want := range map[string]bool{
			"a.example": true, "A.example": true, "a.example.": false, "a_b": false, "\u2603": true, "1.2.3.4": true, "1.2.3": false, "01.2.3.4": false, "0x1.2.3.4": false,
			"1.2.3.256": false, "[::1]": true, "[::01]": false, "[::1.2.3.4]": true, "[1]": false, "a.1": false, "": false, "a b": false, "%61": false,
		} {
			expect(t, "valid host string "+host, urlcore.IsValidHostString(host), want)
		}
		for host, want := range map[string]bool{
			"a": true, "A_b": true, "a%20b": true, "a%2": false, "\u00e9": true, "[::1]": true, "[::01]": false, "a b": false, "a^b": false, "a\"b": false, "": false,
		} {
			expect(t, "valid opaque-host string "+host, urlcore.IsValidOpaqueHostString(host), want)
		}
	},
}

// percentEncoded returns the triplet of an ASCII character.
func percentEncoded(c rune) string {
	const digits = "0123456789ABCDEF"
	return "%" + string(digits[c>>4]) + string(digits[c&15])
}

// useSmallList makes a list of made-up suffixes the current one for the test.
func useSmallList(t *testing.T) {
	t.Helper()
	list, err := psl.Parse(strings.NewReader(`// ===BEGIN ICANN DOMAINS===
test
co.test
*.wild.test
!www.wild.test
// ===END ICANN DOMAINS===
// ===BEGIN PRIVATE DOMAINS===
private.test
// ===END PRIVATE DOMAINS===
`))
	if err != nil {
		t.Fatal(err)
	}
	old := psl.Swap(list)
	t.Cleanup(func() { psl.Swap(old) })
}
