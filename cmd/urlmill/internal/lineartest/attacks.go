package main

import (
	"fmt"
	"strings"
)

// attack returns a text of about n bytes that a careless operation needs far more than n steps for.
type attack func(n int) string

// repeat is an attack of a piece that comes again and again, between two others.
func repeat(before, piece, after string) attack {
	return func(n int) string { return before + strings.Repeat(piece, max(1, n/len(piece))) + after }
}

// distinct is an attack of CJK characters of which no two are the same, as far as there are so many.
func distinct(before, after string) attack {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(before)
		for i := range n / 3 {
			b.WriteRune(rune(0x4e00 + i*7%20000))
		}
		return b.String() + after
	}
}

// numbered is an attack of pieces with a number in them.
func numbered(before, format, after string) attack {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(before)
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, format, i*7919%1000003)
		}
		return b.String() + after
	}
}

// urls are attacks on URLs and their parts.
var urls = map[string]attack{
	"clean path": repeat("https://h.com/", "abcdefg/", ""), "up": repeat("https://h.com/", "../", ""),
	"in and out": repeat("https://h.com/", "a/../", ""), "escaped dots": repeat("https://h.com/", "a/%2e%2E/", ""),
	"down and up": func(n int) string {
		return "https://h.com/" + strings.Repeat("a/", n/5) + strings.Repeat("../", n/5)
	},
	"drive letter": repeat("file:///C:/", "a/../", ""), "segments": repeat("https://h.com", "/", ""), "backslashes": repeat("https://h.com/", "\\", ""),
	"pairs": repeat("https://h.com/?", "a=b&", ""), "empty pairs": repeat("https://h.com/?", "&", ""), "names": numbered("https://h.com/?", "k%d=1&", ""),
	"escaped": repeat("https://h.com/?a=", "%41", ""), "ill-formed when decoded": repeat("https://h.com/?", "a=%ff&", ""), "equals": repeat("https://h.com/?", "=", ""),
	"digits": repeat("https://h.com/?a=", "1", ""), "tokens": repeat("https://h.com/?a=", "eyJ.", ""), "bearers": repeat("https://h.com/?a=", "bearer+", ""), "tracking": repeat("https://h.com/?", "utm_source=a&", ""), "session": repeat("https://h.com/?", "cfid=1&cftoken=", ""),
	"path session": repeat("https://h.com/", ";jsessionid=", ""), "cookieless": repeat("https://h.com/", "(s(abcdefghij0123456789abcd))/", "x.aspx"),
	"parentheses": repeat("https://h.com/", "(a(", ".aspx"), "index": repeat("https://h.com", "/index.html", ""), "www": repeat("https://", "www.", "a.com/"),
	"dots": repeat("https://", ".", "/"), "labels": repeat("https://", "a.", "com/"), "A-labels": repeat("https://", "xn--a.", "com/"),
	"A-label": repeat("https://xn--", "a", "/"), "A-label of digits": repeat("https://xn--", "9", ".\u00e9/"), "good A-labels": repeat("https://", "xn--9ca.", "\u00e9/"),
	"IDN": repeat("https://", "\u4e2d\u6587", "/"), "distinct IDN": distinct("https://", "/"), "IDN labels": repeat("https://", "\u00e9.", "com/"),
	"soft hyphens": repeat("https://", "\u00ad", "a/"), "marks": repeat("https://a", "\u0301", "/"), "marks out of order": repeat("https://a", "\u0301\u0323", "/"),
	"joiners": repeat("https://", "\u0915\u094d\u200d", "/"), "non-joiners": repeat("https://", "\u0628\u200c", "/"), "long mapping": repeat("https://", "\ufdfa", "/"),
	"right to left": repeat("https://", "\u05d0", "/"), "hyphens": repeat("https://\u00e9", "--", "/"), "escaped host": repeat("https://", "%C3%A9", "/"),
	"at": repeat("https://", "@", "h/"), "credentials": repeat("https://", "a:b@", "h/"), "port": repeat("https://h:", "9", ""), "zeros": repeat("https://h:", "0", "1/"),
	"IPv4": repeat("https://", "1.", "/"), "IPv4 of digits": repeat("https://", "9", "/"), "hex": repeat("https://0x", "f", "/"), "IPv6": repeat("https://[", "0:", "]/"),
	"brackets": repeat("https://", "[", "/"), "percents": repeat("https://h.com/", "%", ""), "percents escaped": repeat("https://h.com/", "%25", "41"),
	"tabs": repeat("https://h.com/", "a\t", ""), "ill-formed": repeat("https://h.com/", "\xff", ""), "half characters": repeat("https://h.com/", "\xf0\x9f", ""),
	"opaque spaces": repeat("data:", " ", "#"), "white space": repeat("", " ", "https://h/"), "scheme": repeat("", "a", ""), "hashes": repeat("https://h/#", "`#", ""),
}

