package compat_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
)

// tokens are what mutations put in: what one of the grammars looks for, and what it stumbles over.
var tokens = []string{
	"http://", "https://", "//", "/", "///", "://", ":", ":80", ":0", ":99999", ":2147483648", "?", "#", "&", "=", "&a=", "?q=", "&utm_source=", "#a=", "a.b=1",
	"ids[]=", "@", "u:p@", "www.", ".", "..", ".com", ".co.uk", ".github.io", "-", "_", "%", "%41", "%4", "%zz", "%E4%B8%AD", "%00", "+", " ", "\t", "\n", "\\",
	"[", "]", "[::1]", "[::ffff:1.2.3.4]", "[1:2:3:4:5:6:7:8]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "1.2.3.4", "256.1.1.1", "0x7f.1", "1.2.3", "~", "^", "|", "{", "}",
	"<", ">", "\"", "'", "`", ";", ",", "$", "!", "*", "(", ")", "\x00", "\x7f", "\u0080", "\u0085", "\u00a0", "\u00ad", "é", "中", "\u2028", "\u3000", "\ufeff", "\ufffd", "😀",
	"\x80", "\xc3", "\xe4\xb8", "\xed\xa0\x80", "\xf0\x9f\x98", "\xff", "mailto:", "javascript:", "data:,", "file:///", "FTP://", "a-b.c-", "0", "9", "z", "A",
}

// seeds are URLs, and hosts of which URLs are made, of the lists in the repository and of those of the conformance tests.
type seeds struct {
	urls, hosts []string
}

func loadSeeds(t *testing.T) seeds {
	t.Helper()
	dir := os.Getenv(conformance.EnvDir)
	if dir == "" {
		dir = "../../../shared/conformance"
	}
	if _, err := os.Stat(dir); err != nil && os.Getenv(conformance.EnvRequire) == "1" {
		t.Fatal(err)
	}
	var s seeds
	for _, pattern := range []string{"../testdata/*.json", filepath.Join(dir, "*.json")} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			s.addFile(t, name)
		}
	}
	lines, err := os.ReadFile("../../examples/testdata/urls.txt")
	if err != nil {
		t.Fatal(err)
	}
	s.urls = append(s.urls, strings.Split(string(lines), "\n")...)
	for _, name := range []string{"clickhouse_suffixes.txt", "../psl/list.txt"} {
		suffixes, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for suffix := range strings.Lines(string(suffixes)) {
			suffix = strings.TrimSuffix(suffix, "\n")
			s.hosts = append(s.hosts, "www.shop."+suffix, "a.shop."+suffix, suffix)
		}
	}
	t.Logf("%d URLs and %d hosts to begin with", len(s.urls), len(s.hosts))
	return s
}

// addFile adds all texts of a JSON file that are not too long: what is no URL is as good a text as any, and may be a host.
func (s *seeds) addFile(t *testing.T, name string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if text, ok := token.(string); ok && text != "" && len(text) <= 300 {
			if strings.ContainsAny(text, ":/?#") {
				s.urls = append(s.urls, text)
			} else {
				s.hosts = append(s.hosts, text)
			}
		}
	}
}

// makeURLs returns n different URLs: the lists', every host of the lists where that leaves enough for others, then half of
// them put together of the lists' parts, and half mutated.
func makeURLs(t *testing.T, n int, takes func(string) bool) []string {
	t.Helper()
	s := loadSeeds(t)
	r := rand.New(rand.NewPCG(17, uint64(n)))
	seen := make(map[string]bool, n)
	urls := make([]string, 0, n)
	add := func(url string) {
		if len(urls) < n && !seen[url] && takes(url) {
			seen[url] = true
			urls = append(urls, url)
		}
	}
	add("")
	for _, url := range s.urls {
		add(url)
	}
	for _, host := range s.hosts {
		if n > 4*len(s.hosts) {
			add("http://" + host + "/")
		}
	}
	for len(urls) < n {
		add(s.build(r))
		add(s.mutate(r, s.build(r)))
		add(s.mutate(r, pick(r, s.urls)))
		add(s.build(r))
	}
	return urls
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// build puts a URL together that is mostly right.
func (s *seeds) build(r *rand.Rand) string {
	var b strings.Builder
	maybe := func(percent int, texts ...string) {
		if r.IntN(100) < percent {
			b.WriteString(pick(r, texts))
		}
	}
	maybe(95, "http://", "https://", "https://", "http://", "ftp://", "//", "svn+ssh://", "HTTP://", "a1b2://", "averylongscheme://", "mailto:")
	maybe(10, "user@", "user:password@", "u%20v@", "a.b@", "u;v=w:x&y@", "@")
	maybe(20, "www.", "www2.", "a-b.", "a_b.", "1.")
	b.WriteString(pick(r, s.hosts))
	maybe(15, ":80", ":8080", ":", ":65536", ":443")
	for range r.IntN(4) {
		b.WriteString("/" + word(r))
	}
	maybe(30, "/", ".html", "/../x", "//y")
	if r.IntN(3) > 0 {
		b.WriteString("?")
		for i := range r.IntN(4) + 1 {
			if i > 0 {
				b.WriteByte('&')
			}
			b.WriteString(pick(r, []string{"a", "q", "utm_source", "a.b", "aXb", "é", "A-1", "ids[]", word(r)}))
			maybe(90, "=")
			maybe(90, word(r), word(r)+"%20"+word(r), word(r)+"+x", "é", "a b")
		}
	}
	maybe(15, "#", "#top", "#a=1&q=2", "#!/x?q=1")
	return b.String()
}

func word(r *rand.Rand) string {
	b := make([]byte, 1+r.IntN(8))
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz0123456789-_ABC"[r.IntN(41)]
	}
	return string(b)
}

// mutate changes url in one to three places.
func (s *seeds) mutate(r *rand.Rand, url string) string {
	for range 1 + r.IntN(3) {
		i := r.IntN(len(url) + 1)
		j := i + r.IntN(min(len(url)-i, 8)+1)
		switch r.IntN(6) {
		case 0, 1:
			url = url[:i] + pick(r, tokens) + url[i:]
		case 2:
			url = url[:i] + pick(r, tokens) + url[j:]
		case 3:
			url = url[:i] + url[j:]
		case 4:
			url = url[:j] + url[i:]
		default:
			other := pick(r, s.urls)
			url = url[:i] + other[r.IntN(len(other)+1):]
		}
	}
	return url[:min(len(url), 2000)]
}
