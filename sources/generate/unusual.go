package generate

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unusual are the classes of URLs that parse, with something about them that a reader of URLs has to get right.
var unusual = []class{
	{name: "escapes", clicks: 6, crawls: 2, write: (*model).escapes},
	{name: "plus-in-query", clicks: 4, crawls: 0.4, write: (*model).plus},
	{name: "repeated-parameters", clicks: 1.2, crawls: 0.1, write: (*model).repeated},
	{name: "non-ascii-path", clicks: 0.5, crawls: 0.2, write: (*model).nonASCII},
	{name: "idn-unicode", clicks: 0.2, crawls: 0.1, write: func(m *model, dst []byte, r *rng, n uint64) []byte {
		return m.behind(add(dst, "https://", pick(r, m.idns).unicode), r, n)
	}},
	{name: "idn-punycode", clicks: 0.4, crawls: 0.4, write: func(m *model, dst []byte, r *rng, n uint64) []byte {
		return m.behind(add(dst, "https://", pick(r, m.idns).ascii), r, n)
	}},
	{name: "port", clicks: 0.5, crawls: 0.3, write: func(m *model, dst []byte, r *rng, n uint64) []byte {
		dst = add(dst, "http://", m.hosts.draw(r), ":")
		return m.behind(strconv.AppendInt(dst, int64(pick(r, []int{8080, 8443, 80, 443, 3000, 9200, 65535, 0, 81})), 10), r, n)
	}},
	{name: "credentials", clicks: 0.03, crawls: 0.02, write: func(m *model, dst []byte, r *rng, n uint64) []byte {
		dst = add(dst, "https://", pick(r, words))
		dst = append(dst, pick(r, []string{"@", ":secret@", ":p%40ss@", ":@", ":a:b@", ":x@y@"})...)
		return m.behind(append(dst, m.hosts.draw(r)...), r, n)
	}},
	{name: "ipv4", clicks: 0.3, crawls: 0.2, write: func(m *model, dst []byte, r *rng, n uint64) []byte {
		return m.behind(appendIPv4(append(dst, "http://"...), r), r, n)
	}},
	{name: "ipv4-unusual", clicks: 0.02, crawls: 0.01, write: hostOf("http://")("0x7f.1", "2130706433", "0300.0250.0.1", "192.168.257", "10.0.0.1.", "0xC0A80001", "１２７.0.0.1", "0x.0x.0")},
	{name: "ipv6", clicks: 0.03, crawls: 0.01, write: (*model).ipv6},
	{name: "uppercase-host", clicks: 0.4, crawls: 0.3, write: func(m *model, dst []byte, r *rng, n uint64) []byte {
		return m.appendPage(dst, r, n, upperHost)
	}},
	{name: "uppercase-scheme", clicks: 0.1, crawls: 0.1, write: func(m *model, dst []byte, r *rng, n uint64) []byte {
		start := len(dst)
		dst = m.appendPage(dst, r, n, 0)
		copy(dst[start:], pick(r, []string{"HTTP", "Http", "hTTP"}))
		return dst
	}},
	{name: "dot-segments", clicks: 0.3, crawls: 0.3, write: onHost("https://")("/.", "/a/..", "/a/b/../..", "/%2e%2E", "/../..", "/./.", "/a/.%2e/b")},
	{name: "double-slashes", clicks: 0.2, crawls: 0.2, write: onHost("https://")("/")},
	{name: "backslashes", clicks: 0.05, crawls: 0.02, write: func(m *model, dst []byte, r *rng, n uint64) []byte {
		dst = add(dst, pick(r, []string{`https:\\`, `http:/\`, `https://`}), m.hosts.draw(r))
		return m.behind(add(dst, `\`, pick(r, words)), r, n)
	}},
	{name: "slashes-missing", clicks: 0.02, crawls: 0.02, write: onHost("https:///", "http:////")("")},
	{name: "whitespace", clicks: 0.15, crawls: 0.1, write: (*model).whitespace},
	{name: "trailing-dot-host", clicks: 0.02, crawls: 0.02, write: onHost("https://")(".")},
	{name: "escaped-host", clicks: 0.01, crawls: 0.01, write: func(m *model, dst []byte, r *rng, n uint64) []byte {
		host := m.hosts.draw(r)
		dst = append(append(dst, "https://%"...), hexDigits[host[0]>>4], hexDigits[host[0]&15])
		return m.behind(append(dst, host[1:]...), r, n)
	}},
	{name: "odd-host", clicks: 0.02, crawls: 0.01, write: hostOf("http://")("localhost", "under_score.example.com", "a--b.example", "-dash-.example", "a..example.com", "intranet", "xn--a.example", "☕.example", "example", "1.2.3.4.example")},
	{name: "stray-percent", clicks: 0.1, crawls: 0.05, write: pageAnd("%", "%zz", "%4", "%u0041", "%%41")},
	{name: "unencoded-marks", clicks: 0.3, crawls: 0.1, write: pageAnd("[a]", "{id}", "|", "^x", `"q"`, "<b>", "`", "a b", "'s", "?x?y", "##")},
	{name: "invalid-utf8", clicks: 0.05, crawls: 0.05, write: pageAnd("\xff", "caf\xe9", "\xf0\x9f", "\xed\xa0\x80", "\xc0\xaf")},
	{name: "control-characters", clicks: 0.02, crawls: 0.01, write: pageAnd("\x00x", "\x01x", "\x1fx", "\x7fx", "\u0085x")},
	{name: "long", clicks: 0.02, crawls: 0.005, write: func(m *model, dst []byte, r *rng, n uint64) []byte {
		dst = append(m.appendPage(dst, r, n, 0), '?')
		for length := 1 << r.between(10, 14); length > 0; length -= 64 {
			dst = appendChars(append(append(dst, "&state="...), hexDigits[r.below(16)]), r, idAlphabet, 56)
		}
		return dst
	}},
	{name: "very-long", clicks: 0.0001, crawls: 0.0001, write: func(m *model, dst []byte, r *rng, n uint64) []byte {
		return appendChars(append(m.appendPage(dst, r, n, 0), "?blob="...), r, idAlphabet, 1<<r.between(16, 20))
	}},
	{name: "file", chance: true, clicks: 0.1, crawls: 0.01, write: func(m *model, dst []byte, r *rng, _ uint64) []byte {
		dst = append(dst, pick(r, []string{"file:///home/", "file:///C:/Users/", "file:///C|/", "file://D:/", "file:/tmp/", "file://localhost/srv/", "file://server/share/", `file:\\host\`})...)
		return append(appendSlug(dst, r, 2), ".html"...)
	}},
	{name: "data", chance: true, clicks: 0.1, crawls: 0.01, write: func(_ *model, dst []byte, r *rng, _ uint64) []byte {
		if r.percent(60) {
			return appendChars(append(dst, "data:image/png;base64,"...), r, idAlphabet[:62], r.between(40, 200))
		}
		return appendSlug(append(dst, "data:text/html,<h1>"...), r, 3)
	}},
	{name: "mailto", chance: true, clicks: 0.05, crawls: 0.01, write: func(m *model, dst []byte, r *rng, _ uint64) []byte {
		dst = add(dst, "mailto:", pick(r, words), "@")
		return add(dst, m.hosts.draw(r), "?subject=", pick(r, words))
	}},
	{name: "blob", chance: true, clicks: 0.05, write: func(m *model, dst []byte, r *rng, _ uint64) []byte {
		dst = add(dst, "blob:https://", m.hosts.draw(r), "/")
		return appendUUID(dst, r)
	}},
	{name: "websocket", clicks: 0.05, write: onHost("wss://", "ws://")("")},
	{name: "ftp", clicks: 0.02, crawls: 0.05, write: onHost("ftp://ftp.")("")},
	{name: "app-scheme", chance: true, clicks: 0.2, write: func(_ *model, dst []byte, r *rng, _ uint64) []byte {
		dst = append(dst, pick(r, []string{"android-app://com.example.", "myapp://open/", "intent://scan/#Intent;scheme=", "chrome-extension://", "app+v2.x://"})...)
		return add(dst, pick(r, words), "/", pick(r, words))
	}},
	{name: "opaque", chance: true, clicks: 0.1, crawls: 0.02, write: func(_ *model, dst []byte, r *rng, _ uint64) []byte {
		return append(dst, pick(r, []string{
			"about:blank", "about:srcdoc", "javascript:void(0)", "javascript:alert('hi there')", "tel:+44-20-7946-0000", "sms:12345?body=a b",
			"urn:isbn:0451450523", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "view-source:https://example.com/", "magnet:?xt=urn:btih:c12fe1", "data:,",
		})...)
	}},
}

// onHost returns what makes a writer of URLs of the hosts, from what may stand before a host and what may stand behind it,
// before the path of a page.
func onHost(before ...string) func(behind ...string) writer {
	return func(behind ...string) writer {
		return func(m *model, dst []byte, r *rng, n uint64) []byte {
			dst = add(dst, either(r, before), m.hosts.draw(r))
			return m.behind(append(dst, either(r, behind)...), r, n)
		}
	}
}

// hostOf returns what makes a writer of URLs of the hosts that it is given, from what may stand before one.
func hostOf(before ...string) func(hosts ...string) writer {
	return func(hosts ...string) writer {
		return func(m *model, dst []byte, r *rng, n uint64) []byte {
			return m.behind(add(dst, either(r, before), pick(r, hosts)), r, n)
		}
	}
}

// pageAnd returns a writer of pages with one of the texts behind their URLs.
func pageAnd(texts ...string) writer {
	return func(m *model, dst []byte, r *rng, n uint64) []byte {
		return append(m.appendPage(dst, r, n, 0), pick(r, texts)...)
	}
}

// either is pick that draws nothing where there is no choice.
func either(r *rng, values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return pick(r, values)
}

// behind appends the path and query of a page to a URL that ends with its host.
func (m *model) behind(dst []byte, r *rng, n uint64) []byte {
	if m.crawl {
		dst = add(dst, "/", pick(r, words), "/")
		return append(appendID(dst, n), m.extensions.draw(r)...)
	}
	return m.appendQuery(m.appendPath(dst, r), r, 0)
}

// escapes puts a phrase of some language, percent-encoded, into the path or the query, in upper or lower case.
func (m *model) escapes(dst []byte, r *rng, n uint64) []byte {
	dst = add(dst, "https://", m.hosts.draw(r))
	if r.percent(60) {
		dst = add(dst, "/", m.sections.draw(r), "/")
		dst = appendEscaped(dst, pick(r, phrases), "%20", r)
	} else {
		dst = append(m.behind(dst, r, n), pick(r, []string{"&q=", "&title=", "&url=https%3A%2F%2Fexample.com%2F&t="})...)
		dst = appendEscaped(dst, pick(r, phrases), "%20", r)
	}
	if m.crawl {
		dst = appendID(append(dst, '-'), n)
	}
	return dst
}

// plus writes a search whose words are joined by plus signs.
func (m *model) plus(dst []byte, r *rng, n uint64) []byte {
	dst = add(dst, "https://", m.hosts.draw(r), pick(r, []string{"/search?q=", "/s?k=", "/?s=", "/find?page=2&query="}))
	if r.percent(20) {
		dst = appendEscaped(dst, pick(r, phrases), "+", r)
	} else {
		for range r.between(1, 4) {
			dst = add(dst, pick(r, words), "+")
		}
		dst = append(dst, pick(r, words)...)
	}
	if m.crawl {
		dst = appendID(append(dst, "&id="...), n)
	}
	return dst
}

// repeated gives a parameter several values, some of them the same, some of them empty, some names without any.
func (m *model) repeated(dst []byte, r *rng, n uint64) []byte {
	dst = add(dst, "https://", m.hosts.draw(r), "/filter?")
	name := pick(r, []string{"color", "size[]", "f", "facet", "a.b"})
	for range r.between(2, 6) {
		dst = add(dst, name, "=", pick(r, words), "&")
	}
	dst = add(dst, name, pick(r, []string{"=", "", "=&", "&&x", "=%26=="}))
	if m.crawl {
		dst = appendID(append(dst, "&id="...), n)
	}
	return dst
}

// nonASCII puts characters into the path and the query as they are.
func (m *model) nonASCII(dst []byte, r *rng, n uint64) []byte {
	dst = add(dst, "https://", m.hosts.draw(r), "/")
	dst = append(dst, strings.ReplaceAll(pick(r, phrases), " ", "_")...)
	if m.crawl {
		return appendID(append(dst, '-'), n)
	}
	return add(dst, "?q=", strings.ReplaceAll(pick(r, phrases), " ", "+"))
}

// whitespace puts blanks before and after the URL and tabs into it; in records also line ends.
func (m *model) whitespace(dst []byte, r *rng, n uint64) []byte {
	dst = append(dst, pick(r, []string{" ", "", "\t", "  "})...)
	dst = m.appendPage(dst, r, n, 0)
	dst = append(dst, pick(r, []string{"", "\t/x", "\x0b", "/\t"})...)
	if !m.lines {
		dst = append(dst, pick(r, []string{"", "\n", "\r\n", "a\nb"})...)
	}
	return append(dst, pick(r, []string{" ", "   ", "\t "})...)
}

func (m *model) ipv6(dst []byte, r *rng, n uint64) []byte {
	dst = append(dst, "http://["...)
	switch r.below(5) {
	case 0:
		dst = append(dst, "::1"...)
	case 1:
		dst = appendIPv4(append(dst, "::ffff:"...), r)
	case 2:
		dst = append(dst, "2001:0DB8:0:0::00"...)
		dst = strconv.AppendInt(dst, int64(r.below(100)), 16)
	default:
		dst = append(dst, "2001:db8"...)
		for range 6 {
			dst = strconv.AppendInt(append(dst, ':'), int64(r.below(1<<16)), 16)
		}
	}
	return m.behind(append(dst, ']'), r, n)
}

func appendIPv4(dst []byte, r *rng) []byte {
	for i := range 4 {
		if i > 0 {
			dst = append(dst, '.')
		}
		dst = strconv.AppendInt(dst, int64(r.below(256)), 10)
	}
	return dst
}

func appendUUID(dst []byte, r *rng) []byte {
	for i, n := range [...]int{8, 4, 4, 4, 12} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = appendChars(dst, r, hexDigits, n)
	}
	return dst
}

// appendEscaped appends s percent-encoded, ASCII letters and digits as they are, in upper case mostly.
func appendEscaped(dst []byte, s, space string, r *rng) []byte {
	digits := "0123456789ABCDEF"
	if r.percent(20) {
		digits = hexDigits
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ':
			dst = append(dst, space...)
		case c < utf8.RuneSelf && c != '&' && c != '+' && c != '%' && c != '/':
			dst = append(dst, c)
		default:
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		}
	}
	return dst
}
