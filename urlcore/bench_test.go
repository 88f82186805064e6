package urlcore_test

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

// benchURLs are URLs of the kinds that pages and logs hold.
var benchURLs = map[string]string{
	"plain":       "https://www.example.com/news/2026/07/a-long-headline-that-goes-on.html",
	"query":       "https://shop.example.co.uk/item/48213?utm_source=newsletter&utm_medium=email&ref=home#reviews",
	"port":        "http://localhost:8080/api/v1/users/42",
	"dots":        "https://example.org/a/./b/../c/%2e%2E/d",
	"encoded":     "https://example.org/search results/q?name=J\u00fcrgen Gro\u00df&x=<y>",
	"credentials": "ftp://user:pa%20ss@ftp.example.org/pub/file.tar.gz",
	"ipv4":        "http://192.168.10.1/status?verbose=1",
	"ipv6":        "http://[2001:db8::8a2e:370:7334]:8443/index.html",
	"idn":         "https://b\u00fccher.example/katalog",
	"opaque":      "mailto:someone@example.com?subject=Hello",
	"failure":     "https://exa mple.org/",
}

func BenchmarkParse(b *testing.B) {
	for name, input := range benchURLs {
		b.Run(name, func(b *testing.B) {
			var p urlcore.Parser
			var u urlcore.URL
			in := []byte(input)
			b.ReportAllocs()
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				p.Parse(&u, in, nil)
			}
		})
	}
}

func BenchmarkParseString(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := urlcore.Parse(benchURLs["query"]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	base := urlcore.MustParse(benchURLs["query"])
	var p urlcore.Parser
	var u urlcore.URL
	in := []byte("../images/logo.png?v=3")
	b.ReportAllocs()
	for b.Loop() {
		p.Parse(&u, in, base)
	}
}

func BenchmarkValidationErrors(b *testing.B) {
	p := urlcore.Parser{CollectErrors: true}
	var u urlcore.URL
	in := []byte(benchURLs["encoded"])
	b.ReportAllocs()
	for b.Loop() {
		p.Parse(&u, in, nil)
	}
}

func BenchmarkSetSearch(b *testing.B) {
	u := urlcore.MustParse(benchURLs["query"])
	b.ReportAllocs()
	for b.Loop() {
		u.SetSearch("a=1&b=2")
	}
}

func BenchmarkLongPath(b *testing.B) {
	var p urlcore.Parser
	var u urlcore.URL
	in := []byte("https://example.org/" + strings.Repeat("segment/", 4096))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		p.Parse(&u, in, nil)
	}
}
