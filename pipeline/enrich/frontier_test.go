package enrich

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readSites(t *testing.T, text string) (*Sites, error) {
	t.Helper()
	o := DefaultFrontier()
	o.Sites = filepath.Join(t.TempDir(), "sites.yaml")
	if err := os.WriteFile(o.Sites, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return o.ReadSites()
}

// TestTraps checks which URLs are traps, and which look like some and are none.
func TestTraps(t *testing.T) {
	o := DefaultFrontier()
	sites, err := o.ReadSites()
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 3000)
	for path, want := range map[string]string{
		"/": "", "/a/b/c": "", "/a/a/b": "", "/2026/11/24/title": "", "/events": "", "/events/summer-2026": "", "/archive?year=2026&month=11": "",
		"/a/a/a": trapSegments, "/x/a/b/a/b/a/b": trapSegments, "/a/b/c/d/a/b/c/d/a/b/c/d/e": trapSegments, "/a/b/a/b/a": "", "/1/1/1/": trapSegments,
		strings.Repeat("/a/b1/c/b2/d", 2): "", "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t": "", "/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u": trapDepth,
		"/s?a=1&a=2&a=3": "", "/s?a=1&b&a=1&a=1": trapQuery, "/s?&&&&": "", "/s?" + strings.Repeat("a=1&b=2&c=&", 8): trapQuery,
		"/r?u=%252525": trapEscapes, "/r?u=%2520": "", "/%2525": trapEscapes,
		"/calendar/2031/05": trapCalendar, "/Calendar/2031-05-01": trapCalendar, "/cal?month=5&year=2031": trapCalendar, "/events?date=20310501": trapCalendar,
		"/kalender": "", "/calendar/2031": "", "/agenda/2026/title": "", "/" + long: trapLong, "/?" + long: trapLong,
	} {
		p, q, _ := strings.Cut(path, "?")
		got, ok := sites.AppendTrap(nil, []byte("example.com"), []byte(p), []byte(q), []byte("https://example.com"+path))
		if string(got) != want || ok != (want != "") {
			t.Errorf("%.80s: %q, want %q", path, got, want)
		}
	}
}

// TestSitesAreChecked: what is wrong in a file of sites is said with its line and column.
func TestSitesAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"sites: [{hosts: [Example.com], group: x}]":                                                       ":1:18: \"Example.com\" is no domain",
		"sites: [{hosts: [a.example], group: x}, {hosts: [a.example], group: y}]":                         "two sites",
		"sites: [{hosts: [a.example]}]":                                                                   "no rule",
		"sites: [{hosts: [a.example], parms: [id]}]":                                                      "params",
		"sites: [{hosts: [a.example], traps: [cgi]}]":                                                     "slash",
		"sites: [{hosts: [a.example], paths: [{class: x, patterns: [/**]}, {class: y, patterns: [/a]}]}]": "can never count",
		"sites: [{hosts: [a.example], params: [a], no_params: true}]":                                     "take one out",
		"sites: [{group: x}]": "hosts",
	} {
		if _, err := readSites(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestFrontierAllocatesNothing(t *testing.T) {
	sites, err := readSites(t, "sites: [{hosts: ['*.example.com'], params: [id], traps: [/cart/**], paths: [{class: a, patterns: [/a/**]}]}]")
	if err != nil {
		t.Fatal(err)
	}
	sites.o.Queue = QueueAddress
	host, path, query, url := []byte("www.example.com"), []byte("/a/b/c"), []byte("id=1&x=2"), []byte("https://www.example.com/a/b/c?id=1&x=2#f")
	dst, address := make([]byte, 0, 1024), []byte("192.0.2.1")
	if n := testing.AllocsPerRun(100, func() {
		dst = sites.AppendQueue(dst[:0], host, host[4:], address)
		dst, _ = sites.AppendTrap(dst[:0], host, path, query, url)
		dst, _ = sites.AppendClass(dst[:0], host, path)
		dst, _ = sites.AppendURL(dst[:0], host, url)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if string(dst) != "https://www.example.com/a/b/c?id=1#f" {
		t.Errorf("%s", dst)
	}
}
