package urlcols_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/urlcore/canon"
	"github.com/urlmill/urlmill/urlcore/psl"
	"github.com/urlmill/urlmill/urlcore/tracking"
)

// TestLists replaces the tracking rules and the Public Suffix List between two batches of a transform.
func TestLists(t *testing.T) {
	list, err := psl.Parse(strings.NewReader("// ===BEGIN ICANN DOMAINS===\ncom\nexample.com\n// ===END ICANN DOMAINS===\n"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := tracking.Parse("version 2026-11-22\nmine\n")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := urlcols.New(urlcols.Options{
		Include:  []string{"registrable_domain", "subdomain", "registry_domain", "canonical_url", "params", "ref_registrable_domain"},
		Exclude:  []string{"tracking_params"},
		Tracking: true, Canonical: &canon.Options{Form: canon.Dedupe},
		Carried: []pipeline.Field{{Name: "ref", Type: pipeline.String}},
		Also:    []urlcols.Also{{Field: "ref", Prefix: "ref_"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const url = "https://a.b.example.com/?mine=1&utm_source=2"
	b := &pipeline.Batch{Carried: []pipeline.Values{{Field: pipeline.Field{Name: "ref"}}}, Offsets: []int64{0}}
	b.URLs.Append([]byte(url))
	b.Carried[0].Valid = []bool{true}
	b.Carried[0].Text.Append([]byte(url))
	transform := plan.NewTransform()
	row := func() map[string]any {
		out, err := transform.Apply(b)
		if err != nil {
			t.Fatal(err)
		}
		return rowsOf(t, out.Records[pipeline.Rows])[0]
	}
	param := func(key, value string) any { return []any{map[string]any{"key": key, "value": value}} }
	before := map[string]any{
		"registrable_domain": "example.com", "subdomain": "a.b", "registry_domain": "example.com", "ref_registrable_domain": "example.com",
		"canonical_url": "https://a.b.example.com/?mine=1", "params": param("mine", "1"),
	}
	if diff := cmp.Diff(before, row()); diff != "" {
		t.Error(diff)
	}
	old := psl.Swap(list)
	t.Cleanup(func() { psl.Swap(old) })
	plan.SetRules(rules)
	after := map[string]any{
		"registrable_domain": "b.example.com", "subdomain": "a", "registry_domain": "b.example.com", "ref_registrable_domain": "b.example.com",
		"canonical_url": "https://a.b.example.com/?utm_source=2", "params": param("utm_source", "2"),
	}
	if diff := cmp.Diff(after, row()); diff != "" {
		t.Error(diff)
	}
}
