package urlcore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/urlcore"
)

func ExampleFromFilePath() {
	fmt.Println(urlcore.FromFilePath("/home/me/100% \u00e9?.txt", urlcore.POSIX))
	fmt.Println(urlcore.FromFilePath(`C:\Users\me\a#b`, urlcore.Windows))
	fmt.Println(urlcore.FromFilePath(`\\Server\share\dir\`, urlcore.Windows))
	_, err := urlcore.FromFilePath("a/b", urlcore.POSIX)
	fmt.Println(err)
	// Output:
	// file:///home/me/100%25%20%C3%A9%3F.txt <nil>
	// file:///C:/Users/me/a%23b <nil>
	// file://server/share/dir/ <nil>
	// urlcore: the path of a file is not absolute
}

func ExampleURL_FilePath() {
	u := urlcore.MustParse("file:///C:/Program%20Files/x?y#z")
	fmt.Println(u.FilePath(urlcore.Windows))
	fmt.Println(u.FilePath(urlcore.POSIX))
	_, err := urlcore.MustParse("file:///etc/..%2Fpasswd").FilePath(urlcore.POSIX)
	fmt.Println(err)
	// Output:
	// C:\Program Files\x <nil>
	// /C:/Program Files/x <nil>
	// urlcore: the URL stands for no path of a file in this style
}

func TestFromFilePath(t *testing.T) {
	for _, c := range []struct {
		path  string
		style urlcore.PathStyle
		want  string
		err   error
	}{
		{"/", urlcore.POSIX, "file:///", nil},
		{"//a//b/", urlcore.POSIX, "file:////a//b/", nil},
		{`/a\b|c:d%2f%`, urlcore.POSIX, "file:///a%5Cb%7Cc:d%252f%25", nil},
		{"/C|/a", urlcore.POSIX, "file:///C%7C/a", nil},
		{"/a\t\n\xff/", urlcore.POSIX, "file:///a%09%0A%FF/", nil},
		{"/a/./../%2e%2e/b", urlcore.POSIX, "file:///%252e%252e/b", nil},
		{"/a\x00", urlcore.POSIX, "", urlcore.ErrFilePath},
		{"", urlcore.POSIX, "", urlcore.ErrNotAbsolute},
		{`C:\a`, urlcore.POSIX, "", urlcore.ErrNotAbsolute},

		{`c:\`, urlcore.Windows, "file:///c:/", nil},
		{`C:/a\..\..\b%20`, urlcore.Windows, "file:///C:/b%2520", nil},
		{`\\?\C:\a`, urlcore.Windows, "file:///C:/a", nil},
		{`\\?\unc\h\s\a`, urlcore.Windows, "file://h/s/a", nil},
		{`//192.168.0.1/s`, urlcore.Windows, "file://192.168.0.1/s", nil},
		{`\\Bücher\s`, urlcore.Windows, "file://xn--bcher-kva/s", nil},
		{`\\h\C:\a`, urlcore.Windows, "file://h/C:/a", nil},
		{`C:`, urlcore.Windows, "", urlcore.ErrNotAbsolute},
		{`C:a`, urlcore.Windows, "", urlcore.ErrNotAbsolute},
		{`C|\a`, urlcore.Windows, "", urlcore.ErrNotAbsolute},
		{`\a`, urlcore.Windows, "", urlcore.ErrNotAbsolute},
		{`\\?\a`, urlcore.Windows, "", urlcore.ErrNotAbsolute},
		{`\\.\COM1`, urlcore.Windows, "", urlcore.ErrFilePath},
		{`\\h`, urlcore.Windows, "", urlcore.ErrFilePath},
		{`\\h\\a`, urlcore.Windows, "", urlcore.ErrFilePath},
		{`\\\a\b`, urlcore.Windows, "", urlcore.ErrFilePath},
		{`\\localhost\s`, urlcore.Windows, "", urlcore.ErrFilePath},
	} {
		u, err := urlcore.FromFilePath(c.path, c.style)
		if !errors.Is(err, c.err) || err == nil && u.Href() != c.want {
			t.Errorf("%q: %v, %v, want %s, %v", c.path, u, err, c.want, c.err)
		}
	}
	for _, server := range []string{"a?b", "a#b", "u@h", "h:80", "C:", "a b", "[::1"} {
		_, err := urlcore.FromFilePath(`\\`+server+`\s`, urlcore.Windows)
		var e *urlcore.Error
		if !errors.As(err, &e) || e.Input != server {
			t.Errorf("%q as a server: %v", server, err)
		}
	}
}

func TestFilePath(t *testing.T) {
	none := urlcore.ErrNoFilePath.Error()
	for input, want := range map[string][2]string{
		"file:///a/b%25%20%C3%A9%ff": {"/a/b% é\xff", none},
		"file:///":                   {"/", none},
		"file:////a":                 {"//a", none},
		"file:///C:":                 {"/C:", `C:\`},
		"file:///C|/a/":              {"/C:/a/", `C:\a\`},
		"file:///C:x":                {"/C:x", none},
		"file:///C%3A/x":             {"/C:/x", none},
		"file:///%43:/x":             {"/C:/x", none},
		"file:///C:/a%2Fb":           {none, none},
		"file:///C:/a%5cb":           {`/C:/a\b`, none},
		"file:///C:/a%00":            {none, none},
		"file://h/s/a":               {none, `\\h\s\a`},
		"file://xn--bcher-kva/s":     {none, `\\bücher\s`},
		"file://localhost/C:/a":      {"/C:/a", `C:\a`},
		"http://h/C:/a":              {none, none},
		"file:///C:/a/%2e%2E/b":      {"/C:/b", `C:\b`},
	} {
		u := urlcore.MustParse(input)
		for style, want := range want {
			got, err := u.FilePath(urlcore.PathStyle(style))
			if err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%s, style %d: %q, want %q", input, style, got, want)
			}
		}
	}
	if path, err := new(urlcore.URL).FilePath(urlcore.POSIX); !errors.Is(err, urlcore.ErrNoFilePath) {
		t.Errorf("the empty URL is the file %q (%v)", path, err)
	}
}

// TestFilePathRoundTrip: a path that has no dot segments comes back.
func TestFilePathRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		style := rapid.SampledFrom([]urlcore.PathStyle{urlcore.POSIX, urlcore.Windows}).Draw(t, "style")
		separator, start := "/", "/"
		if style == urlcore.Windows {
			separator, start = `\`, rapid.SampledFrom([]string{`C:\`, `\\h\s\`}).Draw(t, "start")
		}
		chars := rapid.SampledFrom([]byte("ab.%:|?# \t\"\xc3\xa9\xff\\"))
		segment := rapid.Map(rapid.SliceOfN(chars, 0, 6), func(b []byte) string {
			if style == urlcore.Windows {
				b = bytes.ReplaceAll(b, []byte{'\\'}, nil)
			}
			return "x" + string(b) // for it to be no dot segment
		})
		path := start + strings.Join(rapid.SliceOfN(segment, 0, 4).Draw(t, "segments"), separator)
		u, err := urlcore.FromFilePath(path, style)
		if err != nil {
			t.Fatalf("%q: %v", path, err)
		}
		if back, err := u.FilePath(style); err != nil || back != path || !reparses(u) {
			t.Fatalf("%q becomes %s, which becomes %q (%v)", path, u, back, err)
		}
	})
}

// TestFilePathAgainstNode compares with what pathToFileURL and fileURLToPath of Node.js 20 make of generated paths: without
// empty segments, which Node.js drops, and without ~ and brackets, which it escapes as RFC 1738 did.
func TestFilePathAgainstNode(t *testing.T) {
	data, err := os.ReadFile("testdata/filepaths.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(data) {
		var c struct {
			Windows          bool
			Path, Href, Back string
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		n++
		style := urlcore.POSIX
		if c.Windows {
			style = urlcore.Windows
		}
		u, err := urlcore.FromFilePath(c.Path, style)
		if err != nil || u.Href() != c.Href {
			t.Errorf("%q: %v (%v), but Node.js makes %s", c.Path, u, err, c.Href)
			continue
		}
		if back, err := u.FilePath(style); err != nil || back != c.Back {
			t.Errorf("%s: %q (%v), but Node.js makes %q", u, back, err, c.Back)
		}
	}
	if n < 400 {
		t.Errorf("%d paths only", n)
	}
}
