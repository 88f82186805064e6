package urlcols_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
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

// TestIndexProfile checks that the profile has the columns of the columnar index and no others, in its types.
func TestIndexProfile(t *testing.T) {
	opts := urlcols.Options{Profile: "cc_index", Provenance: urlcols.FileProvenance, Carried: []pipeline.Field{
		{Name: "warc_type"},
		{Name: "fetch_time", Type: pipeline.Timestamp},
		{Name: "fetch_status", Type: pipeline.Int64},
		{Name: "content_digest"},
		{Name: "warc_offset", Type: pipeline.Int64},
	}}
	plan, err := urlcols.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range plan.Schemas()[pipeline.Rows].Fields() {
		got = append(got, f.Name)
		if f.Name == "warc_record_offset" && f.Type.ID() != arrow.INT32 {
			t.Errorf("%s is %s", f.Name, f.Type)
		}
	}
	want := "url_surtkey url url_host_name url_host_tld url_host_2nd_last_part url_host_3rd_last_part url_host_4th_last_part url_host_5th_last_part " +
		"url_host_registry_suffix url_host_registered_domain url_host_private_suffix url_host_private_domain url_host_name_reversed url_protocol url_port " +
		"url_path url_query fetch_time fetch_status content_digest warc_filename warc_record_offset"
	if strings.Join(got, " ") != want {
		t.Errorf("%s", strings.Join(got, " "))
	}
	b := &pipeline.Batch{Offsets: []int64{0, 1, 2}}
	for i, f := range opts.Carried {
		b.Carried = append(b.Carried, pipeline.Values{Field: f})
		v := &b.Carried[i]
		for _, offset := range []int64{477, 1 << 40} {
			if v.Valid = append(v.Valid, true); f.Type == pipeline.String {
				v.Text.Append([]byte("x"))
			} else {
				v.Ints = append(v.Ints, offset)
			}
		}
		v.AppendNull()
	}
	for range b.Offsets {
		b.URLs.Append([]byte("http://www.example.com/"))
	}
	out, err := plan.NewTransform().Apply(b)
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, out.Records[pipeline.Rows])
	if rows[0]["warc_record_offset"] != 477.0 || rows[1]["warc_record_offset"] != nil || rows[2]["warc_record_offset"] != nil || rows[0]["url_surtkey"] != "com,example)/" {
		t.Errorf("%v", rows)
	}
}
