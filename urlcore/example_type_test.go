package urlcore_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/urlmill/urlmill/urlcore"
)

func ExampleURL_MarshalText() {
	links := map[string]urlcore.URL{"home": *urlcore.MustParse("HTTPS://Example.org"), "none": {}}
	text, err := json.Marshal(links)
	fmt.Println(string(text), err)
	// Output: {"home":"https://example.org/","none":""} <nil>
}

func ExampleURL_UnmarshalText() {
	var config struct{ Home, None urlcore.URL }
	err := json.Unmarshal([]byte(`{"Home":"https://b\u00fccher.example","None":""}`), &config)
	fmt.Println(config.Home, config.None.IsEmpty(), err)
	err = json.Unmarshal([]byte(`{"Home":"/relative"}`), &config)
	fmt.Println(err)
	// Output:
	// https://xn--bcher-kva.example/ true <nil>
	// urlcore: URL "/relative": missing-scheme-non-relative-URL at byte 0: there is no scheme, and no base URL to resolve a relative reference against
}

func ExampleURL_AppendText() {
	line := []byte("GET ")
	line, _ = urlcore.MustParse("https://example.org/x").AppendText(line)
	fmt.Printf("%s\n", line)
	// Output: GET https://example.org/x
}

func ExampleURL_MarshalBinary() {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode([]urlcore.URL{*urlcore.MustParse("https://example.org/")})
	var back []urlcore.URL
	fmt.Println(err, gob.NewDecoder(&b).Decode(&back), back)
	// Output: <nil> <nil> [https://example.org/]
}

func ExampleURL_UnmarshalBinary() {
	var u urlcore.URL
	fmt.Println(u.UnmarshalBinary([]byte("https://example.org")), u)
	// Output: <nil> https://example.org/
}

func ExampleURL_IsZero() {
	type page struct {
		Title string
		Next  urlcore.URL `json:",omitzero"`
	}
	text, err := json.Marshal(page{Title: "The last"})
	fmt.Println(string(text), err)
	// Output: {"Title":"The last"} <nil>
}

func ExampleURL_Set() {
	flags := flag.NewFlagSet("fetch", flag.ContinueOnError)
	base := *urlcore.MustParse("https://example.org/")
	flags.Var(&base, "base", "the `URL` that paths are resolved against")
	err := flags.Parse([]string{"-base", "https://example.com/docs/"})
	fmt.Println(base, err)
	// Output: https://example.com/docs/ <nil>
}

// A query would be rows.Scan(&u); NULL gives the empty URL, and sql.Null[urlcore.URL] tells it apart.
func ExampleURL_Scan() {
	var u urlcore.URL
	fmt.Println(u.Scan([]byte("https://example.org")), u)
	fmt.Println(u.Scan(nil), u.IsEmpty())
	// Output:
	// <nil> https://example.org/
	// <nil> true
}

// A statement would be db.Exec("INSERT INTO pages (url) VALUES ($1)", u).
func ExampleURL_Value() {
	u := *urlcore.MustParse("https://example.org")
	value, err := u.Value()
	fmt.Printf("%q %v\n", value, err)
	value, err = urlcore.URL{}.Value()
	fmt.Println(value, err)
	// Output:
	// "https://example.org/" <nil>
	// <nil> <nil>
}

func ExampleURL_LogValue() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	log.Info("fetch", "url", urlcore.MustParse("https://token:x-oauth@git.example/repo"))
	// Output: level=INFO msg=fetch url=https://xxxxx:xxxxx@git.example/repo
}

func ExampleURL_Redacted() {
	fmt.Println(urlcore.MustParse("ftp://user:secret@ftp.example/pub").Redacted())
	// Output: ftp://user:xxxxx@ftp.example/pub
}

func ExampleURL_DecodedUsername() {
	u := urlcore.MustParse("https://j\u00fcrgen%40example.org@h/")
	fmt.Println(u.Username(), u.DecodedUsername())
	// Output: j%C3%BCrgen%40example.org jürgen@example.org
}

func ExampleURL_DecodedPassword() {
	u := urlcore.MustParse("https://me:a%3Ab@h/")
	fmt.Println(u.Password(), u.DecodedPassword())
	// Output: a%3Ab a:b
}

func ExampleURL_DecodedFragment() {
	u := urlcore.MustParse("https://h/#\u4f60 \u597d")
	fmt.Println(u.Hash(), u.DecodedFragment())
	// Output: #%E4%BD%A0%20%E5%A5%BD 你 好
}

