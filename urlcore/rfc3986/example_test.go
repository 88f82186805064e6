package rfc3986_test

import (
	"fmt"

	"github.com/urlmill/urlmill/urlcore/rfc3986"
)

func ExampleSplit() {
	r := rfc3986.Split("foo://example.com:8042/over/there?name=ferret")
	fmt.Println(r.Scheme, r.Authority, r.Path, r.Query, r.HasFragment)
	r = rfc3986.Split("any text at all?")
	fmt.Printf("%q %v %v\n", r.Path, r.HasQuery, r.HasScheme)
	// Output:
	// foo example.com:8042 /over/there name=ferret false
	// "any text at all" true false
}

func ExampleParse() {
	r, err := rfc3986.Parse("urn:isbn:9780307476463")
	fmt.Println(r.Scheme, r.Path, err)
	_, err = rfc3986.Parse("http://example.com/a b")
	fmt.Println(err)
	// Output:
	// urn isbn:9780307476463 <nil>
	// rfc3986: character not allowed in a path at position 20
}

func ExampleParseAuthority() {
	a, err := rfc3986.ParseAuthority("user@[2001:db8::1]:8080")
	fmt.Println(a.Userinfo, a.Host, a.Kind, a.Port, err)
	_, err = rfc3986.ParseAuthority("example.com:80a")
	fmt.Println(err)
	// Output:
	// user [2001:db8::1] IPv6address 8080 <nil>
	// rfc3986: character not allowed in a port at position 14
}

func ExampleProduction_Match() {
	fmt.Println(rfc3986.URI.Match("http://example.com/"), rfc3986.URI.Match("//example.com/"))
	fmt.Println(rfc3986.IPv6Address.Match("::ffff:192.0.2.1"), rfc3986.IPv6Address.Match("1::2::3"))
	// Output:
	// true false
	// true false
}

func ExampleProductions() {
	for _, p := range rfc3986.Productions() {
		if p.Match("::1") {
			fmt.Println(p)
		}
	}
	// Output:
	// hier-part
	// userinfo
	// IPv6address
	// path
	// path-rootless
	// segment
	// segment-nz
	// query
	// fragment
}

func ExampleRef_String() {
	r := rfc3986.Split("http://example.com/a?b#c")
	r.Query, r.HasFragment = "x=y", false
	fmt.Println(r)
	// Output: http://example.com/a?x=y
}

func ExampleRef_Extension() {
	r := rfc3986.Split("https://example.com/files/archive.tar.gz?download")
	fmt.Println(r.FileName(), r.Extension())
	// Output: archive.tar.gz gz
}

func ExampleResolveReference() {
	for _, ref := range []string{"g", "../g", "//g", "?y", "http:g", "%2e%2e/g"} {
		target, err := rfc3986.ResolveReference("http://a/b/c/d;p?q", ref)
		fmt.Println(target, err)
	}
	_, err := rfc3986.ResolveReference("/no/scheme", "g")
	fmt.Println(err)
	// Output:
	// http://a/b/c/g <nil>
	// http://a/b/g <nil>
	// http://g <nil>
	// http://a/b/c/d;p?y <nil>
	// http:g <nil>
	// http://a/b/c/%2e%2e/g <nil>
	// rfc3986: base without a scheme at position 0
}

func ExampleResolve() {
	base, ref := rfc3986.Split("http://a/b/c"), rfc3986.Split("http:g")
	for _, mode := range []rfc3986.Mode{rfc3986.Strict, rfc3986.NonStrict} {
		target, err := rfc3986.Resolve(base, ref, mode)
		fmt.Println(target, err)
	}
	// Output:
	// http:g <nil>
	// http://a/b/g <nil>
}

func ExampleRemoveDotSegments() {
	fmt.Println(rfc3986.RemoveDotSegments("/a/b/c/./../../g"))
	// Output: /a/g
}
