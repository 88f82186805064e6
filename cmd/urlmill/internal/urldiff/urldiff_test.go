package urldiff

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestKinds(t *testing.T) {
	for input, want := range map[string][]string{
		"https://example.com/a?b=c#d": nil,
		"http://[::1]:81/":            nil,
		"mailto:a@b?c#d":              nil,
		"http://h:x":                  nil, // no URL to either
		"http://us%65r:p%2f@h/":       nil,
		"":                            {"only net/url parses: missing-scheme-non-relative-URL"},
		"http://":                     {"only net/url parses: host-missing"},
		"http://h:99999/":             {"only net/url parses: port-out-of-range"},
		" http://h/":                  {"only urlcore parses: first path segment in URL cannot contain colon"},
		"http://h/%":                  {"only urlcore parses: invalid URL escape"},
		"http://h/a\tb":               {"only urlcore parses: invalid control character in URL"},
		"http:\\\\h:80\\":             {"host", "path"},
		"http://H/":                   {"host: in lower case"},
		"http://0x7f.1/":              {"host: a number is an address"},
		"http://é/":                   {"host: by the rules of IDNA"},
		"http://h:80/":                {"port: the scheme's default is left out"},
		"http://h:081/":               {"port"},
		"http://h":                    {`path: an empty one is "/"`},
		"http://h/a/../b":             {"path: dot segments are resolved"},
		"http://h/a/%2e%2e/b":         {"path: dot segments are resolved"},
		`http://h/a\b`:                {"path: a backslash is a slash"},
		"http://h/é":                  nil,
		"http://h/a|b":                {"path: other characters are escaped"},
		"http://h/?a b'":              {"query: other characters are escaped"},
		"http://h/?a=1;b=2&c":         {"parameters: net/url drops those with a semicolon or a bad escape"},
		"http://h/?a=%ff":             {"parameters"},
		"http://h/#a#b":               {"fragment: other characters are escaped"},
	} {
		var r Report
		var got []string
		for _, d := range r.differences(input) {
			got = append(got, d.kind)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", input, got, want)
		}
	}
}

func TestRead(t *testing.T) {
	var r Report
	if err := r.Read(strings.NewReader("http://a\r\n\nhttp://h/\nhttp://b")); err != nil || r.urls != 3 || r.differ != 2 {
		t.Errorf("%d URLs, %d of which differ, %v", r.urls, r.differ, err)
	}
	if err := r.Read(iotest.ErrReader(errors.ErrUnsupported)); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	var long, empty Report
	var b strings.Builder
	long.Add("http://h" + strings.Repeat("é", 1000))
	if err := long.Write(&b); err != nil || b.Len() > 2000 || !strings.Contains(b.String(), `"...`) {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	b.Reset()
	if err := empty.Write(&b); err != nil || b.String() != "0 URLs, of which net/url and urlcore read 0 alike (0.00 %) and 0 otherwise (0.00 %)\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// TestMigrationPage compares the examples of docs/migrate-net-url.md with what is found.
func TestMigrationPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "migrate-net-url.md"))
	if err != nil {
		t.Fatal(err)
	}
	value := func(cell string) string {
		if cell == "nothing" {
			return ""
		}
		return strings.Trim(cell, "`")
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(line, "|\n "), " | ")
		if len(cells) < 4 || !strings.HasPrefix(cells[1], "`") || strings.HasPrefix(cells[0], "`") {
			continue
		}
		rows++
		var r Report
		want := difference{cells[0], value(cells[2]), value(cells[3])}
		if got := r.differences(value(cells[1])); !slices.Contains(got, want) {
			t.Errorf("%s: %q, want %q", cells[1], got, want)
		}
	}
	if rows < 15 {
		t.Errorf("%d examples only", rows)
	}
}
