package facts

import "strings"

// mark stands for the name of a record in a shape.
const mark = "$"

// Shape is a way that URLs look.
type Shape struct {
	url string
	// What lists and decoders would be asked for, by hand: "" is null.
	domain, suffix string
	// names and values of the query, in turn; nil is no query.
	params []string
	// canonical is the URL's form for finding duplicates, where that is asked for.
	canonical string
	// bytes is whether the URL cannot be had in JSON.
	bytes bool
}

const (
	plain  = 0 // index of the shape of most records
	page   = 1 // of one that has canonical forms
	repeat = 2 // of another one with the same
)

// shapes are all. Every second record is of the first.
var shapes = []Shape{
	{url: "https://c.example/$", domain: "c.example", suffix: "example", canonical: "https://c.example/$"},
	{
		url: "https://c.example/$?b=2&a=1", domain: "c.example", suffix: "example", params: []string{"b", "2", "a", "1"},
		canonical: "https://c.example/$?a=1&b=2",
	},
	{
		url: "https://www.c.example:443/$?a=1&b=2&utm_source=again#top", domain: "c.example", suffix: "example",
		params: []string{"a", "1", "b", "2", "utm_source", "again"}, canonical: "https://c.example/$?a=1&b=2",
	},
	{
		url: "https://shop.example.co.uk/$?q=caf%C3%A9&page=$&q=b+c&empty=&name&=value", domain: "example.co.uk", suffix: "co.uk",
		params: []string{"q", "café", "page", mark, "q", "b c", "empty", "", "name", "", "", "value"},
	},
	{url: "HTTP://USER:secret@Bücher.example:8080/a/../$?x=1#top", domain: "xn--bcher-kva.example", suffix: "example", params: []string{"x", "1"}},
	{
		url: "http://192.0x00.2.1:80/$/é ü/%2e%2E/%zz?ä=ö&%zz=%41%FF#ß$", params: []string{"ä", "ö", "%zz", "A\uFFFD"},
	},
	{url: "https://[2001:DB8:0::1]:8443/$?", params: []string{}},
	{url: "  https:\\\\deep.sub.example.org\\x\\..\\$\t# ", domain: "example.org", suffix: "org"},
	{url: "https://c.example:99999/$", domain: "", suffix: ""},
	{url: "//without.example/$"},
	{url: "https://a<b.example/$"},
	{url: "mailto:$@c.example"},
	{url: "file:///C|/$"},
	{url: "blob:https://c.example:444/$"},
	{url: "https://例え.テスト/$", domain: "xn--r8jz45g.xn--zckzah", suffix: "xn--zckzah"},
	{url: "ftp://f.example.com:2121/$;type=i", domain: "example.com", suffix: "com"},
	{url: "https://www.ck/" + strings.Repeat("long/", 60) + mark, domain: "www.ck", suffix: "ck"},
	{url: "https://c.example/\xff\xfe/$", domain: "c.example", suffix: "example", bytes: true},
	{url: "wss://xn--a.example/$", domain: "xn--a.example", suffix: "example"},
	{url: "", bytes: false},
	{url: "urn:$?a=b&c", params: []string{"a", "b", "c", ""}},
}
