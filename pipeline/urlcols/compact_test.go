package urlcols_test

import (
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

// trapURLs are URLs of which a part is easily lost.
var trapURLs = []givenURL{
	{url: "https://example.com/a?b#c"},
	{url: "https://user:pass@example.com:8443/"},
	{url: "https://user@example.com"},
	{url: "https://:pass@example.com/"},
	{url: "https://u%40x:p%3Ay@example.com/@?@#@"},
	{url: "https://example.com/?"},
	{url: "https://example.com/#"},
	{url: "https://example.com/?#"},
	{url: "https://example.com:443/a"},
	{url: "HTTPS://EXAMPLE.com/a?x=1"},
	{url: "http://example.com:0/"},
	{url: "file:///etc/passwd"},
	{url: "file://host/share"},
	{url: "file:///C:/x?y"},
	{url: "mailto:a@b.example?subject=x"},
	{url: "data:text/plain,a b #c"},
	{url: "x:"},
	{url: "x:y?"},
	{url: "x:/.//a@b/c"},
	{url: "x:/..//a"},
	{url: "x:///a"},
	{url: "x://"},
	{url: "x://u@h:1"},
	{url: "x:////a"},
	{url: "http://[2001:DB8::1]:8080/x"},
	{url: "http://0x7f.1/"},
	{url: "https://com/"},
	{url: "https://github.io"},
	{url: "https://a.b.github.io/"},
	{url: "https://localhost./x"},
	{url: "https://www.example.co.uk./x"},
	{url: "x://www.example.co.uk/x"},
	{url: "blob:https://example.com:8443/0123"},
	{url: "blob:https://example.com:443/0123"},
	{url: "blob:file:///x"},
	{url: "blob:x"},
	{url: "wss://example.com/a?a=1&b=%20+&&=&c&=d&e=f=g"},
	{url: "https://example.com/?%E2%82%AC=%F0%9F%92%A9"},
	{url: "https://example.com/?a=%ff"},
	{url: "https://example.com/?a=%C3=%A9"},
	{url: "https://example.com/?a=%zz&b=100%"},
	{url: "https://example.com/?a=%1"},
	{url: "https://example.com/?a=%00"},
	{url: "https://example.com/?a=%EF%BB%BFx"},
	{url: "https://example.com/?caf\u00e9=\u2603"},
	{url: "https://ex\u00e4mple.de/\u00e4"},
	{url: " https://example.com/\t\n"},
	{url: "https://example.com/a/../b"},
	{url: "https://example.com/\xff"},
	{url: "no url"},
	{url: "/a/b?c#d", base: "https://u@example.com:1/x"},
	{url: "?c", base: "https://example.com/x"},
	{url: "b", base: "https://example.com/x"},
	{url: "//other.example/b", base: "https://example.com/x"},
	{url: "https://other.example/b", base: "https://example.com/x"},
	{url: "#f", base: "mailto:x"},
	{url: "a", base: "mailto:x"},
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
	urls := slices.Clone(trapURLs)
	for _, c := range conformance.Cases[struct{ Input, Base string }](t, "urltestdata.json") {
		urls = append(urls, givenURL{c.Input, c.Base})
	}
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
