package urlcore_test

import (
	"errors"
	"fmt"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/psl"
)

func ExampleParse() {
	u, err := urlcore.Parse("HTTPS://User@B\u00fccher.Example:443/a/../caf\u00e9?q=1#top")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(u.Href())
	fmt.Println(u.Hostname(), u.Pathname(), u.Search(), u.Hash())
	// Output:
	// https://User@xn--bcher-kva.example/caf%C3%A9?q=1#top
	// xn--bcher-kva.example /caf%C3%A9 ?q=1 #top
}

func ExampleParse_error() {
	_, err := urlcore.Parse("https://exa mple.org/")
	var e *urlcore.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code, e.Pos)
	}
	fmt.Println(err)
	// Output:
	// domain-to-ASCII 11
	// urlcore: URL "https://exa mple.org/": domain-to-ASCII at byte 11: the host is not a valid domain name
}

func ExampleParseRef() {
	base := urlcore.MustParse("https://example.org/docs/guide/")
	u, err := urlcore.ParseRef("../img/logo.png?v=2", base)
	fmt.Println(u, err)
	// Output: https://example.org/docs/img/logo.png?v=2 <nil>
}

func ExampleParseWithBase() {
	u, err := urlcore.ParseWithBase("//cdn.example/x.js", "https://example.org/")
	fmt.Println(u, err)
	_, err = urlcore.ParseWithBase("x.js", "example.org")
	fmt.Println(err)
	// Output:
	// https://cdn.example/x.js <nil>
	// urlcore: base URL "example.org": missing-scheme-non-relative-URL at byte 0: there is no scheme, and no base URL to resolve a relative reference against
}

func ExampleMustParse() {
	fmt.Println(urlcore.MustParse("http://0x7F.1/").Hostname())
	// Output: 127.0.0.1
}

func ExampleCanParse() {
	fmt.Println(urlcore.CanParse("mailto:a@b.example"), urlcore.CanParse("example.org"))
	// Output: true false
}

func ExampleCanParseWithBase() {
	fmt.Println(urlcore.CanParseWithBase("x", "https://h/"), urlcore.CanParseWithBase("https://h/", "x"))
	// Output: true false
}

func ExampleParser() {
	var p urlcore.Parser
	var u urlcore.URL
	for _, line := range []string{"https://example.com/a", "https://example.com:port/", "file:///etc/hosts"} {
		if f := p.Parse(&u, []byte(line), nil); !f.OK() {
			fmt.Println(f.Code, "at byte", f.Pos)
			continue
		}
		fmt.Printf("%s %q %s\n", u.Bytes(urlcore.Scheme), u.Bytes(urlcore.Host), u.Bytes(urlcore.Path))
	}
	// Output:
	// https "example.com" /a
	// port-invalid at byte 20
	// file "" /etc/hosts
}

func ExampleParser_encoding() {
	shiftJIS, _ := charset.Lookup("shift_jis")
	p := urlcore.Parser{Encoding: shiftJIS}
	var u urlcore.URL
	p.Parse(&u, []byte("https://example.jp/\u6c34?q=\u6c34"), nil)
	fmt.Println(&u)
	// Output: https://example.jp/%E6%B0%B4?q=%90%85
}

func ExampleParser_ValidationErrors() {
	p := urlcore.Parser{CollectErrors: true}
	var u urlcore.URL
	p.Parse(&u, []byte(`https:\\user@example.org/a b`), nil)
	fmt.Println(&u)
	for _, e := range p.ValidationErrors() {
		fmt.Println(e.Pos, e.Code)
	}
	// Output:
	// https://user@example.org/a%20b
	// 6 special-scheme-missing-following-solidus
	// 6 special-scheme-missing-following-solidus
	// 7 special-scheme-missing-following-solidus
	// 12 invalid-credentials
	// 26 invalid-URL-unit
}

func ExampleIsValidURLString() {
	fmt.Println(urlcore.IsValidURLString("https://example.org/a%20b", nil))
	fmt.Println(urlcore.IsValidURLString("https://example.org/a b", nil)) // parses, but should not be written
	// Output:
	// true
	// false
}

func ExampleIsValidHostString() {
	for _, s := range []string{"example.org", "xn--bcher-kva.example", "1.2.3.4", "1.2.3", "under_score.example", "example.org."} {
		fmt.Print(urlcore.IsValidHostString(s), " ")
	}
	fmt.Println()
	// Output: true true true false false false
}