// A copy is independent of what it was copied from.
func ExampleURL_copy() {
	u := *urlcore.MustParse("https://example.org/search?q=go")
	next := u
	next.SearchParams().Append("page", "2")
	u.SetHost("example.com")
	fmt.Println(u)
	fmt.Println(next)
	// Output:
	// https://example.com/search?q=go
	// https://example.org/search?q=go&page=2
}

func ExampleSetError() {
	u := urlcore.MustParse("mailto:me@example.com")
	err := u.TrySetPathname("/inbox")
	fmt.Println(err)
	var refused *urlcore.SetError
	fmt.Println(errors.As(err, &refused) && refused.Reason == urlcore.RefusedOpaquePath)
	// Output:
	// urlcore: path "/inbox" is not set: the URL has an opaque path, as "mailto:" has, and so neither host nor segments: parse another URL
	// true
}

func ExampleRefusal() {
	err := urlcore.MustParse("file:///etc/hosts").TrySetPort("80")
	var refused *urlcore.SetError
	if errors.As(err, &refused) {
		fmt.Println(refused.Reason, "-", refused.Reason.Text())
	}
	// Output: file - file URLs have no username, password or port
}

func ExampleURL_TrySetProtocol() {
	u := urlcore.MustParse("http://example.org/")
	fmt.Println(u.TrySetProtocol("https"), u)
	fmt.Println(u.TrySetProtocol("git"))
	// Output:
	// <nil> https://example.org/
	// urlcore: scheme "git" is not set: http, https, ws, wss, ftp and file URLs cannot get another scheme than these, and no other URL can get one of them
}

func ExampleURL_TrySetUsername() {
	u := urlcore.MustParse("https://example.org/")
	fmt.Println(u.TrySetUsername("me"), u)
	fmt.Println(urlcore.MustParse("data:,x").TrySetUsername("me"))
	// Output:
	// <nil> https://me@example.org/
	// urlcore: username is not set: the URL has no host: set one first
}

func ExampleURL_TrySetPassword() {
	u := urlcore.MustParse("https://me@example.org/")
	fmt.Println(u.TrySetPassword("a:b"), u)
	fmt.Println(urlcore.MustParse("file:///x").TrySetPassword("secret"))
	// Output:
	// <nil> https://me:a%3Ab@example.org/
	// urlcore: password is not set: file URLs have no username, password or port
}

func ExampleURL_TrySetHost() {
	u := urlcore.MustParse("https://example.org/path")
	fmt.Println(u.TrySetHost("B\u00dcCHER.example:8443"), u)
	fmt.Println(u.TrySetHost("not a host"))
	fmt.Println(u.TrySetHost("example.com/x")) // SetHost would take it, without the path
	// Output:
	// <nil> https://xn--bcher-kva.example:8443/path
	// urlcore: host "not a host" is not set: domain-to-ASCII at byte 3: the host is not a valid domain name
	// urlcore: host "example.com/x" is not set: byte 11: the value goes on behind what could be set: give that alone
}

func ExampleURL_TrySetHostname() {
	u := urlcore.MustParse("https://example.org:8443/")
	fmt.Println(u.TrySetHostname("example.com"), u)
	fmt.Println(u.TrySetHostname("example.com:80"))
	// Output:
	// <nil> https://example.com:8443/
	// urlcore: hostname "example.com:80" is not set: byte 11: the value goes on behind what could be set: give that alone
}

func ExampleURL_TrySetPort() {
	u := urlcore.MustParse("https://example.org/")
	fmt.Println(u.TrySetPort("8443"), u)
	fmt.Println(u.TrySetPort("84430"))
	// Output:
	// <nil> https://example.org:8443/
	// urlcore: port "84430" is not set: port-out-of-range at byte 0: the port exceeds 65535
}

func ExampleURL_TrySetPathname() {
	u := urlcore.MustParse("https://example.org/")
	fmt.Println(u.TrySetPathname("a/../b?"), u)
	fmt.Println(urlcore.MustParse("data:,x").TrySetPathname("y") != nil)
	// Output:
	// <nil> https://example.org/b%3F
	// true
}

func ExampleURL_TrySetSearch() {
	u := urlcore.MustParse("https://example.org/")
	fmt.Println(u.TrySetSearch("q=1"), u)
	fmt.Println(new(urlcore.URL).TrySetSearch("q=1"))
	// Output:
	// <nil> https://example.org/?q=1
	// urlcore: query "q=1" is not set: the URL is empty: parse one first
}

func ExampleURL_TrySetHash() {
	u := urlcore.MustParse("https://example.org/")
	fmt.Println(u.TrySetHash("top"), u)
	// Output: <nil> https://example.org/#top
}
