package psl

import (
	"testing"

	"golang.org/x/net/publicsuffix"
)

// benchHosts are of the kinds that a log of web requests has.
var benchHosts = []string{
	"example.com", "www.example.com", "en.wikipedia.org", "www.google.co.uk", "cdn.jsdelivr.net", "github.com",
	"alice.github.io", "static.xx.fbcdn.net", "a.b.c.d.example.de", "www.city.kobe.jp", "news.ycombinator.com",
	"my-very-long-subdomain-name.shop.example.com.br", "d111111abcdef8.cloudfront.net", "s3.eu-west-1.amazonaws.com",
	"xn--85x722f.xn--55qx5d.cn", "localhost",
}

func BenchmarkLookup(b *testing.B) {
	hosts := make([][]byte, len(benchHosts))
	for i, h := range benchHosts {
		hosts[i] = []byte(h)
	}
	l := Embedded()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l.Lookup(hosts[i&15])
	}
}

func BenchmarkLookupXNet(b *testing.B) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_, _ = publicsuffix.EffectiveTLDPlusOne(benchHosts[i&15])
	}
}

// BenchmarkBuild is what the first lookup of a process costs, and a reload.
func BenchmarkBuild(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse(embeddedText); err != nil {
			b.Fatal(err)
		}
	}
}