func ExampleURL_Bytes() {
	u := urlcore.MustParse("https://user:pass@example.com:8080/p?q#f")
	for _, part := range []urlcore.Part{urlcore.Username, urlcore.Host, urlcore.Port, urlcore.Query} {
		fmt.Printf("%s ", u.Bytes(part))
	}
	fmt.Println()
	// Output: user example.com 8080 q
}

func ExampleURL_HostKind() {
	for _, s := range []string{"https://h/", "https://2130706433/", "https://[::1]/", "foo://h/", "file:///x", "mailto:x"} {
		u := urlcore.MustParse(s)
		fmt.Print(u.HostKind(), " ")
	}
	fmt.Println()
	// Output: domain ipv4 ipv6 opaque empty none
}

func ExampleURL_SetHost() {
	u := urlcore.MustParse("https://example.org/path")
	u.SetHost("example.com:8080")
	u.SetHost("not a host") // ignored
	u.SetPathname("a?b")
	u.SetProtocol("http")
	fmt.Println(u)
	// Output: http://example.com:8080/a%3Fb
}

func ExampleURL_SetHref() {
	u := urlcore.MustParse("https://example.org/")
	err := u.SetHref("http://:80/")
	fmt.Println(err)
	fmt.Println(u)
	// Output:
	// urlcore: URL "http://:80/": host-missing at byte 7: the host is missing
	// https://example.org/
}

func ExampleURL_SearchParams() {
	u := urlcore.MustParse("https://example.org/?q=go&page=1")
	params := u.SearchParams()
	params.Set("page", "2")
	params.Append("lang", "d\u00e9")
	fmt.Println(u)
	u.SetSearch("x=y")
	fmt.Println(params)
	// Output:
	// https://example.org/?q=go&page=2&lang=d%C3%A9
	// x=y
}

func ExampleURL_Origin() {
	fmt.Println(urlcore.MustParse("https://user@example.org:443/path").Origin())
	fmt.Println(urlcore.MustParse("blob:https://example.org/1234").Origin())
	fmt.Println(urlcore.MustParse("file:///path").Origin())
	// Output:
	// https://example.org
	// https://example.org
	// null
}

func ExampleURL_RegistrableDomain() {
	u := urlcore.MustParse("https://www.shop.example.co.uk/")
	fmt.Println(u.RegistrableDomain(), u.PublicSuffix())
	// Output: example.co.uk co.uk
}

func ExampleURL_Site() {
	u := urlcore.MustParse("https://project.github.io/")
	suffix, domain, section := u.Site(psl.Default())
	fmt.Printf("%s %s %s\n", suffix, domain, section)
	// Output: github.io project.github.io private
}

func ExampleSameSite() {
	a := urlcore.MustParse("https://www.example.com/")
	b := urlcore.MustParse("https://api.example.com:8443/")
	c := urlcore.MustParse("http://www.example.com/")
	fmt.Println(urlcore.SameOrigin(a, b), urlcore.SameSite(a, b), urlcore.SameSite(a, c), urlcore.SchemelesslySameSite(a, c))
	// Output: false true false true
}

func ExampleURL_Equal() {
	a, b := urlcore.MustParse("HTTP://H:80/a/.#x"), urlcore.MustParse("http://h/a/")
	fmt.Println(a.Equal(b), a.EqualExcludingFragments(b))
	// Output: false true
}

func ExampleParseHost() {
	for _, s := range []string{"B\u00fccher.DE", "192.168.257", "[1:0:0:0::2]", "no host"} {
		host, kind, err := urlcore.ParseHost(s, false)
		fmt.Println(host, kind, err)
	}
	// Output:
	// xn--bcher-kva.de domain <nil>
	// 192.168.1.1 ipv4 <nil>
	// [1::2] ipv6 <nil>
	//  none urlcore: URL "no host": domain-to-ASCII at byte 2: the host is not a valid domain name
}

func ExampleDomainToASCII() {
	domain, err := urlcore.DomainToASCII("Fa\u00df.Example", true)
	fmt.Println(domain, err)
	_, err = urlcore.DomainToASCII("under_score.example", true)
	fmt.Println(err != nil)
	// Output:
	// xn--fa-hia.example <nil>
	// true
}

func ExampleDomainToUnicode() {
	fmt.Println(urlcore.DomainToUnicode("xn--fa-hia.example", false))
	fmt.Println(urlcore.DomainToUnicode("xn--a.example", false))
	// Output:
	// faß.example true
	// xn--a.example false
}

func ExampleURL_Addr() {
	addr, ok := urlcore.MustParse("http://[::ffff:127.0.0.1]:80/").Addr()
	fmt.Println(addr.Unmap().IsLoopback(), ok)
	// Output: true true
}
