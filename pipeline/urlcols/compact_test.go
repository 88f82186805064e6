package urlcols_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/pipeline/urlcols/rebuild"
	"github.com/urlmill/urlmill/urlcore/form"
)

// givenURL is a URL with its base, if any.
type givenURL struct{ url, base string }

// trapURLs returns URLs of which a part is easily lost: those of testdata/traps.ndjson, which other packages read as well, one that is not
// UTF-8, and those of the standard's tests.
func trapURLs(t *testing.T) (urls []givenURL) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "traps.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var u struct{ URL, Base string }
		if err := json.Unmarshal([]byte(line), &u); err != nil {
			t.Fatal(err)
		}
		urls = append(urls, givenURL{u.URL, u.Base})
	}
	urls = append(urls, givenURL{url: "https://example.com/\xff"})
	for _, c := range conformance.Cases[struct{ Input, Base string }](t, "urltestdata.json") {
		urls = append(urls, givenURL{c.Input, c.Base})
	}
	return urls
}

// rowsWithBases returns the rows of urls with the columns of a profile.
func rowsWithBases(t *testing.T, opts urlcols.Options, urls []givenURL) []map[string]any {
	t.Helper()
	opts.HasBase = true
	plan, err := urlcols.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	var b pipeline.Batch
	for i, u := range urls {
		b.Offsets = append(b.Offsets, int64(i))
		b.URLs.Append([]byte(u.url))
		b.Bases.Append([]byte(u.base))
	}
	b.Offsets = append(b.Offsets, int64(len(urls)))
	b.URLs.AppendNull()
	b.Bases.AppendNull()
	transform := plan.NewTransform()
	var out pipeline.Output
	for range 2 { // the second time with memory in use
		if out, err = transform.Apply(&b); err != nil {
			t.Fatal(err)
		}
	}
	return rowsOf(t, out.Records[pipeline.Rows])
}

// rebuilt returns the row that the profile default has, from one of the profile compact.
func rebuilt(row map[string]any) map[string]any {
	text := func(name string) rebuild.Text {
		s, ok := row[name].(string)
		return rebuild.Text{String: s, Valid: ok}
	}
	p := rebuild.Parts{
		Scheme: text("scheme"), Userinfo: text("userinfo"), Host: text("host"), Path: text("path"), Query: text("query"),
		Fragment: text("fragment"), Port: -1,
	}
	if port, ok := row["port"].(float64); ok {
		p.Port = int32(port)
	}
	full := map[string]any{
		"href": nil, "has_username": nil, "url": row["kept_url"], "origin": row["kept_origin"],
		"public_suffix": row["kept_public_suffix"], "params": row["kept_params"],
	}
	for name, v := range row {
		if !strings.HasPrefix(name, "kept_") && name != "userinfo" {
			full[name] = v
		}
	}
	if p.Scheme.Valid {
		href := string(p.AppendHref(nil))
		full["href"], full["has_username"] = href, p.Userinfo.Valid && p.Userinfo.String[0] != ':'
		switch front, ok := row["kept_front"].(string); {
		case ok:
			full["url"] = front + string(p.AppendTail(nil))
		case row["kept_url"] == nil:
			full["url"] = href
		}
		if slices.Contains([]string{"http", "https", "ws", "wss", "ftp"}, p.Scheme.String) {
			origin := rebuild.Parts{Scheme: p.Scheme, Host: p.Host, Port: p.Port}
			full["origin"] = string(origin.AppendFront(nil))
		}
	}
	if domain, ok := row["registrable_domain"].(string); ok {
		_, full["public_suffix"], _ = strings.Cut(domain, ".")
	}
	if p.Query.Valid && row["kept_params"] == nil {
		list := []any{}
		for _, pair := range form.Parse(p.Query.String) {
			list = append(list, map[string]any{"key": pair.Name, "value": pair.Value})
		}
		full["params"] = list
	}
	return full
}

// TestCompact: the columns of the profile default are made of those of compact, byte for byte.
func TestCompact(t *testing.T) {
	urls := trapURLs(t)
	full, compact := rowsWithBases(t, urlcols.Options{}, urls), rowsWithBases(t, urlcols.Options{Profile: urlcols.CompactProfile}, urls)
	for i, want := range full {
		if diff := cmp.Diff(want, rebuilt(compact[i])); diff != "" {
			t.Errorf("%d: %v: %s", i, compact[i], diff)
		}
	}
	if got := len(compact[0]); got != 17 {
		t.Errorf("%d columns: %v", got, compact[0])
	}
}
