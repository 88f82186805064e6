package urlcore_test

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// allocations fails the test unless f allocates exactly want times.
func allocations(t *testing.T, name string, want float64, f func()) {
	t.Helper()
	if got := testing.AllocsPerRun(100, f); got != want {
		t.Errorf("%s: %v allocations and not %v", name, got, want)
	}
}

func TestParseAllocatesNothingIntoReusedURL(t *testing.T) {
	base := urlcore.MustParse("https://user@example.org:81/a/b/c?d#e")
	for _, input := range []string{
		"https://www.example.com/news/2026/07/headline.html?utm_source=x&y=z#top",
		"HTTP://User:Pa ss@EXAMPLE.com:8080/a/../b/%2e%2E/<c>?q='1'#`frag`",
		"http://0x7f.1/", "http://[2001:db8::1]:80/", "file:///C|/Users/x", "mailto:a@b.example",
		"//other.example/x", "../../up?x", "#frag", "?query", "/root", "", "foo://ho%20st/path",
		"  https://example.org/with\ttab\nand newline ",
		"https://exa mple.org/", "http://[::1", "https://h:99999/",
	} {
		var p urlcore.Parser
		var u urlcore.URL
		in := []byte(input)
		for range 4 { // both of the buffers that Parse exchanges have to grow once
			p.Parse(&u, in, base)
		}
		allocations(t, input, 0, func() { p.Parse(&u, in, base) })
	}
}

func TestParseAllocatesOnceForNewURL(t *testing.T) {
	base := urlcore.MustParse("https://example.org/a/b/c?d#e")
	for _, input := range []string{
		"https://www.example.com/news/2026/07/headline.html?utm_source=x&y=z#top",
		"https://example.com/<<<<<<<<<<<<<<<<>>>>>>>>>>>>>>>>>\u00e9\u00e9\u00e9?\u4e2d\u6587\u4e2d\u6587\u4e2d\u6587#\u4e2d\u6587",
		"\u65e5\u672c\u8a9e/\u30c6\u30b9\u30c8", "data:\u65e5\u672c\u8a9e\u30c6\u30b9\u30c8\u30c6\u30b9\u30c8",
		"ftp://\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9:\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9@h/",
	} {
		var p urlcore.Parser
		in := []byte(input)
		urls := make([]urlcore.URL, 200)
		i := 0
		allocations(t, input, 1, func() {
			p.Parse(&urls[i], in, base)
			i++
		})
	}
}

func TestParseAllocatesOnceWhenInputGrows(t *testing.T) {
	// Each URL has been used with a short input before; one allocation has to do for the long one.
	in := []byte("https://u\u00e9:p\u00e9@example.com/" + strings.Repeat("<\u00e9", 50) + "?" + strings.Repeat("\u00e9 ", 50) + "#\u00e9")
	var p urlcore.Parser
	urls := make([]urlcore.URL, 200)
	for i := range urls {
		p.Parse(&urls[i], []byte("https://example.com/"+strings.Repeat("x", 280)), nil)
	}
	i := 0
	if got := testing.AllocsPerRun(100, func() {
		p.Parse(&urls[i], in, nil)
		i++
	}); got > 1 {
		t.Errorf("%v allocations", got)
	}
}

func TestViewsAllocateNothing(t *testing.T) {
	u := urlcore.MustParse("https://user:pass@www.example.co.uk:8080/path?query#fragment")
	list := psl.Default()
	buf := make([]byte, 0, 100)
	allocations(t, "views", 0, func() {
		for part := urlcore.Href; part <= urlcore.Fragment; part++ {
			_ = u.Bytes(part)
		}
		_, _, _ = u.Site(list)
		buf = u.AppendOrigin(buf[:0])
		buf, _ = u.AppendText(buf[:0])
		_, _ = u.PortNumber()
		_ = u.HostKind()
		_ = u.Equal(u)
	})
	allocations(t, "Parse", 2, func() { _, _ = urlcore.Parse("https://www.example.com/path?query") })
	allocations(t, "CanParse", 1, func() { _ = urlcore.CanParse("https://www.example.com/path?query") })
}
