package urlcols_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/urlcore/canon"
)

const sitesFile = `
version: 2026-11-24
sites:
  - hosts: [shop.example.com, "*.shop.example.com"]
    group: shop
    params: [id, page]
    paths: [{class: product, patterns: [/p/*]}, {class: list, patterns: [/c/**]}]
    traps: [/cart/**]
  - hosts: ["*.example.com"]
    group: example
  - hosts: [static.example.net]
    no_params: true
`

func frontier(t *testing.T, sites string) *enrich.Frontier {
	t.Helper()
	o := enrich.DefaultFrontier()
	if sites != "" {
		o.Sites = filepath.Join(t.TempDir(), "sites.yaml")
		if err := os.WriteFile(o.Sites, []byte(sites), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &o
}

// TestFrontier checks the columns of URLs by the rules of their sites.
func TestFrontier(t *testing.T) {
	opts := urlcols.Options{
		Include:  []string{"queue_key", "path_depth", "trap", "page_class", "canonical_url"},
		Frontier: frontier(t, sitesFile), Canonical: &canon.Options{Form: canon.Dedupe},
	}
	opts.Frontier.Queue = enrich.QueueDomain
	row := func(queue, depth, trap, class, canonical any) map[string]any {
		return map[string]any{"queue_key": queue, "path_depth": depth, "trap": trap, "page_class": class, "canonical_url": canonical}
	}
	for url, want := range map[string]map[string]any{
		"https://shop.example.com/p/1?sort=up&id=1&utm_source=x#top": row("shop", 2.0, nil, "product", "https://shop.example.com/p/1?id=1"),
		"https://de.shop.example.com/c/a/b/?page=2&x":                row("shop", 3.0, nil, "list", "https://de.shop.example.com/c/a/b?page=2"),
		"https://shop.example.com/cart/add":                          row("shop", 2.0, "site-rule", nil, "https://shop.example.com/cart/add"),
		"https://blog.example.com/?x=1":                              row("example", 0.0, nil, nil, "https://blog.example.com/?x=1"),
		"https://example.com/":                                       row("example.com", 0.0, nil, nil, "https://example.com/"),
		"https://static.example.net/a?x=1&id=2":                      row("example.net", 1.0, nil, nil, "https://static.example.net/a"),
		"https://a.b.example.co.uk/a":                                row("example.co.uk", 1.0, nil, nil, "https://a.b.example.co.uk/a"),
		"http://192.0.2.7/":                                          row("192.0.2.7", 0.0, nil, nil, "http://192.0.2.7/"),
		"mailto:a@example.com":                                       row(nil, 0.0, nil, nil, "mailto:a@example.com"),
		"no url":                                                     row(nil, nil, nil, nil, nil),
	} {
		if diff := cmp.Diff([]map[string]any{want}, derive(t, opts, url)); diff != "" {
			t.Errorf("%s: %s", url, diff)
		}
	}
}

// TestQueueOfAddress checks queues by the network of the host.
func TestQueueOfAddress(t *testing.T) {
	o := frontier(t, "")
	o.Queue, o.Address = enrich.QueueAddress, "ref"
	opts := urlcols.Options{Include: []string{"queue_key"}, Frontier: o, Carried: []pipeline.Field{{Name: "ref"}}}
	plan, err := urlcols.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	b := &pipeline.Batch{Carried: []pipeline.Values{{Field: opts.Carried[0]}}}
	want := []string{"192.0.2.0/24", "2001:db8::/64", "192.0.2.0/24", "www.example.com", "www.example.com"}
	for i, address := range []string{"192.0.2.77", "2001:db8::1:2:3:4", "::ffff:192.0.2.1", "", "no address"} {
		b.Offsets = append(b.Offsets, int64(i))
		b.URLs.Append([]byte("https://www.example.com/"))
		b.Carried[0].Text.Append([]byte(address))
		b.Carried[0].Valid = append(b.Carried[0].Valid, true)
	}
	out, err := plan.NewTransform().Apply(b)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rowsOf(t, out.Records[pipeline.Rows]) {
		if row["queue_key"] != want[i] {
			t.Errorf("row %d: %v, want %s", i, row["queue_key"], want[i])
		}
	}
	opts.Frontier.Address = "other"
	if _, err := urlcols.New(opts); err == nil || !strings.Contains(err.Error(), "carried along") {
		t.Error(err)
	}
}
