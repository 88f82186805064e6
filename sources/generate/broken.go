package generate

import "strconv"

// broken are the classes of URLs that do not parse, at least one for every error of the URL Standard (section 1.1,
// "validation errors", those with failure) that ends parsing, and under each the forms that logs have of it.
var broken = []class{
	{name: "no-scheme", code: "missing-scheme-non-relative-URL", clicks: 0.34, crawls: 0.08, write: (*model).noScheme},
	{name: "empty", code: "missing-scheme-non-relative-URL", clicks: 0.08, crawls: 0.02, write: func(_ *model, dst []byte, _ *rng, _ uint64) []byte {
		return dst
	}},
	{name: "no-host", code: "host-missing", clicks: 0.1, crawls: 0.02, write: func(_ *model, dst []byte, r *rng, _ uint64) []byte {
		dst = append(dst, pick(r, []string{"https://", "http://"})...)
		return append(dst, pick(r, []string{"", "", "?q=1", "#top", ":8080/", "user@/", "/", "@", ":@"})...)
	}},
	{name: "host-with-space", code: "domain-to-ASCII", clicks: 0.06, crawls: 0.02, write: brokenHost("www. shop.com", "my site.com", "a%20b.org", "exam ple.co.uk")},
	{name: "host-placeholder", code: "domain-to-ASCII", clicks: 0.1, crawls: 0.01, write: brokenHost("{{ host }}", "%HOST%", "<domain>", "%%domain%%", "%7Bhost%7D^", "a|b.com")},
	{name: "host-not-unicode", code: "domain-to-ASCII", clicks: 0.02, crawls: 0.01, write: brokenHost("ex\xffample.com", "caf\xe9.fr", "\xf0\x9f\x98.com", "%ff.com")},
	{name: "host-control-characters", code: "domain-to-ASCII", clicks: 0.02, crawls: 0.01, write: brokenHost("exam\x00ple.com", "a\x1fb.de", "a\x7fb.de", "%00.com")},
	{name: "host-not-a-domain", code: "domain-to-ASCII", clicks: 0.02, crawls: 0.02, write: brokenHost("\u00ad", "a\u2100b.com", "％００.com", "\u200b\u2060", "xn--ü.com")},
	{name: "opaque-host", code: "host-invalid-code-point", clicks: 0.03, crawls: 0.01, write: hostOf("myapp://")("my host", "a<b", "a^b", "a\x00b", "a|b")},
	{name: "port-too-large", code: "port-out-of-range", clicks: 0.03, crawls: 0.02, write: func(m *model, dst []byte, r *rng, n uint64) []byte {
		dst = add(dst, "http://", m.hosts.draw(r), ":")
		return m.behind(strconv.AppendInt(dst, int64(r.between(65536, 9999999)), 10), r, n)
	}},
	{name: "port-not-a-number", code: "port-invalid", clicks: 0.08, crawls: 0.03, write: onHost("https://")(":80a", ":-1", ":PORT", ":80:80", ": 80", ":8０", ":undefined")},
	{name: "ipv4-too-many-parts", code: "IPv4-too-many-parts", clicks: 0.01, crawls: 0.01, write: brokenHost("1.2.3.4.5", "192.168.0.1.80", "10.0.0.0.0.1.")},
	{name: "ipv4-non-numeric-part", code: "IPv4-non-numeric-part", clicks: 0.01, crawls: 0.01, write: brokenHost("version.2", "10.0.0y.1", "1.2..4", "09.1.2.3", "file.name.1")},
	{name: "ipv4-out-of-range-part", code: "IPv4-out-of-range-part", clicks: 0.01, crawls: 0.01, write: brokenHost("300.1.2.3", "1.2.3.256", "4294967296", "256.256.256.256", "1.2.65536")},
	{name: "ipv6-unclosed", code: "IPv6-unclosed", clicks: 0.01, crawls: 0.005, write: brokenHost("[2001:db8::1", "[::1", "[")},
	{name: "ipv6-invalid-compression", code: "IPv6-invalid-compression", clicks: 0.005, crawls: 0.002, write: brokenHost("[:1]", "[:1:2:3:4:5:6:7]")},
	{name: "ipv6-too-many-pieces", code: "IPv6-too-many-pieces", clicks: 0.005, crawls: 0.002, write: brokenHost("[1:2:3:4:5:6:7:8:9]", "[2001:db8:0:0:0:0:0:0:1]")},
	{name: "ipv6-multiple-compression", code: "IPv6-multiple-compression", clicks: 0.005, crawls: 0.002, write: brokenHost("[1::2::3]", "[::1::]")},
	{name: "ipv6-invalid-code-point", code: "IPv6-invalid-code-point", clicks: 0.01, crawls: 0.005, write: brokenHost("[fe80::1%25eth0]", "[fe80::g]", "[1:2:3:]", "[www.example.com]", "[12345::]")},
	{name: "ipv6-too-few-pieces", code: "IPv6-too-few-pieces", clicks: 0.005, crawls: 0.002, write: brokenHost("[1:2:3]", "[1:2:3:4:5:6:7]")},
	{name: "ipv4-in-ipv6-too-many-pieces", code: "IPv4-in-IPv6-too-many-pieces", clicks: 0.005, crawls: 0.002, write: brokenHost("[1:1:1:1:1:1:1:127.0.0.1]")},
	{name: "ipv4-in-ipv6-invalid-code-point", code: "IPv4-in-IPv6-invalid-code-point", clicks: 0.005, crawls: 0.002, write: brokenHost("[ffff::127.0.0.x]", "[::1.2.3.04]", "[::1..2.3]")},
	{name: "ipv4-in-ipv6-out-of-range-part", code: "IPv4-in-IPv6-out-of-range-part", clicks: 0.005, crawls: 0.002, write: brokenHost("[::ffff:999.0.0.1]", "[::1.2.3.256]")},
	{name: "ipv4-in-ipv6-too-few-parts", code: "IPv4-in-IPv6-too-few-parts", clicks: 0.005, crawls: 0.002, write: brokenHost("[::ffff:127.0.0]", "[::1.2]")},
}

// brokenHost returns the writer of http URLs whose host is one of these.
var brokenHost = hostOf("https://", "http://")

// noScheme writes what logs have in place of an absolute URL: a host alone, a path alone, and the words for nothing
// of several programming languages.
func (m *model) noScheme(dst []byte, r *rng, n uint64) []byte {
	switch r.below(6) {
	case 0:
		return m.behind(append(dst, m.hosts.draw(r)...), r, n)
	case 1:
		return m.behind(dst, r, n)
	case 2:
		return m.behind(add(dst, "//", m.hosts.draw(r)), r, n)
	case 3:
		return add(dst, "://", m.hosts.draw(r))
	}
	return append(dst, pick(r, []string{"undefined", "null", "-", "NaN", "None", "(not set)", "[object Object]", "#", "?", "\\N", "N/A"})...)
}
