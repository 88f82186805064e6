package urlcols_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
)

func TestWithScheme(t *testing.T) {
	for _, bare := range []string{
		"example.com", "example.com.", "EXAMPLE.com/a b", "example.com?q", "example.com#f", "example.com:8080", "example.com:8080/a:b",
		"a_b.example-1.com/x", "bücher.example/", "localhost", "LocalHost:3000/a", "127.0.0.1", "127.0.0.1:80/", "[::1]", "[::ffff:1.2.3.4]:80/a",
		"3.com", "index.html", "example.com//a", "example.com:1",
	} {
		if got := urlcols.WithScheme("https", bare); got != "https://"+bare {
			t.Errorf("%q is %q", bare, got)
		}
	}
	if got := urlcols.WithScheme("http", "//example.com/a"); got != "http://example.com/a" {
		t.Error(got)
	}
	for _, other := range []string{
		"", "/", "/a", "a", "?q", "#f", "example", "example:80", "https://example.com/", "https:example.com", "mailto:a@example.com", "user@example.com",
		"user:1@example.com/", "tel:5551234", "example.com:", "example.com:http", "example.com:123456", ".example.com", "example..com", "example.com..",
		"exa mple.com", " example.com", `example.com\a`, "3.14", "1.2.3", "1.2.3.4.5", "[::1", "[g::]", "[::1]x", "[", "]", ":80", ".", "a%2eb.com", "a/b.com", "data:,x.y",
	} {
		if got := urlcols.WithScheme("https", other); got != other {
			t.Errorf("%q is %q", other, got)
		}
	}
}

// TestDefaultScheme has bare hosts in a batch: among other URLs, with errors behind the scheme that was added, without a URL, and with
// bases, which come first.
func TestDefaultScheme(t *testing.T) {
	batch := func(withBases bool) *pipeline.Batch {
		b := new(pipeline.Batch)
		for i, url := range []string{"example.com/a", "https://example.com:99999", "example.com:99999", "//", "b.example/c", "x"} {
			b.URLs.Append([]byte(url))
			b.Offsets = append(b.Offsets, int64(i))
			if withBases && i%2 == 0 {
				b.Bases.Append([]byte("http://base.example/"))
			} else if withBases {
				b.Bases.AppendNull()
			}
		}
		b.URLs.AppendNull()
		b.Offsets = append(b.Offsets, 6)
		if withBases {
			b.Bases.AppendNull()
		}
		return b
	}
	row := func(url, href, err, pos any) map[string]any {
		return map[string]any{"url": url, "href": href, "url_error": err, "url_error_pos": pos}
	}
	for name, c := range map[string]struct {
		bases bool
		want  []map[string]any
	}{
		"without bases": {false, []map[string]any{
			row("example.com/a", "https://example.com/a", nil, nil),
			row("https://example.com:99999", nil, "port-out-of-range", 20.0),
			row("example.com:99999", nil, "port-out-of-range", 12.0),
			row("//", nil, "host-missing", 2.0),
			row("b.example/c", "https://b.example/c", nil, nil),
			row("x", nil, "missing-scheme-non-relative-URL", 0.0),
			row(nil, nil, "missing-scheme-non-relative-URL", 0.0),
		}},
		"with bases": {true, []map[string]any{
			row("example.com/a", "http://base.example/example.com/a", nil, nil),
			row("https://example.com:99999", nil, "port-out-of-range", 20.0),
			row("example.com:99999", "example.com:99999", nil, nil),
			row("//", nil, "host-missing", 2.0),
			row("b.example/c", "http://base.example/b.example/c", nil, nil),
			row("x", nil, "missing-scheme-non-relative-URL", 0.0),
			row(nil, nil, "missing-scheme-non-relative-URL", 0.0),
		}},
	} {
		plan, err := urlcols.New(urlcols.Options{DefaultScheme: "https", HasBase: c.bases, Include: []string{"url", "href", "url_error", "url_error_pos"}})
		if err != nil {
			t.Fatal(err)
		}
		transform := plan.NewTransform()
		for range 2 { // its memory is used again
			out, err := transform.Apply(batch(c.bases))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, rowsOf(t, out.Records[pipeline.Rows])); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}
