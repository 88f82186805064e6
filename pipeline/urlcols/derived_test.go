package urlcols_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/xxh3"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// derive parses urls, where an empty one is null, and returns the rows with a column "ref" carried along.
func derive(t *testing.T, opts urlcols.Options, urls ...string) []map[string]any {
	t.Helper()
	opts.Carried = []pipeline.Field{{Name: "ref", Type: pipeline.String}}
	plan, err := urlcols.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	b := &pipeline.Batch{Carried: []pipeline.Values{{Field: opts.Carried[0]}}}
	for i, url := range urls {
		b.Offsets = append(b.Offsets, int64(i))
		if url == "" {
			b.URLs.AppendNull()
			b.Carried[0].AppendNull()
			continue
		}
		b.URLs.Append([]byte(url))
		b.Carried[0].Valid = append(b.Carried[0].Valid, true)
		b.Carried[0].Text.Append([]byte("https://ref.example.co.uk/from?u=" + url))
	}
	transform := plan.NewTransform()
	var out pipeline.Output
	for range 2 { // the second time with memory in use
		if out, err = transform.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	return rowsOf(t, out.Records[pipeline.Rows])
}

const (
	clickURL = "https://www.shop.example.co.uk:8443/a/b.tar.gz?utm_source=news&id=1&utm_medium=mail&id=2&gclid=x#top"
	otherURL = "http://[::1]/x?id"
)

func TestCanonicalColumns(t *testing.T) {
	opts := urlcols.Options{Include: []string{"canonical_url", "url_key"}, Canonical: &canon.Options{Form: canon.Dedupe}}
	rows := derive(t, opts, clickURL, "", "no url", otherURL)
	const want = "https://shop.example.co.uk:8443/a/b.tar.gz?id=1&id=2"
	if rows[0]["canonical_url"] != want || rows[1]["canonical_url"] != nil || rows[2]["url_key"] != nil {
		t.Fatalf("%v", rows)
	}
	for i, text := range map[int]string{0: want, 3: otherURL} {
		key, err := base64.StdEncoding.DecodeString(rows[i]["url_key"].(string))
		sum := xxh3.HashString128(text).Bytes()
		if err != nil || hex.EncodeToString(key) != hex.EncodeToString(sum[:]) {
			t.Errorf("key %x of %s, want %x", key, text, sum)
		}
	}
}

func TestPromote(t *testing.T) {
	opts := urlcols.Options{
		Include: []string{"source", "first", "last", "all", "click"},
		Promote: []urlcols.Promoted{
			{Params: []string{"utm_source"}, Name: "source"},
			{Params: []string{"id"}, Name: "first"},
			{Params: []string{"id"}, Name: "last", Take: urlcols.Last},
			{Params: []string{"id"}, Name: "all", Take: urlcols.Every},
			{Params: []string{"fbclid", "gclid"}, Name: "click"},
		},
	}
	want := []map[string]any{
		{"source": "news", "first": "1", "last": "2", "all": []any{"1", "2"}, "click": "x"},
		{"source": nil, "first": "", "last": "", "all": []any{""}, "click": nil},
		{"source": nil, "first": nil, "last": nil, "all": nil, "click": nil},
	}
	if diff := cmp.Diff(want, derive(t, opts, clickURL, otherURL, "")); diff != "" {
		t.Error(diff)
	}
}

func TestTracking(t *testing.T) {
	pair := func(key, value string) any { return map[string]any{"key": key, "value": value} }
	opts := urlcols.Options{Include: []string{"params", "tracking_params"}, Tracking: true}
	want := []map[string]any{
		{
			"params":          []any{pair("id", "1"), pair("id", "2")},
			"tracking_params": []any{pair("utm_source", "news"), pair("utm_medium", "mail"), pair("gclid", "x")},
		},
		{"params": []any{pair("v", "1")}, "tracking_params": []any{pair("si", "2")}},
		{"params": nil, "tracking_params": nil},
	}
	urls := []string{clickURL, "https://youtube.com/?v=1&si=2", "http://a/"}
	if diff := cmp.Diff(want, derive(t, opts, urls...)); diff != "" {
		t.Error(diff)
	}
	opts.ParamsAsMap = true
	plan, err := urlcols.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	if typ := plan.Schemas()[pipeline.Rows].Field(0).Type; typ.ID() != arrow.MAP {
		t.Errorf("params is %s", typ)
	}
	rows := derive(t, opts, urls...)
	if diff := cmp.Diff(want[0]["params"], rows[0]["params"]); diff != "" {
		t.Error(diff)
	}
	opts.Tracking = false
	opts.Include = []string{"params"}
	if n := len(derive(t, opts, urls...)[0]["params"].([]any)); n != 5 {
		t.Errorf("%d params in the map, want 5", n)
	}
}

func TestAlso(t *testing.T) {
	opts := urlcols.Options{
		Include: []string{"host", "referer_host", "referer_registrable_domain", "referer_query", "referer_url_error"},
		Also:    []urlcols.Also{{Field: "ref", Prefix: "referer_"}},
	}
	want := []map[string]any{
		{
			"host": "[::1]", "referer_host": "ref.example.co.uk", "referer_registrable_domain": "example.co.uk",
			"referer_query": "u=" + otherURL, "referer_url_error": nil,
		},
		{"host": nil, "referer_host": nil, "referer_registrable_domain": nil, "referer_query": nil, "referer_url_error": nil},
	}
	if diff := cmp.Diff(want, derive(t, opts, otherURL, "")); diff != "" {
		t.Error(diff)
	}
}

func TestProfiles(t *testing.T) {
	for profile, want := range map[string]map[string]any{
		"commoncrawl": {
			"url_surtkey": "uk,co,example,shop:8443)/a/b.tar.gz?gclid=x&id=1&id=2&utm_medium=mail&utm_source=news",
			"url":         clickURL, "url_host_name": "www.shop.example.co.uk", "url_host_tld": "uk", "url_host_2nd_last_part": "co",
			"url_host_3rd_last_part": "example", "url_host_4th_last_part": "shop", "url_host_5th_last_part": "www",
			"url_host_registry_suffix": "co.uk", "url_host_registered_domain": "example.co.uk",
			"url_host_private_suffix": "co.uk", "url_host_private_domain": "example.co.uk",
			"url_host_name_reversed": "uk.co.example.shop.www", "url_protocol": "https", "url_port": 8443.0,
			"url_path": "/a/b.tar.gz", "url_query": "utm_source=news&id=1&utm_medium=mail&id=2&gclid=x",
		},
		"ecs": {
			"url.original": clickURL, "url.full": clickURL, "url.scheme": "https", "url.domain": "www.shop.example.co.uk",
			"url.port": 8443.0, "url.path": "/a/b.tar.gz", "url.query": "utm_source=news&id=1&utm_medium=mail&id=2&gclid=x",
			"url.fragment": "top", "url.registered_domain": "example.co.uk", "url.subdomain": "www.shop",
			"url.top_level_domain": "co.uk", "url.extension": "gz",
		},
		"snowplow": {
			"page_url": clickURL, "page_urlscheme": "https", "page_urlhost": "www.shop.example.co.uk", "page_urlport": 8443.0,
			"page_urlpath": "/a/b.tar.gz", "page_urlquery": "utm_source=news&id=1&utm_medium=mail&id=2&gclid=x",
			"page_urlfragment": "top", "mkt_medium": "mail", "mkt_source": "news", "mkt_term": nil, "mkt_content": nil,
			"mkt_campaign": nil, "mkt_clickid": "x",
		},
	} {
		t.Run(profile, func(t *testing.T) {
			rows := derive(t, urlcols.Options{Profile: profile}, clickURL, otherURL, "http://1.2.3.4:80/", "", "mailto:x")
			for _, name := range []string{"url_error", "url_error_pos", "raw", "ref"} {
				if _, ok := rows[0][name]; !ok {
					t.Errorf("no column %s", name)
				}
				delete(rows[0], name)
			}
			if diff := cmp.Diff(want, rows[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
	rows := derive(t, urlcols.Options{Include: []string{"effective_port", "subdomain", "extension", "host_reversed", "top_level_domain"}},
		"http://1.2.3.4/.htaccess", "https://a.github.io/", "wss://co.uk/x.", "x:y", "http://www.a.co.uk./")
	want := []map[string]any{
		{"effective_port": 80.0, "subdomain": nil, "extension": nil, "host_reversed": "1.2.3.4", "top_level_domain": nil},
		{"effective_port": 443.0, "subdomain": nil, "extension": nil, "host_reversed": "io.github.a", "top_level_domain": "io"},
		{"effective_port": 443.0, "subdomain": nil, "extension": nil, "host_reversed": "uk.co", "top_level_domain": "uk"},
		{"effective_port": nil, "subdomain": nil, "extension": nil, "host_reversed": nil, "top_level_domain": nil},
		{"effective_port": 80.0, "subdomain": "www", "extension": nil, "host_reversed": "uk.co.a.www", "top_level_domain": "uk"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

// TestRootDot: the registry's columns agree with those of the whole list for a host that ends in the root's dot.
func TestRootDot(t *testing.T) {
	columns := []string{"public_suffix", "registry_suffix", "registrable_domain", "registry_domain"}
	row := derive(t, urlcols.Options{Include: columns}, "http://www.a.co.uk./")[0]
	want := map[string]any{"public_suffix": "co.uk.", "registry_suffix": "co.uk.", "registrable_domain": "a.co.uk.", "registry_domain": "a.co.uk."}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}
}

func TestProfileSelection(t *testing.T) {
	plan, err := urlcols.New(urlcols.Options{
		Profile: "ecs", Include: []string{"params", "host"}, Exclude: []string{"url"}, Rename: map[string]string{"host": "h"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range plan.Schemas()[pipeline.Rows].Fields() {
		names = append(names, f.Name)
	}
	const want = "url.full url.scheme h url.port url.path url.query url.fragment url.registered_domain url.subdomain " +
		"url.top_level_domain url.extension params"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if all := urlcols.Profiles(); strings.Join(all, " ") != "default cc_index commoncrawl compact ecs otel snowplow" {
		t.Errorf("profiles %v", all)
	}
}

func TestDerivedErrors(t *testing.T) {
	for want, opts := range map[string]urlcols.Options{
		`profile: there is no "elastic"; there are default`:             {Profile: "elastic"},
		`params: column "params": the profile compact does not have it`: {Profile: "compact", ParamsAsMap: true},
		`canonical: the canonical form strict has no steps`:             {Canonical: &canon.Options{With: canon.Sort}},
		`promote: column "x": it has no parameter`:                      {Promote: []urlcols.Promoted{{Name: "x"}}},
		`column "port": is there twice; give the parameter's column another name, such as name: param_port`: {
			Include: []string{"port"}, Promote: []urlcols.Promoted{{Params: []string{"p"}, Name: "port"}},
		},
		`column "host": is there twice`:                                     {Promote: []urlcols.Promoted{{Params: []string{"h"}, Name: "host"}}},
		`other_urls: column "referer": no text of that name is carried`:     {Also: []urlcols.Also{{Field: "referer"}}},
		`other_urls: column "hosts": a URL has no such column; it has href`: {Also: []urlcols.Also{{Field: "ref", Include: []string{"hosts"}}}},
	} {
		opts.Carried = []pipeline.Field{{Name: "ref", Type: pipeline.String}, {Name: "referer", Type: pipeline.Int64}}
		_, err := urlcols.New(opts)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		var option *urlcols.OptionError
		if strings.Contains(want, "column") && !errors.As(err, &option) {
			t.Errorf("%v is no OptionError", err)
		}
	}
}

// TestIncludeKeepsWhatOptionsAdd: an option that adds columns does so behind those of include, unless include names some of
// its columns.
func TestIncludeKeepsWhatOptionsAdd(t *testing.T) {
	for _, test := range []struct {
		include, exclude []string
		profile, want    string
	}{
		{include: []string{"path", "host"}, want: "path host canonical_url url_key tracking_params source referer_host referer_path"},
		{include: []string{"referer_path", "url_key", "host"}, want: "referer_path url_key host tracking_params source"},
		{include: []string{"host"}, exclude: []string{"canonical_url", "source", "referer_path"}, want: "host url_key tracking_params referer_host"},
		{
			include: []string{"params"}, exclude: []string{"canonical_url", "tracking_params", "referer_host"}, profile: "snowplow",
			want: "page_url page_urlscheme page_urlhost page_urlport page_urlpath page_urlquery page_urlfragment params url_key " +
				"mkt_medium mkt_source mkt_term mkt_content mkt_campaign mkt_clickid source referer_path",
		},
	} {
		plan, err := urlcols.New(urlcols.Options{
			Include: test.include, Exclude: test.exclude, Profile: test.profile, Canonical: &canon.Options{}, Tracking: true,
			Promote: []urlcols.Promoted{{Params: []string{"utm_source"}, Name: "source"}},
			Carried: []pipeline.Field{{Name: "ref", Type: pipeline.String}},
			Also:    []urlcols.Also{{Field: "ref", Prefix: "referer_", Include: []string{"host", "path"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range plan.Schemas()[pipeline.Rows].Fields() {
			names = append(names, f.Name)
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%v: %s, want %s", test.include, got, test.want)
		}
	}
}

// TestUnused: fields that neither columns nor what columns are made of need are not used.
func TestUnused(t *testing.T) {
	fields := []pipeline.Field{{Name: "referer"}, {Name: "user_agent"}, {Name: "trace"}, {Name: "id"}}
	for _, c := range []struct {
		name    string
		options urlcols.Options
		want    []bool
	}{
		{"all", urlcols.Options{}, []bool{false, false, false, false}},
		{"include", urlcols.Options{Include: []string{"host", "id"}}, []bool{true, true, true, false}},
		{"exclude", urlcols.Options{Exclude: []string{"trace"}}, []bool{false, false, true, false}},
		{"profile", urlcols.Options{Profile: "ecs"}, []bool{false, false, false, false}},
		{"other URL", urlcols.Options{Include: []string{"host", "referer_host"}, Also: []urlcols.Also{{Field: "referer", Prefix: "referer_"}}}, []bool{false, true, true, true}},
		{"enriched", urlcols.Options{Include: []string{"host", "channel", "ua_browser"}, Acquisition: new(enrich.Default()), UserAgent: new(enrich.DefaultUserAgent())}, []bool{false, false, true, true}},
		{"dead letters", urlcols.Options{Include: []string{"host"}, OnError: pipeline.ToDeadLetters}, []bool{true, true, true, true}},
	} {
		c.options.Carried = fields
		p, err := urlcols.New(c.options)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := p.Unused(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
