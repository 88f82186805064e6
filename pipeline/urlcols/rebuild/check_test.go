package rebuild_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/pipeline/urlcols/rebuild"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// table returns the columns of urls, of which every second one is the base of the one before, empty for none.
func table(t *testing.T, opts urlcols.Options, urls ...string) arrow.Record {
	t.Helper()
	opts.HasBase = true
	plan, err := urlcols.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	var b pipeline.Batch
	for i := 0; i < len(urls); i += 2 {
		b.Offsets = append(b.Offsets, int64(i/2))
		b.URLs.Append([]byte(urls[i]))
		b.Bases.Append([]byte(urls[i+1]))
	}
	out, err := plan.NewTransform().Apply(&b)
	if err != nil {
		t.Fatal(err)
	}
	return out.Records[pipeline.Rows]
}

// check returns what is wrong with a table.
func check(t *testing.T, r arrow.Record) (*rebuild.Checker, []string) {
	t.Helper()
	c, err := rebuild.NewChecker(r.Schema(), psl.Version())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	if err := c.Check(r, func(_ int, what string) { all = append(all, what) }); err != nil {
		t.Fatal(err)
	}
	return c, all
}

// options are ways of having the columns of a URL.
var options = map[string]urlcols.Options{
	"full":                {},
	"compact":             {Profile: urlcols.CompactProfile},
	"compact, no base":    {Profile: urlcols.CompactProfile, Exclude: []string{"base_url"}},
	"compact, no user":    {Profile: urlcols.CompactProfile, Exclude: []string{"userinfo"}},
	"compact, and more":   {Profile: urlcols.CompactProfile, Include: []string{"href", "params", "subdomain", "surt_key"}},
	"map":                 {ParamsAsMap: true},
	"tracking":            {Tracking: true},
	"href and some parts": {Include: []string{"href", "host", "params"}},
	"parts alone":         {Include: []string{"scheme", "host", "port", "path", "query", "fragment"}},
}

// TestCheck: what urlmill writes is right, and what was read is made of it again.
func TestCheck(t *testing.T) {
	var urls []string
	for _, c := range conformance.Cases[struct{ Input, Base string }](t, "urltestdata.json") {
		urls = append(urls, c.Input, c.Base)
	}
	urls = append(urls, "https://u:p@example.com/?%ff", "", "/a?b#c", "https://u@h:1/", "blob:https://a.b:1/x", "", "\xff", "https://a/")
	for name, opts := range options {
		r := table(t, opts, urls...)
		c, wrong := check(t, r)
		for _, w := range wrong {
			t.Errorf("%s: %s", name, w)
		}
		full := table(t, urlcols.Options{}, urls...)
		hrefs := full.Column(full.Schema().FieldIndices("href")[0]).(*array.String)
		for i := range hrefs.Len() {
			href, ok := c.Href(i)
			if ok != hrefs.IsValid(i) || ok && string(href) != hrefs.Value(i) && !strings.Contains(hrefs.Value(i), "@") {
				t.Errorf("%s: href is %q, want %q", name, href, hrefs.Value(i))
			}
			if url, ok := c.URL(i); strings.HasPrefix(name, "compact") && (!ok || string(url) != strings.ToValidUTF8(urls[2*i], "\ufffd")) && !strings.Contains(urls[2*i]+urls[2*i+1], "@") {
				t.Errorf("%s: url is %q, want %q", name, url, urls[2*i])
			}
		}
	}
	if c, err := rebuild.NewChecker(table(t, urlcols.Options{Exclude: []string{"href", "path"}}, urls...).Schema(), ""); c != nil || err != nil {
		t.Errorf("%v, %v", c, err)
	}
}

// TestCheckFinds: a change of any column is found.
func TestCheckFinds(t *testing.T) {
	urls := []string{
		"https://u:p@www.example.com:8443/a/b.c?d=%41#f", "", "HTTP://example.com/x?y", "", "https://github.io", "", "/z?a=%ff", "https://example.com/",
		"blob:https://a.b:1/x", "", "https://example.com/q?r=s#t", "",
	}
	for name, opts := range options {
		r := table(t, opts, urls...)
		if _, wrong := check(t, r); len(wrong) > 0 {
			t.Fatalf("%s: %q", name, wrong)
		}
		for i, f := range r.Schema().Fields() {
			s, ok := r.Column(i).(*array.String)
			if !ok || f.Name == "base_url" || name == "compact, no base" && f.Name == "kept_front" || strings.HasPrefix(f.Name, "url_error") {
				continue
			}
			for row := range s.Len() {
				if s.IsNull(row) || name == "full" && f.Name == "url" {
					continue
				}
				columns := slices.Clone(r.Columns())
				columns[i] = changed(s, row)
				_, wrong := check(t, array.NewRecord(r.Schema(), columns, r.NumRows()))
				if len(wrong) == 0 {
					t.Errorf("%s: %s of row %d is %q, and nothing is wrong", name, f.Name, row, s.Value(row))
				}
			}
		}
	}
}

// changed returns s with another text in a row.
func changed(s *array.String, row int) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range s.Len() {
		switch {
		case s.IsNull(i):
			b.AppendNull()
		case i == row:
			b.Append(s.Value(i) + "\u00e9")
		default:
			b.Append(s.Value(i))
		}
	}
	return b.NewArray()
}