// objects are attacks on a line of JSON.
var objects = map[string]attack{
	"deep objects": func(n int) string { return strings.Repeat(`{"a":`, n/6) + "1" + strings.Repeat("}", n/6) },
	"deep arrays":  func(n int) string { return `{"a":` + strings.Repeat("[", n/2) + "1" + strings.Repeat("]", n/2) + "}" },
	"open objects": repeat("", `{"a":`, ""), "open arrays": repeat(`{"a":`, "[", ""),
	"nested": func(n int) string {
		return `{"a":{"` + strings.Repeat("b", n/2) + `":{` + strings.TrimSuffix(numbered("", `"%d":1,`, "")(min(n/2, 60_000)), ",") + "}}}"
	},
	"long string": repeat(`{"url":"`, "a", `"}`), "escapes": repeat(`{"url":"`, `\u0041`, `"}`), "quotes": repeat(`{"url":"`, `\"`, `"}`), "surrogates": repeat(`{"url":"`, `\ud800`, `"}`),
	"open string": repeat(`{"url":"`, `\\`, ""), "numbers": repeat(`{"a":[`, "1,", `1]}`), "long number": repeat(`{"a":`, "9", "}"), "white space": repeat("{", " ", `"url":1}`),
	"same names": repeat("{", `"url":1,`, `"url":2}`), "structs": repeat(`{"a":[`, `{"b":1},`, `{}]}`),
}

// lines are attacks on delimited lines and access logs.
var lines = map[string]attack{
	"commas": repeat("", ",", ""), "quotes": repeat("", `"`, ""), "quoted": repeat("", `"a",`, "b"), "spaces": repeat("", " ", ""), "escapes": repeat(`h - - [01/Jan/2026:00:00:00 +0000] "GET /`, `\x41`, ` HTTP/1.1" 200 1 "-" "-"`),
	"tabs": repeat("", "\t", ""), "brackets": repeat("", "[", ""), "backslashes": repeat(`"`, `\`, ""), "equals": repeat("", "a=", ""), "digits": repeat("", "9", ""),
}

// metrics are attacks on InfluxDB's line protocol.
var metrics = map[string]attack{
	"line ends in a string": repeat(`m url="`, "\n", `" 1`+"\n"), "line ends in an open string": repeat(`m url="`, "\n", ""), "quotes": repeat("m url=", `"`, "\n"),
	"fields": repeat("m ", "a=1,", "url=\"http://h/\" 1\n"), "tags": repeat("m,", "a=1,", "url=http://h/ a=1 1\n"), "escapes": repeat("m url=\"", `\\`, "\" 1\n"),
	"commas": repeat("m", ",", "\n"), "spaces": repeat("m", " ", "\n"), "equals": repeat("m ", "=", "\n"), "lines": repeat("", "m url=\"http://h/\" 1\n", ""), "comments": repeat("", "#\n", ""),
	"URL": repeat(`m url="http://h/?`, "a=b&", `" 1`+"\n"), "other metrics": repeat("", "m a=\"\n\" 1\n", ""),
}
